"""The fused pass over all pairs on the CPU: similarities of a few rows at a time, their statistics, and the support.

Similarities are taken from differences of coordinates, not from a matrix product: at the widths of auxiliary features
(about 32) that is as fast, and it needs neither a centred input nor a safety margin around the support's bound.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from latopo._numba import njit
from latopo.entmax._kernels import row_probability, row_threshold

FloatArray: TypeAlias = npt.NDArray[np.floating]
IntArray: TypeAlias = npt.NDArray[np.int64]

EUCLIDEAN, SQUARED, INNER = 0, 1, 2

_SURELY = 1 + 1e-9  # a bound is rounded, and what is within it may lie a little beyond

# Sums may be reordered (that is what lets them vectorise); NaN and infinity keep their meaning.
# Helpers are inlined: a call may reach another copy of the same function, compiled with other sums reordered, in the
# process that compiles than in those that load from the cache.
FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True, fastmath=FAST, inline="never")
def _add_four(
    one: FloatArray, two: FloatArray, columns: FloatArray, k: int, kind: int, out: FloatArray, out_two: FloatArray
) -> None:
    """Add the terms of coordinates k … k+3 for two points: squared differences, or products."""
    a, b, c, d = one[k], one[k + 1], one[k + 2], one[k + 3]
    e, f, g, h = two[k], two[k + 1], two[k + 2], two[k + 3]
    u, v, w, t = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
    if kind == INNER:
        for j in range(out.shape[0]):
            out[j] += (a * u[j] + b * v[j]) + (c * w[j] + d * t[j])
            out_two[j] += (e * u[j] + f * v[j]) + (g * w[j] + h * t[j])
    else:
        for j in range(out.shape[0]):
            p, q, r, s = a - u[j], b - v[j], c - w[j], d - t[j]
            out[j] += p * p + q * q + r * r + s * s
            p, q, r, s = e - u[j], f - v[j], g - w[j], h - t[j]
            out_two[j] += p * p + q * q + r * r + s * s


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_rest(point: FloatArray, columns: FloatArray, kind: int, out: FloatArray) -> None:
    """Add the terms of the last coordinates, those beyond a multiple of four, and finish the similarity."""
    width = point.shape[0]
    for k in range(width - width % 4, width):
        for j in range(out.shape[0]):
            if kind == INNER:
                out[j] += point[k] * columns[k, j]
            else:
                out[j] += (point[k] - columns[k, j]) ** 2
    if kind == EUCLIDEAN:
        for j in range(out.shape[0]):
            out[j] = -np.sqrt(out[j])
    elif kind == SQUARED:
        for j in range(out.shape[0]):
            out[j] = -out[j]


@njit(nogil=True, cache=True, fastmath=FAST)
def _similarities(
    one: FloatArray, two: FloatArray, columns: FloatArray, kind: int, out: FloatArray, out_two: FloatArray
) -> None:
    """Similarities of two points [d] to the first m points in ``columns`` [d, w], into ``out`` and ``out_two`` [m].

    Two at a time, because reading the columns is what takes the time.
    """
    out[:] = 0
    out_two[:] = 0
    for k in range(0, one.shape[0] - 3, 4):
        _add_four(one, two, columns, k, kind, out, out_two)
    _add_rest(one, columns, kind, out)
    _add_rest(two, columns, kind, out_two)


@njit(nogil=True, cache=True)
def all_pairs(points: FloatArray, tiles: FloatArray, others: int, kind: int, out: FloatArray) -> None:
    """Similarities of ``points`` [r, d] to the ``others`` points in ``tiles`` [t, d, w], into ``out`` [r, others]."""
    rows, width = points.shape[0], tiles.shape[2]
    spare = np.empty(width, points.dtype)
    for t in range(tiles.shape[0]):
        low, high = t * width, min((t + 1) * width, others)
        for i in range(0, rows, 2):
            two = out[i + 1, low:high] if i + 1 < rows else spare[: high - low]
            _similarities(points[i], points[min(i + 1, rows - 1)], tiles[t], kind, out[i, low:high], two)


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _deviation_sum(values: FloatArray, centre: float, power: int) -> float:
    """Sum of (v − centre) or of its square; short runs in the values' own precision, their sum in double."""
    total = 0.0
    shift = values.dtype.type(centre)
    for start in range(0, values.shape[0], 512):
        run = values.dtype.type(0)
        for j in range(start, min(start + 512, values.shape[0])):
            gap = values[j] - shift
            run += gap if power == 1 else gap * gap
        total += float(run)
    return total


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _extremes(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    for j in range(values.shape[0]):
        low = min(low, values[j])
        high = max(high, values[j])
    return low, high


@njit(nogil=True, cache=True)
def _row_statistics(values: FloatArray, own: int, epsilon: float) -> tuple[float, float, float]:
    """Mean, standard deviation (0 for a constant row) and maximum of a row, entry ``own`` left out (none if −1)."""
    left, right = values[: max(own, 0)], values[own + 1 :]
    count = left.shape[0] + right.shape[0]
    edge = values.dtype.type(np.inf)
    low, high = _extremes(left, edge, -edge)
    low, high = _extremes(right, low, high)
    mean = high + (_deviation_sum(left, high, 1) + _deviation_sum(right, high, 1)) / count
    square = (_deviation_sum(left, mean, 2) + _deviation_sum(right, mean, 2)) / count
    deviation = np.sqrt(square)
    if deviation <= 16 * epsilon * max(abs(low), abs(high)):
        deviation = 0.0
    return mean, deviation, high


@njit(nogil=True, cache=True)
def _row_candidates(
    values: FloatArray,
    own: int,
    top: float,
    deviation: float,
    gain: float,
    alpha: float,
    scores: FloatArray,
    ids: IntArray,
) -> int:
    """Entries that can lie in the support, z_ij > z_i,max − σ_i / (γ (α − 1)); returns how many."""
    rate = gain / deviation if deviation > 0 else 0.0
    bound = top - deviation / (gain * (alpha - 1)) if deviation > 0 and alpha > 1 else -np.inf
    floor, edge = values.dtype.type(bound), values.dtype.type(np.inf)
    found = 0
    for start in range(0, values.shape[0], 64):
        run = values[start : start + 64]
        if _extremes(run, edge, -edge)[1] < floor:
            continue  # nearly always: a vectorised look at 64 entries saves 64 branches
        for j in range(run.shape[0]):
            if run[j] >= floor and start + j != own:
                scores[found] = rate * (run[j] - top)
                ids[found] = start + j
                found += 1
    return found


@njit(nogil=True, cache=True)
def keep_support(scores: FloatArray, ids: IntArray, found: int, alpha: float) -> int:
    """Move the ids of positive probability to the front; returns how many. The scores are used up."""
    if 1.0 < alpha <= 2.0 and alpha != 1.5:  # where each entry of a step towards the threshold costs a power
        found = _drop_hopeless(scores, ids, found, alpha - 1.0)
    anchor, mass = row_threshold(scores, 0, found, alpha)
    power = mass ** (alpha - 1.0)
    kept = 0
    for j in range(found):
        if row_probability(scores[j], anchor, mass, power, alpha - 1.0) > 0.0:
            ids[kept] = ids[j]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def _drop_hopeless(scores: FloatArray, ids: IntArray, found: int, excess: float) -> int:
    """Move what may lie in the support to the front, without most of what cannot; returns how many.

    With all n entries at their mean score, m below the largest, the row's sum would be smaller (Jensen's inequality):
    the support reaches at most 1 / (excess · n^excess) + m below the largest. Then the same for those within reach, for
    as long as that drops a tenth of them.
    """
    highest, before = -np.inf, 2 * found
    for j in range(found):
        highest = max(highest, scores[j])
    while 0 < found < 0.9 * before:
        distance = 0.0
        for j in range(found):
            distance += highest - scores[j]
        reach = (1.0 / (excess * found**excess) + distance / found) * _SURELY
        before, kept = found, 0
        for j in range(found):
            score, column = scores[j], ids[j]
            scores[kept], ids[kept] = score, column
            kept += highest - score < reach
        found = kept
    return found


@njit(nogil=True, cache=True)
def scan_rows(
    points: FloatArray,
    tiles: FloatArray,
    others: int,
    own: IntArray,
    kind: int,
    gain: float,
    alpha: FloatArray,
    epsilon: float,
    panel: int,
    store: bool,
    known: FloatArray,
    mean: FloatArray,
    deviation: FloatArray,
    top: FloatArray,
    counts: IntArray,
) -> IntArray:
    """Statistics and support of the rows ``points`` [r, d] against the ``others`` points in ``tiles`` [t, d, w].

    ``own`` [r] is the column that is the row itself, −1 if none is. A deviation that is not NaN in ``known`` [r] takes
    the place of the row's own. Fills ``mean, deviation, top, counts`` [r] and returns the support's column ids, row
    after row (nothing if not ``store``). ``panel`` rows share a pass over the tiles, so that both stay in the cache.
    """
    rows, width = points.shape[0], tiles.shape[2]
    values = np.empty((panel + 1, others), points.dtype)  # one more for the partner of an odd last row
    scores, ids = np.empty(others, np.float64), np.empty(others, np.int64)
    support = np.empty(16 * rows if store else 0, np.int64)
    used = 0
    for start in range(0, rows, panel):
        stop = min(start + panel, rows)
        for t in range(tiles.shape[0]):
            low, high = t * width, min((t + 1) * width, others)
            for i in range(start, stop, 2):
                one, two = values[i - start, low:high], values[i - start + 1, low:high]
                _similarities(points[i], points[min(i + 1, rows - 1)], tiles[t], kind, one, two)
        for i in range(start, stop):
            row = values[i - start]
            mean[i], deviation[i], top[i] = _row_statistics(row, own[i], epsilon)
            if not np.isnan(known[i]):
                deviation[i] = known[i]
            found = _row_candidates(row, own[i], top[i], deviation[i], gain, alpha[i], scores, ids)
            kept = keep_support(scores, ids, found, alpha[i])
            counts[i] = kept
            if store:
                if used + kept > support.shape[0]:
                    larger = np.empty(2 * (used + kept), np.int64)
                    larger[:used] = support[:used]
                    support = larger
                support[used : used + kept] = ids[:kept]
                used += kept
    return support[:used].copy()


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _pull_four(
    columns: FloatArray, k: int, weight: FloatArray, weight_two: FloatArray, out: FloatArray, out_two: FloatArray
) -> None:
    """Add Σ_j w_j x_jk for coordinates k … k+3 and two rows of weights."""
    u, v, w, t = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
    zero = out.dtype.type(0)
    a, b, c, d = zero, zero, zero, zero
    e, f, g, h = zero, zero, zero, zero
    for j in range(weight.shape[0]):
        one, two = weight[j], weight_two[j]
        a += one * u[j]
        b += one * v[j]
        c += one * w[j]
        d += one * t[j]
        e += two * u[j]
        f += two * v[j]
        g += two * w[j]
        h += two * t[j]
    out[k] += a
    out[k + 1] += b
    out[k + 2] += c
    out[k + 3] += d
    out_two[k] += e
    out_two[k + 1] += f
    out_two[k + 2] += g
    out_two[k + 3] += h


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _pull(
    columns: FloatArray, weight: FloatArray, weight_two: FloatArray, out: FloatArray, out_two: FloatArray
) -> None:
    """Add Σ_j w_j x_j to ``out`` for two rows of weights; ``columns`` [d, w] has the x_j."""
    width = out.shape[0]
    for k in range(0, width - 3, 4):
        _pull_four(columns, k, weight, weight_two, out, out_two)
    for k in range(width - width % 4, width):
        one, two = out.dtype.type(0), out.dtype.type(0)
        for j in range(weight.shape[0]):
            one += weight[j] * columns[k, j]
            two += weight_two[j] * columns[k, j]
        out[k] += one
        out_two[k] += two


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _gradient_weights(
    values: FloatArray, kind: int, row_rate: float, row_shift: float, rate: FloatArray, shift: FloatArray
) -> None:
    """Turn similarities z into the weights (c_i + c_j) z + b_i + b_j, times the derivative of z per coordinate."""
    own_rate, own_shift = values.dtype.type(row_rate), values.dtype.type(row_shift)
    for j in range(values.shape[0]):
        z = values[j]
        weight = (own_rate + rate[j]) * z + (own_shift + shift[j])
        if kind == EUCLIDEAN:
            # z = −distance has no derivative at distance 0: equal points exchange no gradient.
            values[j] = weight / z if z < 0 else values.dtype.type(0)
        elif kind == SQUARED:
            values[j] = -2 * weight
        else:
            values[j] = weight


@njit(nogil=True, cache=True)
def pull_rows(
    points: FloatArray,
    tiles: FloatArray,
    others: int,
    own: IntArray,
    kind: int,
    row_rate: FloatArray,
    row_shift: FloatArray,
    rate: FloatArray,
    shift: FloatArray,
    gradient: FloatArray,
) -> None:
    """Dense part of the gradient, row by row: Σ_j [(c_i + c_j) z_ij + b_i + b_j] ∂z_ij/∂x_i, column own_i left out."""
    width, rows = tiles.shape[2], points.shape[0]
    values = np.empty((2, width), points.dtype)
    spare = np.zeros(points.shape[1], points.dtype)  # for the partner of an odd last row
    sums = np.zeros(rows + 1, np.float64)
    for t in range(tiles.shape[0]):
        low, high = t * width, min((t + 1) * width, others)
        for i in range(0, rows, 2):
            partner = min(i + 1, rows - 1)
            one, two = values[0, : high - low], values[1, : high - low]
            _similarities(points[i], points[partner], tiles[t], kind, one, two)
            for at, weight in ((i, one), (partner, two)):
                _gradient_weights(weight, kind, row_rate[at], row_shift[at], rate[low:high], shift[low:high])
                if low <= own[at] < high:
                    weight[own[at] - low] = 0
            sums[i] += _deviation_sum(one, 0.0, 1)
            sums[i + 1] += _deviation_sum(two, 0.0, 1)
            _pull(tiles[t], one, two, gradient[i], gradient[partner] if partner > i else spare)
    if kind != INNER:
        # Σ_j w_j (x_i − x_j); the points are centred, so the difference of the two sums keeps its digits.
        for i in range(rows):
            for k in range(points.shape[1]):
                gradient[i, k] = points[i, k] * sums[i] - gradient[i, k]


@njit(nogil=True, cache=True, fastmath=FAST)
def pair_values(x: FloatArray, y: FloatArray, row: IntArray, col: IntArray, kind: int, out: FloatArray) -> None:
    """Similarity of x[row[e]] to y[col[e]] for each pair e."""
    for e in range(row.shape[0]):
        a, b = x[row[e]], y[col[e]]
        total = x.dtype.type(0)
        if kind == INNER:
            for k in range(a.shape[0]):
                total += a[k] * b[k]
        else:
            for k in range(a.shape[0]):
                total += (a[k] - b[k]) ** 2
            total = -np.sqrt(total) if kind == EUCLIDEAN else -total
        out[e] = total


@njit(nogil=True, cache=True, fastmath=FAST)
def pair_gradients(
    x: FloatArray,
    y: FloatArray,
    row: IntArray,
    col: IntArray,
    kind: int,
    values: FloatArray,
    outer: FloatArray,
    to_x: FloatArray,
    to_y: FloatArray,
) -> None:
    """Add the gradients of Σ_e outer_e · value_e to ``to_x`` and ``to_y``; pair after pair, so always in one order."""
    for e in range(row.shape[0]):
        i, j = row[e], col[e]
        factor = outer[e]
        if kind == EUCLIDEAN:
            # z = −distance has no derivative at distance 0: equal points exchange no gradient.
            factor = outer[e] / values[e] if values[e] < 0 else x.dtype.type(0)
        elif kind == SQUARED:
            factor = -2 * outer[e]
        if kind == INNER:
            for k in range(x.shape[1]):
                to_x[i, k] += factor * y[j, k]
                to_y[j, k] += factor * x[i, k]
        else:
            for k in range(x.shape[1]):
                step = factor * (x[i, k] - y[j, k])
                to_x[i, k] += step
                to_y[j, k] -= step
