"""The cells that the page draws: those of a complex, or those of two beside each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from latopo.complex import CellComplex
from latopo.report.data import FloatArray, IntArray
from latopo.report.encode import Packer, Reference

__all__ = ["DrawnCells", "difference_cells", "drawn_cells", "strongest"]

IN_BOTH, ONLY_FIRST, ONLY_SECOND = 0, 1, 2


@dataclass(frozen=True)
class DrawnCells:
    """Cells of one dimension and length.

    Attributes:
        corners: [n, k]; k = 2 for edges.
        prob: [n] or None.
        status: for a comparison, [n]: 0 in both, 1 only in the first complex, 2 only in the second.
    """

    corners: IntArray
    prob: FloatArray | None
    status: IntArray | None = None

    def take(self, chosen: NDArray[Any]) -> "DrawnCells":
        """Some of the cells, by numbers or mask."""
        prob, status = (None if column is None else column[chosen] for column in (self.prob, self.status))
        return DrawnCells(self.corners[chosen], prob, status)

    def pack(self, packer: Packer) -> dict[str, Reference | int | None]:
        """As the page reads it: corners column by column, which compresses well."""
        return {
            "length": self.corners.shape[1],
            "count": len(self.corners),
            "corners": packer.integers(self.corners.T.flatten()),
            "prob": None if self.prob is None else packer.floats(self.prob),
            "status": None if self.status is None else packer.integers(self.status),
        }


def drawn_cells(complex: CellComplex) -> list[DrawnCells]:
    """The edges, then the polygons of each length that occurs.

    Example:
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> drawn_cells(path)[0].corners.tolist()
        [[0, 1], [1, 2]]
    """
    groups = [DrawnCells(complex.edge_index.t().cpu().numpy(), _values(complex.edge_prob))]
    prob, done = _values(complex.polygon_prob), 0
    for rows in complex.polygons.values():
        part = None if prob is None else prob[done : done + len(rows)]
        if len(rows):
            groups.append(DrawnCells(rows.cpu().numpy(), part))
        done += len(rows)
    return groups


def difference_cells(first: CellComplex, second: CellComplex) -> list[DrawnCells]:
    """The cells of both complexes, each once, with its status; probabilities are the first's where it has the cell.

    Example:
        >>> one, two = CellComplex(3, torch.tensor([[0], [1]])), CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> difference_cells(one, two)[0].status.tolist()
        [0, 2]
    """
    change = first.difference(second)
    lost = torch.cat([change.edges_lost, first.num_edges + change.polygons_lost]).cpu().numpy()
    gained = torch.cat([change.edges_gained, second.num_edges + change.polygons_gained]).cpu().numpy()
    sides: dict[int, list[DrawnCells]] = {}
    for complex, others, status in ((first, lost, ONLY_FIRST), (second, gained, ONLY_SECOND)):
        is_other = np.zeros(complex.num_edges + complex.num_polygons, bool)
        is_other[others] = True
        done = 0
        for group in drawn_cells(complex):
            part = is_other[done : done + len(group.corners)]
            done += len(group.corners)
            marked = DrawnCells(group.corners, group.prob, np.where(part, status, IN_BOTH))
            sides.setdefault(group.corners.shape[1], []).append(marked if status == ONLY_FIRST else marked.take(part))
    return [_concatenate(groups) for _, groups in sorted(sides.items())]


def _concatenate(groups: list[DrawnCells]) -> DrawnCells:
    probs = [group.prob for group in groups if group.prob is not None]
    statuses = [group.status for group in groups if group.status is not None]
    prob = np.concatenate(probs) if len(probs) == len(groups) else None
    return DrawnCells(np.concatenate([group.corners for group in groups]), prob, np.concatenate(statuses))


def strongest(groups: list[DrawnCells], most: int) -> list[DrawnCells]:
    """The ``most`` most probable cells over all groups, in their order; without probabilities the first ones.

    Example:
        >>> cells = DrawnCells(np.array([[0, 1], [1, 2]]), np.array([0.1, 0.9]))
        >>> strongest([cells], 1)[0].corners.tolist()
        [[1, 2]]
    """
    if sum(len(group.corners) for group in groups) <= most:
        return groups
    prob = np.concatenate([np.ones(len(group.corners)) if group.prob is None else group.prob for group in groups])
    kept = np.zeros(len(prob), bool)
    kept[np.argsort(-prob, kind="stable")[:most]] = True
    parts = np.split(kept, np.cumsum([len(group.corners) for group in groups])[:-1])
    return [group.take(part) for group, part in zip(groups, parts, strict=True)]


def _values(prob: Tensor | None) -> FloatArray | None:
    return None if prob is None else prob.detach().cpu().double().numpy()
