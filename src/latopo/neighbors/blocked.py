"""The general path: any similarity, any device, rows in blocks; torch operations only."""

import torch
from torch import Tensor

from latopo._parallel import row_blocks
from latopo.entmax import segment_entmax
from latopo.neighbors.scan import EdgeCounter, Rows, Scan, row_pointers
from latopo.neighbors.similarity import Similarity

__all__ = ["scan", "weighted_gradient"]

_BLOCK_ENTRIES = 2**21  # similarities held at a time; a curved space holds about a dozen arrays of that size


def scan(rows: Rows, counter: EdgeCounter) -> Scan:
    """Statistics and support of the rows."""
    x, columns = rows.points, rows.columns
    statistics, counts, cols = [x.new_zeros(3, 0)], [torch.zeros(0, dtype=torch.int64, device=x.device)], []
    for start, stop in _blocks(x, columns):
        part = rows.select(slice(start, stop))
        values = rows.similarity.pairwise(part.points, columns)
        own = _own_entries(part.own)
        statistics.append(_statistics(values, own, part.deviation))
        row, col = _support(values, own, statistics[-1], rows.gain, part.alpha)
        counts.append(torch.bincount(row, minlength=stop - start))
        counter.add(len(col))
        cols.append(col[:0] if counter.full else col)
    mean, deviation, top = torch.cat(statistics, 1)
    return Scan(row_pointers(torch.cat(counts)), torch.cat([counts[0], *cols]), mean, deviation, top)


def weighted_gradient(
    x: Tensor, others: Tensor | None, own: Tensor, similarity: Similarity, rate: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor | None, list[Tensor]]:
    r"""Gradients of :math:`\sum_{ij} w_{ij} z_{ij}` with the weights :math:`w_{ij} = c_i z_{ij} + b_i` held fixed.

    To ``x``, to ``others`` (None if absent) and to the similarity's parameters, block after block.
    """
    parameters = [parameter for parameter in similarity.parameters() if parameter.requires_grad]
    columns = (x if others is None else others).detach().requires_grad_()
    to_x, to_columns = torch.zeros_like(x), torch.zeros_like(columns)
    to_parameters = [torch.zeros_like(parameter) for parameter in parameters]
    for start, stop in _blocks(x, columns):
        part = slice(start, stop)
        with torch.enable_grad():
            rows = x[part].detach().requires_grad_()
            values = similarity.pairwise(rows, columns)
        weight = rate[part, None] * values.detach() + shift[part, None]
        weight[_own_entries(own[part])] = 0
        found = torch.autograd.grad(values, [rows, columns, *parameters], weight)
        to_x[part] = found[0]
        to_columns += found[1]
        for total, gradient in zip(to_parameters, found[2:], strict=True):
            total += gradient
    if others is None:
        return to_x + to_columns, None, to_parameters
    return to_x, to_columns, to_parameters


def _blocks(x: Tensor, columns: Tensor) -> list[tuple[int, int]]:
    return row_blocks(x.size(0), max(_BLOCK_ENTRIES // max(columns.size(0), 1), 1))


def _own_entries(own: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of the entries of a block that are a point's similarity to itself."""
    rows = (own >= 0).nonzero().flatten()
    return rows, own[rows]


def _statistics(values: Tensor, own: tuple[Tensor, Tensor], known: Tensor) -> Tensor:
    """Mean, standard deviation (0 for a constant row) and maximum of each row [3, n], self left out."""
    count = values.new_full((values.size(0),), values.size(1), dtype=torch.float64)
    count = count.index_put((own[0],), count.new_tensor(values.size(1) - 1)).clamp(min=1)
    top = _without(values, own, -torch.inf).amax(1)
    low = _without(values, own, torch.inf).amin(1)
    # Sums of differences to the maximum, in double: no cancellation, and the same answer as the compiled path.
    shifted = _without(values - top[:, None], own, 0.0)
    mean = shifted.double().sum(1) / count
    gaps = _without(shifted - mean[:, None], own, 0.0)
    deviation = (gaps.double().square().sum(1) / count).sqrt().to(values.dtype)
    flat = deviation <= 16 * torch.finfo(values.dtype).eps * torch.maximum(low.abs(), top.abs())
    deviation = torch.where(known.isnan(), deviation.masked_fill(flat, 0.0), known)
    return torch.stack([mean.to(values.dtype) + top, deviation, top])


def _without(values: Tensor, own: tuple[Tensor, Tensor], filler: float) -> Tensor:
    return values.index_put(own, values.new_tensor(filler)) if own[0].numel() else values


def _support(
    values: Tensor, own: tuple[Tensor, Tensor], statistics: Tensor, gain: float, alpha: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows and columns of the positive entries; only entries above the support's hard bound are looked at."""
    _, deviation, top = statistics
    rate = torch.where(deviation > 0, gain / deviation, 0.0)
    scores = rate[:, None] * (values - top[:, None])
    candidate = scores >= -1 / (alpha[:, None] - 1)  # −inf where alpha is 1: every entry
    candidate = _without(candidate, own, False)
    row, col = candidate.nonzero(as_tuple=True)
    ptr = row_pointers(torch.bincount(row, minlength=values.size(0)))
    positive = segment_entmax(scores[row, col], ptr, alpha) > 0
    return row[positive], col[positive]
