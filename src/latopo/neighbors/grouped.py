"""The rows of the α-DGM for many point clouds at once: every cloud among itself, small ones in one pass."""

import torch
from torch import Tensor

from latopo._compile import uncompiled
from latopo._precision import widen
from latopo._segments import Segments, standardize
from latopo.entmax import segment_entmax
from latopo.neighbors.clouds import cloud_statistics, scan_clouds
from latopo.neighbors.entmax_neighbors import NeighborRows, check_rows, neighbor_rows, support_probabilities
from latopo.neighbors.fused import supports
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.prepare import prepare_clouds
from latopo.neighbors.scan import EdgeCounter, default_max_edges, row_pointers
from latopo.neighbors.search import Found, Method
from latopo.neighbors.similarity import Similarity, get_similarity

__all__ = ["grouped_neighbor_rows", "join_rows", "pairs_within"]

# Points up to which clouds go together: one tile of the compiled kernel; without it every pair is written down.
_SMALL = {True: 1_024, False: 256}


@uncompiled
def grouped_neighbor_rows(
    x: Tensor,
    ptr: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    *,
    max_edges: int | None = None,
    search: Method = "exact",
) -> NeighborRows:
    """:func:`~latopo.neighbors.neighbor_rows` of each of several point clouds, columns numbered through all of them.

    Small clouds go through one pass together, large ones through one each.

    Args:
        x: the points of all clouds, one after another, [N, d].
        ptr: cloud g has the rows ``ptr[g]`` to ``ptr[g + 1]``, int64 [G + 1].
        gain, alpha, similarity: as in :func:`~latopo.entmax_neighbors`.
        max_edges: limit for the positive entries of each cloud, as there.
        search: how the rows of a large cloud are found, as there.

    Example:
        >>> x = torch.tensor([[0.0], [1.0], [0.0], [1.0], [3.0]])
        >>> grouped_neighbor_rows(x, torch.tensor([0, 2, 5]), gain=5.0).col
        tensor([1, 0, 3, 2, 3])
    """
    check_rows(x, None, gain, alpha)
    measure = get_similarity(similarity)
    large = (ptr.diff() > _SMALL[supports(measure, widen(x[:0]))]).nonzero().flatten().tolist()
    if not large:
        return _small_clouds(x, ptr, gain, alpha, measure, max_edges)
    parts, bounds, alphas = [], ptr.tolist(), torch.as_tensor(alpha, device=x.device).expand(x.size(0))
    done = 0
    for number in large:
        low, start, stop = bounds[done], bounds[number], bounds[number + 1]
        few = _small_clouds(x[low:start], ptr[done : number + 1] - low, gain, alphas[low:start], measure, max_edges)
        parts += [few, neighbor_rows(
            x[start:stop], gain, alphas[start:stop], measure, max_edges=max_edges, search=search
        )]  # fmt: skip
        done = number + 1
    low = bounds[done]
    parts.append(_small_clouds(x[low:], ptr[done:] - low, gain, alphas[low:], measure, max_edges))
    return join_rows(parts)


def join_rows(parts: list[NeighborRows]) -> NeighborRows:
    """Rows of several clouds, numbered each for itself, as rows that are numbered through all of them.

    Example:
        >>> pair = neighbor_rows(torch.tensor([[0.0], [1.0]]))
        >>> join_rows([pair, pair]).col
        tensor([1, 0, 3, 2])
    """
    first = [0]
    for part in parts[:-1]:
        first.append(first[-1] + part.ptr.numel() - 1)
    return NeighborRows(
        row_pointers(torch.cat([part.ptr.diff() for part in parts])),
        torch.cat([part.col + start for part, start in zip(parts, first, strict=True)]),
        torch.cat([part.prob for part in parts]),
        torch.cat([part.score for part in parts]),
    )


def _small_clouds(
    x: Tensor, ptr: Tensor, gain: float | Tensor, alpha: float | Tensor, measure: Similarity, max_edges: int | None
) -> NeighborRows:
    points, measure = prepare_clouds(x, ptr, measure)
    alpha = alpha.to(points.dtype) if isinstance(alpha, Tensor) else alpha
    if supports(measure, points):
        each = torch.as_tensor(alpha, dtype=points.dtype).detach().expand(x.size(0))
        scan = scan_clouds(points, ptr, measure, float(torch.as_tensor(gain).detach()), each)
        found = Found(scan, *cloud_statistics(points, ptr, measure, scan))
        rows = support_probabilities(points, None, measure, gain, alpha, found)
    else:
        rows = _all_pairs(points, ptr, gain, alpha, measure)
    _check_limits(rows.ptr, ptr, max_edges)
    return NeighborRows(rows.ptr, rows.col, rows.prob.to(x.dtype), rows.score.to(x.dtype))


def _check_limits(rows: Tensor, ptr: Tensor, max_edges: int | None) -> None:
    """Raise if a cloud has more entries than it may have."""
    found, sizes = rows[ptr].diff(), ptr.diff()
    limit = (64 * sizes).clamp(min=default_max_edges(0)) if max_edges is None else torch.full_like(sizes, max_edges)
    for number in (found > limit).nonzero().flatten().tolist()[:1]:
        counter = EdgeCounter(int(limit[number]))
        counter.add(int(found[number]))
        counter.check()


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


def _all_pairs(
    x: Tensor, ptr: Tensor, gain: float | Tensor, alpha: float | Tensor, measure: Similarity
) -> NeighborRows:
    """For any similarity and device: every pair within a cloud is written down."""
    rows, row, col = pairs_within(ptr)
    z = paired_similarity(x, x, row, col, measure)
    score = standardize(z, Segments(row, x.size(0))).values
    prob = segment_entmax(gain * score, rows, alpha)
    keep = prob.detach() > 0
    kept = row_pointers(torch.bincount(row[keep], minlength=x.size(0)))
    return NeighborRows(kept, col[keep], prob[keep], score[keep])
