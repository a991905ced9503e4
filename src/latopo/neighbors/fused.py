"""The compiled path: flat similarities, CPU, float32 and float64."""

import numpy as np
import torch
from torch import Tensor

from latopo._parallel import map_blocks
from latopo.neighbors import _kernels
from latopo.neighbors.scan import EdgeCounter, Scan, row_pointers
from latopo.neighbors.similarity import Euclidean, Inner, Similarity, SquaredEuclidean

__all__ = ["all_pairs", "paired", "paired_gradient", "scan", "supports", "weighted_gradient"]

_KIND: dict[type[Similarity], int] = {
    Euclidean: _kernels.EUCLIDEAN,
    SquaredEuclidean: _kernels.SQUARED,
    Inner: _kernels.INNER,
}
_TILE_BYTES = 128 * 1024  # of points; half of a small second-level cache
_PANEL_BYTES = 2 * 1024 * 1024  # of similarities; a small share of the third-level cache
_BLOCK = 128  # rows a thread takes at a time
_PAIR_BLOCK = 2**15  # pairs a thread takes at a time


def supports(similarity: Similarity, x: Tensor) -> bool:
    """Whether this path can serve; it needs an exact type, since a subclass may redefine the similarity."""
    return type(similarity) in _KIND and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def scan(
    x: Tensor, others: Tensor | None, similarity: Similarity, gain: float, alpha: Tensor, counter: EdgeCounter
) -> Scan:
    """Statistics and support of the rows ``x`` [N, d] against ``others`` [M, d], or against each other."""
    columns = x if others is None else others
    points, tiles, total = _array(x), _tiles(columns), columns.size(0)
    counts = np.zeros(len(points), np.int64)
    mean, deviation, top = (np.zeros(len(points), points.dtype) for _ in range(3))
    alphas = _array(alpha.double())
    epsilon = float(torch.finfo(x.dtype).eps)
    panel = int(np.clip(_PANEL_BYTES // max(total * points.itemsize, 1), 8, 64))

    def rows(start: int, stop: int) -> Tensor:
        part = slice(start, stop)
        col = _kernels.scan_rows(
            points[part], tiles, total, start if others is None else -1, _KIND[type(similarity)], gain, alphas[part],
            epsilon, panel, not counter.full, mean[part], deviation[part], top[part], counts[part],
        )  # fmt: skip
        counter.add(int(counts[part].sum()))
        return torch.from_numpy(col)

    found = map_blocks(rows, len(points), _BLOCK)
    col = torch.cat(found) if found else torch.empty(0, dtype=torch.int64)
    return Scan(row_pointers(torch.from_numpy(counts)), col, *map(torch.from_numpy, (mean, deviation, top)))


def all_pairs(x: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    """Similarity of every row of x [n, d] to every row of y [m, d], [n, m], without gradient."""
    out = torch.empty(x.size(0), y.size(0), dtype=x.dtype)
    points, tiles, values, kind = _array(x), _tiles(y), out.numpy(), _KIND[type(similarity)]

    def rows(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.all_pairs(points[part], tiles, y.size(0), kind, values[part])

    map_blocks(rows, len(points), _BLOCK)
    return out


def weighted_gradient(
    x: Tensor, others: Tensor | None, similarity: Similarity, rate: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor | None]:
    r"""Gradients of :math:`\sum_{ij} w_{ij} z_{ij}` with the weights :math:`w_{ij} = c_i z_{ij} + b_i` held fixed.

    A pair is met from both of its ends, so each row sums over its own pairs only and no two threads write to one row.
    """
    kind = _KIND[type(similarity)]
    if others is None:
        return _pull(x, x, 0, kind, rate, shift, rate, shift), None
    silent = torch.zeros(others.size(0), dtype=x.dtype)
    return (
        _pull(x, others, -1, kind, rate, shift, silent, silent),
        _pull(others, x, -1, kind, silent, silent, rate, shift),
    )


def _pull(
    x: Tensor, y: Tensor, own: int, kind: int, row_rate: Tensor, row_shift: Tensor, rate: Tensor, shift: Tensor
) -> Tensor:
    gradient = np.zeros(tuple(x.shape), _array(x).dtype)
    points, tiles = _array(x), _tiles(y)
    row_rates, row_shifts, rates, shifts = map(_array, (row_rate, row_shift, rate, shift))

    def rows(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.pull_rows(
            points[part], tiles, y.size(0), start if own >= 0 else -1, kind, row_rates[part], row_shifts[part], rates,
            shifts, gradient[part],
        )  # fmt: skip

    map_blocks(rows, len(points), _BLOCK)
    return torch.from_numpy(gradient)


def paired(x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity) -> Tensor:
    """Similarity of ``x[row[e]]`` to ``y[col[e]]`` for each pair e, [E]."""
    out = torch.empty(row.numel(), dtype=x.dtype)
    points, others, rows, cols = map(_array, (x, y, row, col))

    def pairs(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.pair_values(points, others, rows[part], cols[part], _KIND[type(similarity)], out.numpy()[part])

    map_blocks(pairs, row.numel(), _PAIR_BLOCK)
    return out


def paired_gradient(
    x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity, values: Tensor, outer: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients to x and y of Σ_e outer_e · value_e, given the values of :func:`paired`."""
    # Not zeros_like, which keeps the strides of a transposed x: the kernel would then write into a copy.
    gradients = torch.zeros(x.shape, dtype=x.dtype), torch.zeros(y.shape, dtype=y.dtype)
    arrays = map(_array, (values, outer, *gradients))
    _kernels.pair_gradients(*map(_array, (x, y, row, col)), _KIND[type(similarity)], *arrays)
    return gradients


def _array(tensor: Tensor) -> _kernels.FloatArray:
    return tensor.detach().contiguous().numpy()


def _tiles(points: Tensor) -> _kernels.FloatArray:
    """Points [m, d] as [t, d, w]: tiles of w points, coordinates apart, the last tile padded."""
    total, width = points.shape
    size = int(np.clip(_TILE_BYTES // max(width * points.element_size(), 1) // 16 * 16, 64, 1024))
    count = -(-total // size)
    padded = points.new_zeros(count * size, width)
    padded[:total] = points.detach()
    return _array(padded.view(count, size, width).transpose(1, 2))
