"""What a pass over rows is given, what it leaves behind, and the limit that it keeps."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from latopo.errors import TooManyCellsError
from latopo.neighbors.similarity import Similarity

__all__ = ["EdgeCounter", "Piece", "Rows", "Scan", "assemble", "default_max_edges", "row_pointers"]


@dataclass(frozen=True)
class Rows:
    """Rows of the α-DGM whose support is wanted; all without gradients.

    Attributes:
        points: [N, d].
        columns: what they look at, [M, d].
        own: the column that is the row itself and is left out, −1 if none is, int64 [N].
        similarity: between points and columns.
        gain: γ.
        alpha: α of each row, [N].
        deviation: σ_i where it is known, NaN where the pass is to find it, [N].
    """

    points: Tensor
    columns: Tensor
    own: Tensor
    similarity: Similarity
    gain: float
    alpha: Tensor
    deviation: Tensor

    @classmethod
    def of(
        cls, x: Tensor, others: Tensor | None, similarity: Similarity, gain: float | Tensor, alpha: float | Tensor
    ) -> "Rows":
        """All rows x against ``others``, or against each other."""
        count, device = x.size(0), x.device
        own = torch.arange(count, device=device) if others is None else torch.full((count,), -1, device=device)
        points = x.detach()
        rows_alpha = torch.as_tensor(alpha, dtype=x.dtype, device=device).detach().expand(count)
        unknown = torch.full((count,), torch.nan, dtype=x.dtype, device=device)
        number = float(torch.as_tensor(gain).detach())
        return cls(points, points if others is None else others.detach(), own, similarity, number, rows_alpha, unknown)

    def select(self, index: Tensor | slice) -> "Rows":
        """Some of the rows, against the same columns."""
        return replace(
            self, points=self.points[index], own=self.own[index], alpha=self.alpha[index],
            deviation=self.deviation[index],
        )  # fmt: skip

    def __len__(self) -> int:
        return self.points.size(0)


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


@dataclass(frozen=True)
class Piece:
    """The support of some rows: their numbers [R], counts [R], largest similarities [R] and columns [Σ counts]."""

    rows: Tensor
    counts: Tensor
    top: Tensor
    col: Tensor


def assemble(pieces: Iterable[Piece], count: int, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Row pointers [N + 1], columns and largest similarities [N] of ``count`` rows from the pieces of all of them.

    Example:
        >>> late = Piece(torch.tensor([1]), torch.tensor([1]), torch.tensor([-3.0]), torch.tensor([0]))
        >>> early = Piece(torch.tensor([0]), torch.tensor([2]), torch.tensor([-1.0]), torch.tensor([1, 2]))
        >>> assemble([late, early], 2, torch.zeros(1))
        (tensor([0, 2, 3]), tensor([1, 2, 0]), tensor([-1., -3.]))
    """
    pieces = list(pieces)
    counts, top = torch.zeros(count, dtype=torch.int64), torch.zeros(count, dtype=like.dtype)
    for piece in pieces:
        counts[piece.rows], top[piece.rows] = piece.counts, piece.top
    ptr = row_pointers(counts)
    col = torch.empty(sum(piece.col.numel() for piece in pieces), dtype=torch.int64)
    for piece in pieces:
        # Where a row starts in the whole less where it starts in the piece.
        shift = ptr[piece.rows] - row_pointers(piece.counts)[:-1]
        position = torch.arange(piece.col.numel()) + torch.repeat_interleave(shift, piece.counts)
        col[position] = piece.col
    return ptr, col, top


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
