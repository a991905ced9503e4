"""The cells that the page draws: those of one complex, or of two on top of each other."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from latopo.complex import CellComplex
from latopo.draw.cells import cell_groups
from latopo.report.packer import Packer
from latopo.report.report_data import FloatArray, IntArray

__all__ = ["DrawnCells", "difference_cells", "drawn_cells", "most_probable"]

IN_BOTH, ONLY_FIRST, ONLY_SECOND = range(3)


class DrawnCells(NamedTuple):
    """Cells of one length."""

    corners: IntArray  # [n, k]; k = 2 for edges
    prob: FloatArray | None  # [n]
    status: IntArray | None = None  # for a comparison, [n]: IN_BOTH, ONLY_FIRST or ONLY_SECOND

    def take(self, chosen: NDArray[Any]) -> "DrawnCells":
        """Some of the cells, by index or mask."""
        prob, status = (None if column is None else column[chosen] for column in self[1:])
        return DrawnCells(self.corners[chosen], prob, status)

    def pack(self, packer: Packer) -> dict[str, Any]:
        """As the page reads it: corners column by column, which compresses well."""
        return {
            "length": self.corners.shape[1],
            "count": len(self.corners),
            "corners": packer.integers(self.corners.T.flatten()),
            "prob": None if self.prob is None else packer.floats(self.prob),
            "status": None if self.status is None else packer.integers(self.status),
        }


def drawn_cells(cx: CellComplex) -> list[DrawnCells]:
    """The edges, then the polygons of each length that occurs."""
    return [DrawnCells(cells.corners, cells.prob) for cells in cell_groups(cx).values()]


def difference_cells(first: CellComplex, second: CellComplex) -> list[DrawnCells]:
    """The cells of both complexes, each once, with its status; probabilities are the first's where it has the cell."""
    sides = [{cells.corners.shape[1]: cells for cells in drawn_cells(cx)} for cx in (first, second)]
    lengths = sorted({*sides[0], *sides[1]})
    none = {length: DrawnCells(np.zeros((0, length), np.int64), np.zeros(0)) for length in lengths}
    return [_overlay(*({**none, **side}[length] for side in sides)) for length in lengths]


def _overlay(first: DrawnCells, second: DrawnCells) -> DrawnCells:
    frames = [pd.DataFrame(cells.corners).assign(prob=cells.prob) for cells in (first, second)]
    names = list(range(first.corners.shape[1]))
    both = frames[0].merge(frames[1], "outer", names, sort=True, indicator="status")
    status = both["status"].cat.rename_categories({"both": IN_BOTH, "left_only": ONLY_FIRST, "right_only": ONLY_SECOND})
    has_prob = first.prob is not None and second.prob is not None
    prob = both["prob_x"].fillna(both["prob_y"]).to_numpy() if has_prob else None
    return DrawnCells(both[names].to_numpy(), prob, status.to_numpy(np.int64))


def most_probable(groups: list[DrawnCells], most: int) -> list[DrawnCells]:
    """The ``most`` most probable cells, in their groups, no empty ones; without probabilities the first ones."""
    sizes = [len(group.corners) for group in groups]
    if sum(sizes) <= most:
        return groups
    prob = np.concatenate([np.ones(len(group.corners)) if group.prob is None else group.prob for group in groups])
    kept = np.zeros(len(prob), bool)
    kept[np.argsort(-prob, kind="stable")[:most]] = True
    parts = zip(groups, np.split(kept, np.cumsum(sizes)[:-1]), strict=True)
    return [group.take(part) for group, part in parts if part.any()]
