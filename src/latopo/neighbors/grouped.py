"""The rows of the α-DGM for many small point clouds at once: every cloud among itself, in one pass."""

import torch
from torch import Tensor

from latopo._precision import widen
from latopo.entmax import segment_entmax
from latopo.errors import LatopoError
from latopo.neighbors.entmax_neighbors import NeighborRows
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.scan import EdgeCounter, default_max_edges, row_pointers
from latopo.neighbors.similarity import Similarity, check_points, check_positive, get_similarity

__all__ = ["grouped_neighbor_rows", "pairs_within"]


def pairs_within(ptr: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All ordered pairs of different points of one cloud: row pointers [N + 1], row and column of each pair, by row.

    Example:
        >>> pairs_within(torch.tensor([0, 2, 3]))
        (tensor([0, 1, 2, 2]), tensor([0, 1]), tensor([1, 0]))
    """
    sizes = ptr.diff()
    group = torch.repeat_interleave(sizes)
    count = sizes[group] - 1  # others in the same cloud, per point
    rows = row_pointers(count)
    row = torch.repeat_interleave(count)
    col = torch.arange(row.numel(), device=ptr.device) - rows[row] + ptr[group][row]
    return rows, row, col + (col >= row)  # the point itself is passed over


def grouped_neighbor_rows(
    x: Tensor,
    ptr: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    *,
    max_edges: int | None = None,
) -> NeighborRows:
    """:func:`~latopo.neighbors.neighbor_rows` of each of several point clouds, columns numbered through all of them.

    Every pair within a cloud is written down, so this is for many small clouds; a large one is cheaper on its own.

    Args:
        x: the points of all clouds, one after another, [N, d].
        ptr: cloud g has the rows ``ptr[g]`` to ``ptr[g + 1]``, int64 [G + 1].
        gain, alpha, similarity, max_edges: as in :func:`~latopo.entmax_neighbors`.

    Example:
        >>> x = torch.tensor([[0.0], [1.0], [0.0], [1.0], [3.0]])
        >>> grouped_neighbor_rows(x, torch.tensor([0, 2, 5]), gain=5.0).col
        tensor([1, 0, 3, 2, 3])
    """
    check_points("entmax_neighbors", "x", x)
    check_positive("entmax_neighbors", "gain", gain)
    if not bool((torch.as_tensor(alpha).detach() >= 1).all()):
        raise LatopoError(f"entmax_neighbors: alpha must be at least 1, got {float(torch.as_tensor(alpha).min())}")
    points = widen(x)
    rows, row, col = pairs_within(ptr)
    z = paired_similarity(points, points, row, col, get_similarity(similarity))
    mean, deviation = _row_statistics(z, rows, row)
    flat = deviation.detach() == 0
    inverse = torch.where(flat, 0.0, 1 / torch.where(flat, 1.0, deviation))
    score = (z - mean.index_select(0, row)) * inverse.index_select(0, row)
    prob = segment_entmax(gain * score, rows, alpha)
    keep = prob.detach() > 0
    counter = EdgeCounter(default_max_edges(x.size(0)) if max_edges is None else max_edges)
    counter.add(int(keep.sum()))
    counter.check()
    kept = row_pointers(torch.bincount(row[keep], minlength=x.size(0)))
    return NeighborRows(kept, col[keep], prob[keep].to(x.dtype), score[keep].to(x.dtype))


def _row_statistics(z: Tensor, rows: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and population deviation of each row, the latter exactly 0 where all entries are equal up to rounding."""
    count = rows.diff().clamp(min=1).to(z.dtype)
    zeros = z.new_zeros(count.numel())
    mean = zeros.index_add(0, row, z) / count
    centred = z - mean.index_select(0, row)
    variance = zeros.index_add(0, row, centred.square()) / count
    with torch.no_grad():
        largest = zeros.scatter_reduce(0, row, z.abs(), "amax")
        flat = variance.sqrt() <= 16 * torch.finfo(z.dtype).eps * largest
    # The root has no gradient at 0.
    return mean, torch.where(flat, 0.0, torch.where(flat, 1.0, variance).sqrt())
