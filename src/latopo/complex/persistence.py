"""Persistent homology of the filtration by probability: which holes last.

The standard algorithm, on the filtration of :mod:`latopo.complex.filtration`: an edge merges two components or opens a
hole, a polygon fills a hole or closes a void, and what a cell ends was begun by the youngest cell that can be blamed.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from latopo._arguments import checked
from latopo.complex._reduction import Integers
from latopo.complex.filtration import filtration_values
from latopo.complex.reduction import Reduction, read_field, reduce_boundaries
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["Persistence", "persistence"]


@dataclass(frozen=True, eq=False)
class Persistence:
    """Births and deaths of components, holes and voids.

    Attributes:
        pairs: for dimension 0, 1 and 2 a tensor [K, 2] of births and deaths, the longest-lived first. What never dies
            has the death ∞. Gradients flow to the probabilities.
        cells: beside each pair the numbers of the cell that begins it (a node, an edge, a polygon) and of the cell, one
            dimension higher, that ends it; −1 for none.
        field: the prime p of the coefficients GF(p).
    """

    pairs: tuple[Tensor, Tensor, Tensor]
    cells: tuple[Tensor, Tensor, Tensor]
    field: int

    def betti_numbers(self, value: float) -> tuple[int, int, int]:
        """How many classes of each dimension are alive at the filtration value: those of ``threshold(p, p)`` at 1 − p.

        Example:
            >>> from latopo import CellComplex
            >>> square = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]], edge_prob=[1.0, 1.0, 0.75, 0.5])
            >>> square.persistence().betti_numbers(0.25), square.persistence().betti_numbers(0.5)
            ((1, 0, 0), (1, 1, 0))
        """
        first, second, third = (int(((pair[:, 0] <= value) & (value < pair[:, 1])).sum()) for pair in self.pairs)
        return first, second, third

    def to_gudhi(self) -> list[tuple[int, tuple[float, float]]]:
        """``[(dimension, (birth, death)), ...]``, as GUDHI's functions take and return it."""
        return [(rank, (birth, death)) for rank, pair in enumerate(self.pairs) for birth, death in pair.tolist()]

    def draw(self, kind: str = "diagram", ax: Any = None, **options: Any) -> Any:
        """A persistence diagram or a ``"barcode"`` in matplotlib axes: see ``latopo.draw.persistence``."""
        from latopo.draw.persistence import draw_persistence

        return draw_persistence(self, kind, ax, **options)

    def __repr__(self) -> str:
        """Counts only."""
        essential = [int(pair[:, 1].isinf().sum()) for pair in self.pairs]
        counts = [f"{len(pair)} of dimension {rank}" for rank, pair in enumerate(self.pairs)]
        return f"Persistence({', '.join(counts)}; {essential} for ever; GF({self.field}))"


@checked
def persistence(cx: "CellComplex", field: int | str = 2, min_persistence: float = 0.0) -> Persistence:
    """Persistent homology of the filtration in which a cell of probability p enters at 1 − p (not before its faces).

    Args:
        cx: the complex.
        field: a prime p; coefficients are in GF(p).
        min_persistence: classes that live no longer than this are left out; −1 keeps those of no duration, too.

    Example:
        >>> from latopo import CellComplex
        >>> square = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]], [[0, 1, 2, 3]], [1.0, 1.0, 0.75, 0.5], [0.125])
        >>> found = square.persistence()
        >>> found
        Persistence(2 of dimension 0, 1 of dimension 1, 0 of dimension 2; [1, 0, 0] for ever; GF(2))
        >>> found.pairs[1]
        tensor([[0.5000, 0.8750]])
    """
    prime = read_field("persistence", field)
    if prime == 0:
        raise LatopoError(
            "CellComplex.persistence: field must be a prime; a large one, such as 2147483647, stands for the rationals"
        )
    edge_value, polygon_value = filtration_values(cx)
    orders = (value.detach().cpu().numpy().argsort(kind="stable") for value in (edge_value, polygon_value))
    cells = _pair_cells(cx.num_nodes, reduce_boundaries(cx, prime, *orders))
    values = (edge_value.new_zeros(cx.num_nodes), edge_value, polygon_value, edge_value[:0])
    found = [_dated(torch.from_numpy(cells[rank]).to(cx.device), *values[rank : rank + 2]) for rank in range(3)]
    lasting = [_longest_first(pairs, ends, min_persistence) for pairs, ends in found]
    return Persistence(tuple(pairs for pairs, _ in lasting), tuple(ends for _, ends in lasting), prime)  # type: ignore


def _pair_cells(num_nodes: int, reduction: Reduction) -> list[Integers]:
    """For each dimension [K, 2]: the cell that begins a class and the one that ends it, or −1."""
    merging, filling = np.flatnonzero(reduction.merged >= 0), np.flatnonzero(reduction.filled >= 0)
    begun = (np.arange(num_nodes), np.flatnonzero(reduction.merged < 0), np.flatnonzero(reduction.filled < 0))
    nothing = np.empty(0, dtype=np.int64)
    ended = ((reduction.merged[merging], merging), (reduction.filled[filling], filling), (nothing, nothing))
    found = []
    for beginning, (first, last) in zip(begun, ended, strict=True):
        end = np.full(beginning.size, -1, dtype=np.int64)
        end[np.searchsorted(beginning, first)] = last
        found.append(np.stack([beginning, end], axis=1))
    return found


def _dated(cells: Tensor, begin: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Births and deaths of cells that begin and end classes, [K, 2], beside the cells."""
    essential = cells[:, 1] < 0
    # A place of its own for ∞: −1 is the last entry.
    death = torch.cat([end, end.new_full((1,), inf)])[torch.where(essential, end.numel(), cells[:, 1])]
    return torch.stack([begin[cells[:, 0]], death], dim=1), cells


def _longest_first(pairs: Tensor, cells: Tensor, least: float) -> tuple[Tensor, Tensor]:
    life = pairs[:, 1].detach() - pairs[:, 0].detach()
    order = life.argsort(descending=True, stable=True)
    order = order[life[order] > least]
    return pairs[order], cells[order]
