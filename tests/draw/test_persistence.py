from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw.persistence import draw_persistence
from latopo.errors import LatopoError


@pytest.fixture(autouse=True)
def _no_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def octahedron() -> CellComplex:
    """The eight triangles on the six points ±x, ±y, ±z, the last of them late: components, a hole, a void."""
    edges = [[i, j] for i in range(6) for j in range(i) if i // 2 != j // 2]
    triangles = [[x, y, z] for x in (0, 1) for y in (2, 3) for z in (4, 5)]
    edge_prob = np.linspace(1, 0.5, 12)
    return CellComplex(6, np.array(edges).T, {3: triangles}, edge_prob, np.linspace(0.4, 0.1, 8))


def test_diagram(octahedron: CellComplex) -> None:
    found = octahedron.persistence()
    drawing = found.draw()
    assert sorted(drawing.classes) == [0, 1, 2]
    for rank, marks in drawing.classes.items():
        births, deaths = np.asarray(marks.get_offsets()).T
        assert births.tolist() == found.pairs[rank][:, 0].tolist()
        finite = np.isfinite(found.pairs[rank][:, 1].numpy())
        assert deaths[finite].tolist() == found.pairs[rank][finite, 1].tolist()
        assert (deaths[~finite] > 1).all()
    low, high = drawing.ax.get_ylim()
    assert low <= 0
    assert high > deaths.max()
    labels = [text.get_text() for text in drawing.ax.get_legend().get_texts()]
    assert labels == [
        f"{name} ({len(pair)})" for name, pair in zip(("components", "holes", "voids"), found.pairs, strict=True)
    ]


def test_barcode(octahedron: CellComplex) -> None:
    found = octahedron.persistence()
    drawing = draw_persistence(found, "barcode", title="octahedron")
    levels = []
    for rank, bars in drawing.classes.items():
        lines = np.array(bars.get_segments())
        assert sorted(lines[:, 0, 0]) == sorted(found.pairs[rank][:, 0].tolist())
        assert (lines[:, 0, 1] == lines[:, 1, 1]).all()
        assert (np.diff(lines[:, 0, 0]) >= 0).all()  # by birth
        levels += lines[:, 0, 1].tolist()
    assert len(set(levels)) == len(levels) == sum(map(len, found.pairs))
    assert drawing.ax.get_title() == "octahedron"
    few = draw_persistence(found, "barcode", plt.figure().add_subplot(), max_bars=2)
    assert len(few.classes[0].get_segments()) == 2
    assert few.ax.get_legend().get_texts()[0].get_text() == f"components (longest 2 of {len(found.pairs[0])})"


@pytest.mark.parametrize("kind", ["diagram", "barcode"])
def test_pyplot_saves_what_was_drawn(octahedron: CellComplex, tmp_path: Path, kind: str) -> None:
    drawing = octahedron.persistence().draw(kind)
    assert plt.gca() is drawing.ax
    plt.savefig(tmp_path / "pyplot.png")
    image = plt.imread(tmp_path / "pyplot.png")
    assert image[..., :3].std() > 0.02  # not a blank page
    assert [path.name for path in drawing.save(tmp_path / "ours", ("png", "pdf"))] == ["ours.png", "ours.pdf"]


def test_gradients_and_empty_complexes() -> None:
    learned = CellComplex(2, [[0], [1]], edge_prob=torch.tensor([0.5], requires_grad=True))
    assert sorted(learned.persistence().draw().classes) == [0]
    nothing = CellComplex(0, []).persistence()
    for kind in ("diagram", "barcode"):
        assert nothing.draw(kind).classes == {}


def test_wrong_kind(octahedron: CellComplex) -> None:
    with pytest.raises(LatopoError, match="kind must be diagram or barcode, got 'tree'"):
        octahedron.persistence().draw("tree")
