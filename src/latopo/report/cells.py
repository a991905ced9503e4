"""The cells that the page draws: those of one complex, or of two on top of each other."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from latopo.complex import CellComplex
from latopo.report.packer import Packer
from latopo.report.report_data import FloatArray, IntArray

__all__ = ["DrawnCells", "difference_cells", "drawn_cells", "most_probable"]

IN_BOTH, ONLY_FIRST, ONLY_SECOND = range(3)


class DrawnCells(NamedTuple):
    """Cells of one length.

    Attributes:
        corners: [n, k]; k = 2 for edges.
        prob: [n] or None.
        status: for a comparison, [n]: 0 in both, 1 only in the first complex, 2 only in the second.
    """

    corners: IntArray
    prob: FloatArray | None
    status: IntArray | None = None

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
    """The edges, then the polygons of each length that occurs.

    Example:
        >>> import torch
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> drawn_cells(path)[0].corners.tolist()
        [[0, 1], [1, 2]]
    """
    groups = [DrawnCells(cx.edge_index.t().cpu().numpy(), _values(cx.edge_prob))]
    prob, done = _values(cx.polygon_prob), 0
    for rows in cx.polygons.values():
        if len(rows):
            groups.append(DrawnCells(rows.cpu().numpy(), None if prob is None else prob[done : done + len(rows)]))
        done += len(rows)
    return groups


def _values(prob: Tensor | None) -> FloatArray | None:
    return None if prob is None else prob.detach().cpu().double().numpy()


def difference_cells(first: CellComplex, second: CellComplex) -> list[DrawnCells]:
    """The cells of both complexes, each once, with its status; probabilities are the first's where it has the cell.

    Example:
        >>> import torch
        >>> one, two = CellComplex(3, torch.tensor([[0], [1]])), CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> difference_cells(one, two)[0].status.tolist()
        [0, 2]
    """
    sides = [{cells.corners.shape[1]: cells for cells in drawn_cells(cx)} for cx in (first, second)]
    lengths = sorted({*sides[0], *sides[1]})
    none = {length: DrawnCells(np.zeros((0, length), np.int64), np.zeros(0)) for length in lengths}
    return [_overlay(*({**none, **side}[length] for side in sides)) for length in lengths]


def _overlay(first: DrawnCells, second: DrawnCells) -> DrawnCells:
    rows = np.concatenate([first.corners, second.corners])
    corners, place = np.unique(rows, axis=0, return_inverse=True)
    from_first, from_second = np.split(place.reshape(-1), [len(first.corners)])
    status = np.full(len(corners), ONLY_FIRST)
    status[from_second] = ONLY_SECOND
    status[np.intersect1d(from_first, from_second)] = IN_BOTH
    if first.prob is None or second.prob is None:
        return DrawnCells(corners, None, status)
    prob = np.empty(len(corners))
    prob[from_second], prob[from_first] = second.prob, first.prob
    return DrawnCells(corners, prob, status)


def most_probable(groups: list[DrawnCells], most: int) -> list[DrawnCells]:
    """The ``most`` most probable cells of all groups, each in its group; without probabilities the first ones.

    Example:
        >>> cells = DrawnCells(np.array([[0, 1], [1, 2]]), np.array([0.1, 0.9]))
        >>> most_probable([cells], 1)[0].corners.tolist()
        [[1, 2]]
    """
    sizes = [len(group.corners) for group in groups]
    if sum(sizes) <= most:
        return groups
    prob = np.concatenate([np.ones(len(group.corners)) if group.prob is None else group.prob for group in groups])
    kept = np.zeros(len(prob), bool)
    kept[np.argsort(-prob, kind="stable")[:most]] = True
    return [group.take(part) for group, part in zip(groups, np.split(kept, np.cumsum(sizes)[:-1]), strict=True)]
