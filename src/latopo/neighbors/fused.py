"""The compiled path: flat similarities, CPU, float32 and float64."""

import numpy as np
import torch
from torch import Tensor

from latopo._parallel import map_blocks, row_blocks
from latopo.neighbors import _kernels
from latopo.neighbors.scan import EdgeCounter, Rows, Scan, row_pointers
from latopo.neighbors.similarity import Euclidean, Inner, Similarity, SquaredEuclidean

__all__ = ["KIND", "all_pairs", "as_array", "paired", "paired_gradient", "scan", "supports", "weighted_gradient"]

KIND: dict[type[Similarity], int] = {
    Euclidean: _kernels.EUCLIDEAN,
    SquaredEuclidean: _kernels.SQUARED,
    Inner: _kernels.INNER,
}
_TILE_BYTES = 128 * 1024  # of points; half of a small second-level cache
_PANEL_BYTES = 2 * 1024 * 1024  # of similarities; a small share of the third-level cache
_BLOCK = 128  # rows a thread takes at a time
_BLOCK_TERMS = 2**30  # and at most so many coordinates of pairs, well under a second: Ctrl-C waits for it
_PAIR_BLOCK = 2**15  # pairs a thread takes at a time


def supports(similarity: Similarity, x: Tensor) -> bool:
    """Whether this path can serve; it needs an exact type, since a subclass may redefine the similarity."""
    return type(similarity) in KIND and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def scan(rows: Rows, counter: EdgeCounter) -> Scan:
    """Statistics and support of the rows."""
    points, tiles, total = as_array(rows.points), _tiles(rows.columns), rows.columns.size(0)
    counts = np.zeros(len(points), np.int64)
    mean, deviation, top = (np.zeros(len(points), points.dtype) for _ in range(3))
    alpha, own, known = map(as_array, (rows.alpha.double(), rows.own, rows.deviation))
    epsilon = float(np.finfo(points.dtype).eps)
    panel = int(np.clip(_PANEL_BYTES // max(total * points.itemsize, 1), 8, 64))

    def block(start: int, stop: int) -> Tensor:
        part = slice(start, stop)
        col = _kernels.scan_rows(
            points[part], tiles, total, own[part], KIND[type(rows.similarity)], rows.gain, alpha[part], epsilon, panel,
            not counter.full, known[part], mean[part], deviation[part], top[part], counts[part],
        )  # fmt: skip
        counter.add(int(counts[part].sum()))
        return torch.from_numpy(col)

    found = map_blocks(block, len(points), _block(rows.columns))
    col = torch.cat(found) if found else torch.empty(0, dtype=torch.int64)
    return Scan(row_pointers(torch.from_numpy(counts)), col, *map(torch.from_numpy, (mean, deviation, top)))


def all_pairs(x: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    """Similarity of every row of x [n, d] to every row of y [m, d], [n, m], without gradient."""
    out = torch.empty(x.size(0), y.size(0), dtype=x.dtype)
    points, tiles, values, kind = as_array(x), _tiles(y), out.numpy(), KIND[type(similarity)]

    def rows(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.all_pairs(points[part], tiles, y.size(0), kind, values[part])

    map_blocks(rows, len(points), _block(y))
    return out


def weighted_gradient(
    x: Tensor, others: Tensor | None, own: Tensor, similarity: Similarity, rate: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor | None]:
    r"""Gradients of :math:`\sum_{ij} w_{ij} z_{ij}` with the weights :math:`w_{ij} = c_i z_{ij} + b_i` held fixed.

    To ``x`` and to ``others``; without others the rows are against each other. A pair is met from both of its ends, so
    each row sums over its own pairs only and no two threads write to one row.
    """
    kind = KIND[type(similarity)]
    if others is None:
        return _pull(x, x, own, kind, rate, shift, rate, shift), None
    silent = torch.zeros(others.size(0), dtype=x.dtype)
    mine = own >= 0
    back = torch.full((others.size(0),), -1).index_put((own[mine],), mine.nonzero().flatten())
    return (
        _pull(x, others, own, kind, rate, shift, silent, silent),
        _pull(others, x, back, kind, silent, silent, rate, shift),
    )


def _pull(
    x: Tensor, y: Tensor, own: Tensor, kind: int, row_rate: Tensor, row_shift: Tensor, rate: Tensor, shift: Tensor
) -> Tensor:
    gradient = np.zeros(tuple(x.shape), as_array(x).dtype)
    points, tiles, owns = as_array(x), _tiles(y), as_array(own)
    row_rates, row_shifts, rates, shifts = map(as_array, (row_rate, row_shift, rate, shift))

    def rows(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.pull_rows(
            points[part], tiles, y.size(0), owns[part], kind, row_rates[part], row_shifts[part], rates, shifts,
            gradient[part],
        )  # fmt: skip

    map_blocks(rows, len(points), _block(y))
    return torch.from_numpy(gradient)


def paired(x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity) -> Tensor:
    """Similarity of ``x[row[e]]`` to ``y[col[e]]`` for each pair e, [E]."""
    out = torch.empty(row.numel(), dtype=x.dtype)
    points, others, rows, cols = map(as_array, (x, y, row, col))

    def pairs(start: int, stop: int) -> None:
        part = slice(start, stop)
        _kernels.pair_values(points, others, rows[part], cols[part], KIND[type(similarity)], out.numpy()[part])

    map_blocks(pairs, row.numel(), _PAIR_BLOCK)
    return out


def paired_gradient(
    x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity, values: Tensor, outer: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients to x and y of Σ_e outer_e · value_e, given the values of :func:`paired`."""
    # Not zeros_like, which keeps the strides of a transposed x: the kernel would then write into a copy.
    gradients = torch.zeros(x.shape, dtype=x.dtype), torch.zeros(y.shape, dtype=y.dtype)
    points, others, rows, cols, known, weights = map(as_array, (x, y, row, col, values, outer))
    to_x, to_y = (gradient.numpy() for gradient in gradients)
    for start, stop in row_blocks(row.numel(), _PAIR_BLOCK):  # on one thread: two pairs may share a point
        part, kind = slice(start, stop), KIND[type(similarity)]
        _kernels.pair_gradients(points, others, rows[part], cols[part], kind, known[part], weights[part], to_x, to_y)
    return gradients


def _block(columns: Tensor) -> int:
    """Rows at a time against these columns; each row has its own numbers, so the block does not matter to them."""
    return max(min(_BLOCK, _BLOCK_TERMS // max(columns.numel(), 1)), 4)


def as_array(tensor: Tensor) -> _kernels.FloatArray:
    """The values as the kernels take them."""
    return tensor.detach().contiguous().numpy()


def _tiles(points: Tensor) -> _kernels.FloatArray:
    """Points [m, d] as [t, d, w]: tiles of w points, coordinates apart, the last tile padded."""
    total, width = points.shape
    size = int(np.clip(_TILE_BYTES // max(width * points.element_size(), 1) // 16 * 16, 64, 1024))
    count = -(-total // size)
    padded = points.new_zeros(count * size, width)
    padded[:total] = points.detach()
    return as_array(padded.view(count, size, width).transpose(1, 2))
