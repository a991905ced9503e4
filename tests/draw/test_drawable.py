import pytest
import torch

from latopo import CellComplex
from latopo.draw import draw
from latopo.draw.drawable import Drawable


class Borrowed:
    """Has the cells of a complex and nothing else of it."""

    def __init__(self, cells: CellComplex) -> None:
        self._cells = cells

    def __getattr__(self, name: str):
        if name not in {item for item in dir(Drawable) if not item.startswith("_")}:
            raise AttributeError(name)
        return getattr(self._cells, name)


def test_what_has_the_cells_can_be_drawn(house: CellComplex) -> None:
    pytest.importorskip("matplotlib")
    drawing = draw(Borrowed(house), y=torch.arange(6) % 2)
    assert len(drawing.edges.get_paths()) == house.num_edges
