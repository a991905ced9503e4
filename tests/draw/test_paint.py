import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw import draw
from latopo.draw.layout import layout
from latopo.draw.paint import View
from latopo.errors import LatopoError


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib")


def view(cx: CellComplex, y=None, pos=None, max_nodes: int = 100) -> View:
    return View.of("draw", cx, y, pos, "paper", None, None, 0, max_nodes)


def test_the_layout_is_the_default(house: CellComplex) -> None:
    seen = view(house)
    np.testing.assert_array_equal(seen.position, layout(house))
    assert seen.node_ids.tolist() == list(range(6))
    assert seen.note is None


def test_one_view_serves_several_complexes(house: CellComplex) -> None:
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    seen = view(house)
    whole, graph = seen.paint(left, house), seen.paint(right, house.skeleton(1))
    assert [sorted(whole.polygons), sorted(graph.polygons)] == [[3, 4], []]
    assert left.get_xlim() == right.get_xlim()
    np.testing.assert_array_equal(whole.nodes.get_offsets(), graph.nodes.get_offsets())


def test_a_sample_takes_its_own_nodes_and_says_so(communities) -> None:
    cx, group = communities()
    seen = view(cx, group, max_nodes=30)
    assert seen.position.shape == (30, 2)
    assert seen.note.startswith("30 of 120 nodes")
    assert len(seen.look.color) == 120


def test_legend_entries_count_what_is_counted(house: CellComplex) -> None:
    entries = view(house, [0, 0, 1, 1, 1, 0]).legend_entries([4, 3], {"edges": 1234})
    assert entries["labels"] == ["class 0", "class 1", "edges (1,234)", "triangles", "squares"]
    assert len(entries["handles"]) == 5


@pytest.mark.parametrize("pos", [[[0, 0]], np.full((6, 2), np.nan)])
def test_wrong_positions(house: CellComplex, pos) -> None:
    with pytest.raises(LatopoError, match=r"draw: pos has shape .* expected finite numbers \[6, 2\]"):
        view(house, pos=pos)


def test_rings_go_around_the_drawn_nodes_that_are_named():
    drawing = draw(CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]])), legend=False)
    before = len(drawing.ax.collections)
    drawing.circle([2, 0, 99])
    rings = drawing.ax.collections[before]
    np.testing.assert_allclose(rings.get_offsets(), drawing.pos[[0, 2]])
    assert rings.get_facecolors().size == 0
