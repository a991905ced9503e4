import numpy as np
import torch

from latopo import CellComplex
from latopo.report.cells import DrawnCells, difference_cells, drawn_cells, most_probable


def named(groups):
    """Cell → status."""
    return {
        tuple(corners): status
        for group in groups
        for corners, status in zip(group.corners.tolist(), group.status.tolist(), strict=True)
    }


def test_drawn_cells_keep_probabilities_with_their_polygons(run):
    edges, triangles, squares = drawn_cells(run.complex)
    assert edges.corners.shape == (7, 2)
    assert triangles.corners.tolist() == [[0, 1, 2]]
    np.testing.assert_allclose(triangles.prob, [0.75])
    np.testing.assert_allclose(squares.prob, [0.05])


def test_difference_names_every_cell_once(run):
    second, last = run.snapshots[1].complex, run.snapshots[2].complex
    found = named(difference_cells(second, last))
    assert found == {
        (0, 1): 0, (0, 2): 0, (1, 2): 0, (3, 4): 0,
        (2, 3): 2, (2, 5): 2, (4, 5): 2,
        (0, 1, 2): 0, (2, 3, 4, 5): 2,
    }  # fmt: skip
    backwards = named(difference_cells(last, second))
    assert backwards == {cell: 1 if status == 2 else status for cell, status in found.items()}


def test_difference_without_probabilities_on_one_side_has_none(run):
    bare = CellComplex(6, torch.tensor([[0], [5]]))
    edges = difference_cells(run.complex, bare)[0]
    assert edges.prob is None
    assert edges.status.tolist().count(2) == 1


def test_the_most_probable_are_counted_over_all_groups():
    short = DrawnCells(np.array([[0, 1, 2], [0, 1, 3]]), np.array([0.1, 0.9]))
    long = DrawnCells(np.array([[0, 1, 2, 3]]), np.array([0.5]))
    kept = most_probable([short, long], 2)
    assert [group.corners.tolist() for group in kept] == [[[0, 1, 3]], [[0, 1, 2, 3]]]
    assert most_probable([short, long], 3) == [short, long]
