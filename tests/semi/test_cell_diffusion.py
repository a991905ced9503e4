import torch

from latopo.complex import CellComplex
from latopo.semi.cell_diffusion import diffuse_cells


def triangle(polygons, weight=1.0):
    edges = torch.tensor([[0, 0, 1], [1, 2, 2]])
    filled = {3: torch.tensor([[0, 1, 2]])} if polygons else None
    prob = torch.ones(1) * weight if polygons else None
    return CellComplex(4, edges, filled, edge_prob=torch.ones(3), polygon_prob=prob)


def test_one_edge_by_hand():
    edge = CellComplex(2, torch.tensor([[0], [1]]), edge_prob=torch.ones(1))
    # The edge has 1 and no neighbour: twice 0.8 / 3 of itself and 0.2 of its start; a node divides by 1 + 1.
    after = 0.8 / 3 * (0.8 / 3 + 0.2) + 0.2
    torch.testing.assert_close(diffuse_cells(edge, torch.tensor([[0.0], [2.0]])), torch.full((2, 1), after / 2))


def test_polygons_make_a_difference_and_isolated_nodes_hear_nothing():
    x = torch.tensor([[1.0], [2.0], [6.0], [9.0]])
    filled, open_ = diffuse_cells(triangle(True), x), diffuse_cells(triangle(False), x)
    assert not torch.allclose(filled[:3], open_[:3])
    assert filled[3] == open_[3] == 0


def test_permuting_the_nodes_permutes_the_answer():
    x = torch.randn(4, 2, generator=torch.Generator().manual_seed(0))
    order = torch.tensor([2, 0, 1, 3])
    torch.testing.assert_close(diffuse_cells(triangle(True), x[order]), diffuse_cells(triangle(True), x)[order])
