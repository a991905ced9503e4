"""Compiled passes over the sides of polygons: which edges they are, and the sums of message passing between them.

Sums are taken in the order of torch's own operations, rounding by rounding: which of the two ways is taken shows in no
digit (:mod:`latopo.complex.side_sums`).
"""

import numpy as np
import numpy.typing as npt

from latopo._numba import njit

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def find_sides(
    rows: IntArray, ptr: IntArray, end: IntArray, edge: IntArray, sign: npt.NDArray[np.int8]
) -> None:  # fmt: skip
    """Number of the edge under each side of the polygons [P, k], −1 if there is none, and the side's sign, [P · k].

    ``ptr`` [N + 1] says where the edges start that begin at each node; ``end`` [E] has their other ends, ascending.
    """
    count, length = rows.shape
    for p in range(count):
        v = rows[p, 0]
        for k in range(length):
            u, v = v, rows[p, k + 1] if k + 1 < length else rows[p, 0]
            low, high, at = min(u, v), max(u, v), p * length + k
            sign[at] = 1 if u < v else -1
            edge[at] = -1
            if low < 0 or high >= ptr.shape[0] - 1:
                continue
            first, last = ptr[low], ptr[low + 1]
            while first < last:
                middle = (first + last) // 2
                if end[middle] < high:
                    first = middle + 1
                else:
                    last = middle
            if first < ptr[low + 1] and end[first] == high:
                edge[at] = first


@njit(nogil=True, cache=True)
def _sum_sides(x: FloatArray, edge: IntArray, first: int, length: int, total: FloatArray) -> None:
    """The sum of x over the sides of a polygon, which begin at ``first``, into ``total`` [F]."""
    total[:] = 0
    for k in range(first, first + length):
        row = x[edge[k]]
        for f in range(total.shape[0]):
            total[f] += row[f]


@njit(nogil=True, cache=True)
def add_other_sides(
    x: FloatArray, edge: IntArray, length: int, weight: FloatArray, out: FloatArray, total: FloatArray
) -> None:
    """Add to each side e of polygons of one length the sum of x over the other sides, times the polygon's weight.

    ``x`` and ``out`` [E, F], ``edge`` [P · length], ``weight`` [P] or empty; ``total`` [F] is room to work in.
    """
    width = x.shape[1]
    for p in range(edge.shape[0] // length):
        first = p * length
        _sum_sides(x, edge, first, length, total)
        for k in range(length):
            row, own = out[edge[first + k]], x[edge[first + k]]
            if weight.shape[0]:
                for f in range(width):
                    row[f] += (total[f] - own[f]) * weight[p]
            else:
                for f in range(width):
                    row[f] += total[f] - own[f]


@njit(nogil=True, cache=True)
def other_sides_gradient(
    x: FloatArray, edge: IntArray, length: int, weight: FloatArray, outer: FloatArray, to_x: FloatArray,
    products: FloatArray, total: FloatArray, mine: FloatArray,
) -> None:  # fmt: skip
    """The gradient of :func:`add_other_sides` to x, added to ``to_x`` [E, F] (empty: not wanted).

    That to the weight of a polygon is the sum of its entries in ``products`` [P, length, F] (empty: not wanted).
    ``total`` [F] and ``mine`` [length, F] are room to work in.
    """
    width = x.shape[1]
    for p in range(edge.shape[0] // length):
        first = p * length
        if products.shape[0]:
            _sum_sides(x, edge, first, length, total)
            for k in range(length):
                row, own, product = outer[edge[first + k]], x[edge[first + k]], products[p, k]
                for f in range(width):
                    product[f] = row[f] * (total[f] - own[f])
        if to_x.shape[0] == 0:
            continue
        total[:] = 0
        for k in range(length):
            row, own = outer[edge[first + k]], mine[k]
            if weight.shape[0]:
                for f in range(width):
                    own[f] = row[f] * weight[p]
            else:
                own[:] = row
            for f in range(width):
                total[f] += own[f]
        for k in range(length):
            row, own = to_x[edge[first + k]], mine[k]
            for f in range(width):
                row[f] += total[f] - own[f]
