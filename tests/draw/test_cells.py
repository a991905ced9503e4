import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw.cells import _contains, cell_groups, edge_opacity, opacity, overlap_opacity


def test_strengths_are_relative_to_the_most_probable_cell(house: CellComplex) -> None:
    groups = cell_groups(house)
    torch.testing.assert_close(torch.from_numpy(groups[2].strength), torch.arange(1, 7).double() / 6)
    assert {length: cells.strength.tolist() for length, cells in groups.items() if length > 2} == {3: [0.5], 4: [1.0]}
    assert groups[2].corners.tolist() == house.edge_index.t().tolist()
    assert groups[2].prob.tolist() == house.edge_prob.double().tolist()


def test_lengths_beyond_the_limit_are_left_out(house: CellComplex) -> None:
    groups = cell_groups(house, max_length=3)
    assert list(groups) == [2, 3]
    assert groups[3].strength.tolist() == [0.5]


def test_probabilities_in_half_precision_and_with_gradients(house: CellComplex) -> None:
    prob = torch.full((6,), 0.5, dtype=torch.bfloat16, requires_grad=True)
    cx = CellComplex(6, house.edge_index, edge_prob=prob)
    assert cell_groups(cx)[2].strength.tolist() == [1.0] * 6


def test_probabilities_that_are_all_zero(house: CellComplex) -> None:
    cx = CellComplex(6, house.edge_index, edge_prob=torch.zeros(6))
    assert cell_groups(cx)[2].strength.tolist() == [0.0] * 6


def test_a_graph_has_no_polygons(house: CellComplex) -> None:
    assert list(cell_groups(house.skeleton(1))) == [2]


def test_the_more_edges_the_fainter() -> None:
    assert (edge_opacity(100), edge_opacity(35_000)) == (0.85, 0.1)


def test_containment_of_a_bow_and_a_triangle() -> None:
    square = [[0.0, 0], [2, 0], [2, 2], [0, 2]]
    bow = [[0.0, 0], [2, 2], [2, 0], [0, 2]]
    points = np.array([[1.0, 0.5], [0.5, 1.0], [3.0, 1.0], [-1.0, 1.0]])
    inside = _contains(np.array([square, bow]), points)
    assert inside.tolist() == [[True, True, False, False], [False, True, False, False]]


@pytest.mark.parametrize("depth", [2, 5, 40])
def test_a_pile_is_painted_to_seventy_per_cent(depth: int) -> None:
    triangle = np.array([[[0.0, 0], [1, 0], [0, 1]]])
    opacity = overlap_opacity([np.repeat(triangle, depth, axis=0)])
    assert 1 - (1 - opacity) ** depth == pytest.approx(0.7)


def test_polygons_side_by_side_are_no_pile() -> None:
    triangle = np.array([[0.0, 0], [1, 0], [0, 1]])
    row = np.stack([triangle + np.array([2 * k, 0]) for k in range(500)])
    assert overlap_opacity([row]) == 0.5


def test_a_large_pile_is_estimated_from_a_part() -> None:
    triangle = np.array([[[0.0, 0], [1, 0], [0, 1]]])
    assert overlap_opacity([np.repeat(triangle, 9000, axis=0)]) == 0.012


def test_nothing_to_paint() -> None:
    assert overlap_opacity([]) == 0.0


def test_faint_cells_keep_their_colour():
    # A fifth of 0.02 would be one step of 255, and rounding would make the pile grey.
    assert opacity(np.array([0.0, 1.0]), 0.02).tolist() == pytest.approx([0.012, 0.02])
    assert opacity(np.array([0.0, 1.0]), 0.005).tolist() == pytest.approx([0.005, 0.005])
    assert opacity(np.array([0.0, 1.0]), 0.5).tolist() == pytest.approx([0.1, 0.5])
