import matplotlib.pyplot as plt
import pytest

from latopo.draw.current_axes import current_axes


@pytest.fixture(autouse=True)
def _no_figures():
    plt.close("all")
    yield
    plt.close("all")


def test_a_new_figure_is_pyplots_current_one() -> None:
    ax = current_axes(4, 3)
    assert plt.gcf() is ax.figure
    assert plt.gca() is ax
    assert tuple(ax.figure.get_size_inches()) == (4, 3)


def test_empty_axes_are_used_and_full_ones_left_alone() -> None:
    figure, (first, second) = plt.subplots(1, 2)
    plt.sca(first)
    assert current_axes(4, 3) is first
    first.plot([0, 1])
    other = current_axes(4, 3)
    assert other.figure is not figure
    assert not second.has_data()
