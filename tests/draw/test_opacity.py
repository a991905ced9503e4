import numpy as np
import pytest

from latopo.draw.opacity import _contains, opacity, overlap_opacity


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
