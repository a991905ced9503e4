import sys

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw import PALETTES, draw
from latopo.errors import LatopoError

Y = [0, 0, 1, 1, 1, 0]
POS = [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 2], [2, 2]]


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib")


def legend_texts(drawing) -> list[str]:
    return [text.get_text() for text in drawing.legend.get_texts()]


def test_every_cell_is_drawn_where_its_nodes_are(house: CellComplex) -> None:
    drawing = draw(house, Y, POS)
    np.testing.assert_array_equal(drawing.nodes.get_offsets(), POS)
    pairs = [[POS[u], POS[v]] for u, v in house.edge_index.t().tolist()]
    np.testing.assert_array_equal(drawing.edges.get_segments(), pairs)
    assert list(drawing.polygons) == [3, 4]
    (square,) = drawing.polygons[4].get_paths()
    np.testing.assert_array_equal(square.vertices[:4], POS[:4])


def test_colours(house: CellComplex) -> None:
    drawing = draw(house, Y, POS)
    paper = PALETTES["paper"]
    np.testing.assert_allclose(drawing.nodes.get_facecolors()[:, :3], [paper.class_color(label) for label in Y])
    assert tuple(drawing.edges.get_colors()[0, :3]) == paper.edge
    for length in (3, 4):
        assert tuple(drawing.polygons[length].get_facecolors()[0, :3]) == paper.polygon_color(length)


def test_the_more_probable_the_more_opaque(house: CellComplex) -> None:
    drawing = draw(house, pos=POS)
    assert (np.diff(drawing.edges.get_colors()[:, 3]) > 0).all()
    triangle, square = (drawing.polygons[length].get_facecolors()[0, 3] for length in (3, 4))
    # Half as probable: 0.2 + 0.8 · 0.5 of the opacity.
    assert triangle / square == pytest.approx(0.6)


def test_longer_polygons_lie_below(house: CellComplex) -> None:
    drawing = draw(house, pos=POS)
    order = [drawing.polygons[4], drawing.polygons[3], drawing.edges, drawing.nodes]
    heights = [artist.get_zorder() for artist in order]
    assert heights == sorted(heights)


def test_legend_names_and_counts(house: CellComplex) -> None:
    assert legend_texts(draw(house, Y, POS)) == ["class 0", "class 1", "edges (6)", "triangles (1)", "squares (1)"]
    assert draw(house, Y, POS, legend=False).legend is None
    assert legend_texts(draw(house, pos=POS, max_length=3)) == ["edges (6)", "triangles (1)"]


def test_names_are_shown_as_they_are(house: CellComplex) -> None:
    drawing = draw(house, Y, POS, class_names=["_a $x^2$ $", r"<b> \alpha $\frac{"], title="$5 _ $")
    drawing.figure.draw_without_rendering()
    assert [text.replace(r"\$", "$").strip("\u200b") for text in legend_texts(drawing)[:2]] == [
        "_a $x^2$ $",
        r"<b> \alpha $\frac{",
    ]


def test_marks_differ_in_the_colorblind_palette(house: CellComplex) -> None:
    shapes = {len(path.vertices) for path in draw(house, Y, POS, palette="colorblind").nodes.get_paths()}
    assert len(shapes) == 2
    assert len({len(path.vertices) for path in draw(house, Y, POS).nodes.get_paths()}) == 1


def test_given_axes_are_used_and_pyplot_is_not_touched(house: CellComplex) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    before = dict(matplotlib.rcParams)
    left, right = Figure().subplots(1, 2)
    drawing = draw(house, Y, ax=right)
    assert drawing.ax is right
    assert drawing.figure is right.figure
    assert not left.collections
    assert dict(matplotlib.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


def test_a_sample_says_so_and_keeps_colours(communities) -> None:
    complex, group = communities()
    whole, part = draw(complex, group), draw(complex, group, max_nodes=30)
    assert part.node_ids.size == 30
    assert part.pos.shape == (30, 2)
    expected = whole.nodes.get_facecolors()[part.node_ids]
    np.testing.assert_array_equal(part.nodes.get_facecolors(), expected)
    assert [text.get_text()[:16] for text in part.ax.texts] == ["30 of 120 nodes:"]
    assert not whole.ax.texts


def test_given_positions_of_a_sample(communities) -> None:
    complex, _ = communities()
    pos = torch.arange(240.0).view(120, 2)
    drawing = draw(complex, pos=pos, max_nodes=30)
    np.testing.assert_array_equal(drawing.pos, pos.numpy()[drawing.node_ids])


def test_nothing_to_draw(empty: CellComplex) -> None:
    drawing = draw(empty)
    drawing.figure.draw_without_rendering()
    assert len(drawing.nodes.get_offsets()) == 0


def test_nodes_only() -> None:
    drawing = draw(CellComplex(3, torch.zeros(2, 0, dtype=torch.int64)), [0, 1, 1])
    drawing.figure.draw_without_rendering()
    assert legend_texts(drawing) == ["class 0", "class 1", "edges (0)"]


def test_missing_matplotlib_is_named(house: CellComplex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LatopoError, match=r'draw: matplotlib is missing; run pip install "latopo\[viz\]"'):
        draw(house)
