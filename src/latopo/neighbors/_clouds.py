"""The fused pass over all pairs, cloud by cloud: many small point clouds cost one call."""

import numpy as np

from latopo._numba import njit
from latopo.neighbors._kernels import FloatArray, IntArray, pull_rows, scan_rows

_PANEL = 16  # rows that share a pass over a cloud, which is small enough for the cache


@njit(nogil=True, cache=True)
def _tile(points: FloatArray) -> FloatArray:
    """Points [m, d] as one tile [1, d, m], coordinates apart."""
    tile = np.empty((1, points.shape[1], points.shape[0]), points.dtype)
    for j in range(points.shape[0]):
        for k in range(points.shape[1]):
            tile[0, k, j] = points[j, k]
    return tile


@njit(nogil=True, cache=True)
def scan_clouds(
    points: FloatArray,
    ptr: IntArray,
    kind: int,
    gain: float,
    alpha: FloatArray,
    epsilon: float,
    known: FloatArray,
    mean: FloatArray,
    deviation: FloatArray,
    top: FloatArray,
    counts: IntArray,
) -> IntArray:
    """Statistics and support of every point among those of its cloud, see ``scan_rows``.

    Cloud g has the points ``ptr[g]`` to ``ptr[g + 1]``; the columns of the support are numbered through all clouds.
    """
    support, used = np.empty(16 * points.shape[0], np.int64), 0
    for g in range(ptr.shape[0] - 1):
        low, high = ptr[g], ptr[g + 1]
        if high - low < 2:
            continue  # nobody to choose
        cloud, own = points[low:high], np.arange(high - low)
        col = scan_rows(
            cloud, _tile(cloud), high - low, own, kind, gain, alpha[low:high], epsilon, _PANEL, True, known[low:high],
            mean[low:high], deviation[low:high], top[low:high], counts[low:high],
        )  # fmt: skip
        if used + col.shape[0] > support.shape[0]:
            larger = np.empty(2 * (used + col.shape[0]), np.int64)
            larger[:used] = support[:used]
            support = larger
        support[used : used + col.shape[0]] = col + low
        used += col.shape[0]
    return support[:used].copy()


@njit(nogil=True, cache=True)
def pull_clouds(
    points: FloatArray, ptr: IntArray, kind: int, rate: FloatArray, shift: FloatArray, gradient: FloatArray
) -> None:
    """Dense part of the gradient within every cloud, see ``pull_rows``."""
    for g in range(ptr.shape[0] - 1):
        low, high = ptr[g], ptr[g + 1]
        if high - low < 2:
            continue
        cloud, own = points[low:high], np.arange(high - low)
        rates, shifts = rate[low:high], shift[low:high]
        pull_rows(
            cloud, _tile(cloud), high - low, own, kind, rates, shifts, rates, shifts, gradient[low:high],
        )  # fmt: skip
