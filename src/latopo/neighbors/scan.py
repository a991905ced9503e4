"""What one pass over all pairs leaves behind, and the limit that it keeps."""

from dataclasses import dataclass

import torch
from torch import Tensor

from latopo.errors import TooManyCellsError

__all__ = ["EdgeCounter", "Scan", "default_max_edges", "row_pointers"]


@dataclass(frozen=True)
class Scan:
    """Row statistics and support of the α-DGM, all without gradients.

    Attributes:
        ptr: row pointers of the support, int64 [N + 1].
        col: its columns, int64 [ptr[-1]], ascending within a row.
        mean: μ_i, the mean similarity of row i to the others, [N].
        deviation: σ_i, its population standard deviation, exactly 0 for a constant row, [N].
        top: z_i,max, the largest similarity, [N].
    """

    ptr: Tensor
    col: Tensor
    mean: Tensor
    deviation: Tensor
    top: Tensor


def default_max_edges(num_rows: int) -> int:
    """64 edges a row, and at least a million."""
    return max(64 * num_rows, 1_000_000)


class EdgeCounter:
    """Counts the support as it is found; ``full`` says that storing it further is pointless.

    The count goes on after the limit is passed, so that the error can name it, but nothing is stored any more.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether the limit is passed."""
        return self.count > self.limit

    def add(self, found: int) -> None:
        """Count ``found`` more entries."""
        self.count += found

    def check(self) -> None:
        """Raise if the limit was passed."""
        if self.full:
            raise TooManyCellsError(
                f"entmax_neighbors: the graph has {self.count:,} directed edges, more than max_edges={self.limit:,}. "
                "Raise the gain or alpha (sparser rows), merge duplicate points, or raise max_edges.",
                self.count,
                self.limit,
            )


def row_pointers(counts: Tensor) -> Tensor:
    """Counts per row [N] to row pointers [N + 1]."""
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
