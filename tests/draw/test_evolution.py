import re
import sys

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw import Snapshot, draw_evolution, layout
from latopo.errors import LatopoError

Y = [0, 0, 1, 1, 1, 0]


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib")


@pytest.fixture
def snapshots(house: CellComplex) -> list[Snapshot]:
    first = CellComplex(6, torch.tensor([[0, 1, 2, 3, 4], [5, 2, 5, 5, 5]]))
    return [
        Snapshot(first),
        Snapshot(house.skeleton(1), 40, polygon_share=0.9),
        Snapshot(house, 180, polygon_share=0.2),
    ]


def test_captions(snapshots: list[Snapshot], house: CellComplex) -> None:
    assert [snapshot.caption(Y) for snapshot in snapshots] == [
        r"Input, $h = 0.20$",
        r"Epoch 40, $\%_p = 90$, $h = 0.67$",
        r"Epoch 180, $\%_p = 20$, $h = 0.67$",
    ]
    assert Snapshot(house, 7, title="end $", polygon_share=0.001).caption() == r"end \$, $\%_p = 0.1$"
    assert Snapshot(house, polygon_share=0.0).caption() == r"Input, $\%_p = 0$"


def test_homophily_of_strings_unlabelled_nodes_and_quantities(house: CellComplex) -> None:
    assert Snapshot(house).caption(["a", "a", "b", "b", "b", "a"]) == "Input, $h = 0.67$"
    assert Snapshot(house).caption([-1, 0, 1, 1, 1, 0], unlabelled=-1) == "Input, $h = 0.75$"
    assert Snapshot(house).caption(np.arange(6) + 0.5) == "Input"
    assert Snapshot(house.skeleton(0)).caption(Y) == "Input, no edges"


def test_one_layout_for_all_from_the_last(snapshots: list[Snapshot], house: CellComplex) -> None:
    evolution = draw_evolution(snapshots, Y)
    np.testing.assert_array_equal(evolution.pos, layout(house))
    for drawing in evolution.drawings:
        np.testing.assert_array_equal(drawing.nodes.get_offsets(), evolution.pos)
        assert drawing.ax.get_xlim() == evolution.drawings[0].ax.get_xlim()
    chosen = draw_evolution(snapshots, Y, layout_from=0)
    np.testing.assert_array_equal(chosen.pos, layout(snapshots[0].complex))


def test_each_snapshot_shows_its_own_cells(snapshots: list[Snapshot]) -> None:
    evolution = draw_evolution(snapshots, Y)
    assert [len(drawing.edges.get_segments()) for drawing in evolution.drawings] == [5, 6, 6]
    assert [sorted(drawing.polygons) for drawing in evolution.drawings] == [[], [], [3, 4]]
    (legend,) = evolution.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["class 0", "class 1", "edges", "triangles", "squares"]


def test_degrees_in_per_cent(snapshots: list[Snapshot]) -> None:
    evolution = draw_evolution(snapshots, Y)
    heights = [[bar.get_height() for bar in ax.patches] for ax in evolution.histograms]
    # Degrees 1, 1, 2, 1, 1, 4 at first and 2, 2, 3, 3, 2, 0 in the house; the last bar is "4 and more".
    sixth = 100 / 6
    np.testing.assert_allclose(heights[0], [0, 4 * sixth, sixth, 0, sixth], atol=1e-9)
    np.testing.assert_allclose(heights[2], [sixth, 0, 3 * sixth, 2 * sixth, 0], atol=1e-9)


def test_no_bar_is_cut_off(snapshots: list[Snapshot]) -> None:
    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6]).sort(dim=0).values
    evolution = draw_evolution([*snapshots, Snapshot(CellComplex(6, ring), 200)], Y)
    evolution.figure.draw_without_rendering()
    tallest = max(bar.get_height() for ax in evolution.histograms for bar in ax.patches)
    assert tallest == 100
    assert {ax.get_ylim()[1] for ax in evolution.histograms} == {evolution.histograms[0].get_ylim()[1]}
    assert evolution.histograms[0].get_ylim()[1] > tallest


def test_a_hub_does_not_squeeze_the_degrees() -> None:
    star = CellComplex(400, torch.stack([torch.zeros(399, dtype=torch.int64), torch.arange(1, 400)]))
    (ax,) = draw_evolution([Snapshot(star)], pos=np.random.default_rng(0).random((400, 2))).histograms
    assert [bar.get_height() for bar in ax.patches] == [0, 99.75, 0.25]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "≥2"]


def test_captions_and_letters_in_the_figure(snapshots: list[Snapshot]) -> None:
    evolution = draw_evolution(snapshots, Y)
    labels = [ax.get_xlabel() for ax in evolution.histograms]
    assert labels[2] == f"degree\n(c) {snapshots[2].caption(Y)}"
    (alone,) = draw_evolution(snapshots[:1], Y).histograms
    assert alone.get_xlabel() == f"degree\n{snapshots[0].caption(Y)}"


def test_no_text_overlaps_another(snapshots: list[Snapshot]) -> None:
    figure = draw_evolution([*snapshots, *snapshots], Y, columns=3).figure
    figure.draw_without_rendering()
    artists = [ax.xaxis.label for ax in figure.axes if ax.get_xlabel()] + list(figure.legends)
    boxes = [artist.get_window_extent() for artist in artists]
    assert not any(boxes[i].overlaps(boxes[j]) for i in range(len(boxes)) for j in range(i))


def test_a_sample_says_so(communities) -> None:
    complex, group = communities()
    evolution = draw_evolution([Snapshot(complex), Snapshot(complex, 5)], group, max_nodes=30)
    assert evolution.figure.get_suptitle().startswith("30 of 120 nodes")
    assert [len(drawing.nodes.get_offsets()) for drawing in evolution.drawings] == [30, 30]
    # The caption is that of the whole.
    assert f"h = {complex.edge_homophily(torch.from_numpy(group)):.2f}" in evolution.histograms[0].get_xlabel()


@pytest.mark.parametrize(("count", "message"), [(0, "snapshots have [] nodes"), (2, "snapshots have [2, 6] nodes")])
def test_snapshots_must_share_their_nodes(house: CellComplex, count: int, message: str) -> None:
    pair = [Snapshot(house), Snapshot(CellComplex(2, torch.tensor([[0], [1]])))]
    with pytest.raises(LatopoError, match=re.escape(message)):
        draw_evolution(pair[:count])


def test_columns_must_be_positive(snapshots: list[Snapshot]) -> None:
    with pytest.raises(LatopoError, match="columns is 0, expected at least 1"):
        draw_evolution(snapshots, columns=0)


def test_missing_matplotlib_is_named(snapshots: list[Snapshot], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LatopoError, match=r'draw_evolution: matplotlib is missing; run pip install "latopo\[viz\]"'):
        draw_evolution(snapshots, np.arange(6) + 0.5)
