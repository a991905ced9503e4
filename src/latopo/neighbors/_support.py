"""The support of rows among a few candidates each, on the CPU, and whether nothing outside of them can belong to it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from latopo._numba import njit
from latopo.entmax._kernels import row_probability, row_threshold
from latopo.neighbors._kernels import EUCLIDEAN, FAST, INNER, FloatArray, IntArray


@njit(nogil=True, cache=True, fastmath=FAST)
def similarity_of(a: FloatArray, b: FloatArray, kind: int) -> Any:
    total = a.dtype.type(0)
    if kind == INNER:
        for k in range(a.shape[0]):
            total += a[k] * b[k]
        return total
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) ** 2
    return -np.sqrt(total) if kind == EUCLIDEAN else -total


@njit(nogil=True, cache=True)
def _candidate_values(
    point: FloatArray, columns: FloatArray, near: npt.NDArray[np.integer], own: int, kind: int, values: FloatArray,
    ids: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """Similarities and numbers of the candidates, those that do not exist (−1) and the row itself left out."""
    found, top = 0, -np.inf
    for at in range(near.shape[0]):
        if near[at] >= 0 and near[at] != own:
            ids[found] = near[at]
            values[found] = similarity_of(point, columns[near[at]], kind)
            top = max(top, values[found])
            found += 1
    return found, top


@njit(nogil=True, cache=True, error_model="numpy")
def support_rows(
    points: FloatArray, columns: FloatArray, own: IntArray, kind: int, near: npt.NDArray[np.integer], gain: float,
    alpha: npt.NDArray[np.float64], deviation: FloatArray, top: FloatArray, edge: npt.NDArray[np.float64],
    counts: IntArray, support: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Solve each row on its candidates ``near`` [r, k].

    Fills ``top`` and ``counts`` [r], the columns of positive probability, ascending, in the front of ``support``
    [r, k], and the similarity up to which a further column would have probability 0, ``edge`` [r].
    """
    values, ids = np.empty(near.shape[1], points.dtype), np.empty(near.shape[1], np.int64)
    scores = np.empty(near.shape[1], np.float64)
    for i in range(points.shape[0]):
        found, top[i] = _candidate_values(points[i], columns, near[i], own[i], kind, values, ids)
        rate, excess = gain / float(deviation[i]), alpha[i] - 1.0
        for at in range(found):
            scores[at] = rate * (values[at] - top[i])
        anchor, mass = row_threshold(scores, 0, found, alpha[i])
        power = mass**excess
        kept = 0
        for at in range(found):
            if row_probability(scores[at], anchor, mass, power, excess) > 0.0:
                support[i, kept] = ids[at]
                kept += 1
        support[i, :kept].sort()
        counts[i] = kept
        edge[i] = top[i] + (anchor - power / excess) / rate if found > 0 else -np.inf
