import sys
from io import BytesIO
from pathlib import Path

import pytest

from latopo import CellComplex
from latopo.draw import Snapshot, draw, draw_evolution, save_figure
from latopo.draw.figure import current_axes
from latopo.errors import LatopoError

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib")


def test_all_formats_and_no_other_file(house: CellComplex, tmp_path: Path) -> None:
    paths = draw_evolution([Snapshot(house)]).save(tmp_path / "new" / "house.v1", ("png", "svg", "pdf"))
    assert [path.name for path in paths] == ["house.v1.png", "house.v1.svg", "house.v1.pdf"]
    assert sorted((tmp_path / "new").iterdir()) == sorted(paths)
    for path in paths:
        assert path.read_bytes().startswith(STARTS[path.suffix[1:]])


@pytest.mark.parametrize("name", ["house.png", "house.SVG", "house.pdf"])
def test_the_same_figure_is_the_same_file(house: CellComplex, tmp_path: Path, name: str) -> None:
    (first,), (second,) = (draw(house, [0, 0, 1, 1, 1, 0]).save(tmp_path / part / name) for part in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    class Broken:
        def savefig(self, file: BytesIO, **_: object) -> None:
            file.write(b"half")
            raise RuntimeError("no ink")

    (tmp_path / "figure.png").write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no ink"):
        save_figure(Broken(), tmp_path / "figure.png")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("name", ["house", "house.jpg"])
def test_an_unknown_ending(house: CellComplex, tmp_path: Path, name: str) -> None:
    with pytest.raises(LatopoError, match=f"save_figure: '{name}' must end in .png, .svg or .pdf"):
        draw(house).save(tmp_path / name)


def test_a_folder_that_cannot_be_made(house: CellComplex, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LatopoError, match=r"save_figure: cannot write .*house.png \(.*\); choose another folder"):
        draw(house).save(tmp_path / "file" / "house.png")


def test_a_notebook_shows_our_figure_once(house: CellComplex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    assert draw(house)._repr_png_().startswith(b"\x89PNG")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    try:
        assert draw(house, ax=ax)._repr_png_() is None
    finally:
        pyplot.close(figure)


@pytest.fixture
def pyplot():
    import matplotlib.pyplot as plt

    plt.close("all")
    yield plt
    plt.close("all")


def test_a_new_figure_is_pyplots_current_one(pyplot) -> None:
    ax = current_axes(4, 3)
    assert pyplot.gcf() is ax.figure
    assert pyplot.gca() is ax
    assert tuple(ax.figure.get_size_inches()) == (4, 3)


def test_empty_axes_are_used_and_full_ones_left_alone(pyplot) -> None:
    figure, (first, second) = pyplot.subplots(1, 2)
    pyplot.sca(first)
    assert current_axes(4, 3) is first
    first.plot([0, 1])
    assert current_axes(4, 3).figure is not figure
    assert not second.has_data()


def test_without_pyplot_nothing_is_registered(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    ax = current_axes(4, 3)
    assert "matplotlib.pyplot" not in sys.modules
    assert getattr(ax.figure, "number", None) is None
