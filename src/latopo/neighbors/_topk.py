"""Gumbel top-k on the CPU: noise is drawn only where it can matter, and most pairs are passed over by the dozen.

What the functions share: a row of ``similarity`` is minus the distances of a point to all others, its score with
column j is ``-rate * similarity[j] ** 2``, and the noise of a pair depends on ``seed``, ``own`` (the point's number)
and j alone, so that neither blocks nor threads matter. ``best`` [k] and ``chosen`` [k] are the largest values so far
and their columns.
"""

import numpy as np
import numpy.typing as npt

from latopo._numba import UNCOUNTED, njit
from latopo.neighbors._kernels import FAST, FloatArray, IntArray

BEYOND = 37.0  # no noise is above it, but with a probability of 2⁻⁵³: its tail has as many bits
_RUN = 64  # columns that are passed over at once
ROOM = 1e-4  # relative; for the rounding of a bound


@njit(nogil=True, cache=True, **UNCOUNTED)
def upper_tail(seed: np.uint64, index: int) -> float:
    """A uniform number in (0, 1) that depends on the seed and the index alone (the SplitMix64 generator)."""
    bits = seed + np.uint64(index + 1) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return (float(bits >> np.uint64(11)) + 0.5) * 2.0**-53


@njit(nogil=True, cache=True, **UNCOUNTED)
def hopeless(lead: float, tail: float) -> bool:
    """Whether a Gumbel variable with this upper tail surely stays below ``lead``: P(g > c) ≤ exp(−c)."""
    return (lead > 2.0 and tail > 0.14) or (lead > 7.0 and tail > 0.001)


@njit(nogil=True, cache=True, **UNCOUNTED)
def noise_of(tail: float) -> float:
    return -np.log(-np.log1p(-tail))


@njit(nogil=True, cache=True, **UNCOUNTED)
def insert(best: FloatArray, chosen: IntArray, taken: int, value: float, column: int) -> int:
    """Put a value to its place among the best, of equal ones the lower column first; returns how many there are now."""
    k = best.shape[0]
    if taken == k and (value < best[k - 1] or (value == best[k - 1] and column > chosen[k - 1])):
        return taken
    at = min(taken, k - 1)
    while at > 0 and (best[at - 1] < value or (best[at - 1] == value and chosen[at - 1] > column)):
        best[at], chosen[at] = best[at - 1], chosen[at - 1]
        at -= 1
    best[at], chosen[at] = value, column
    return min(taken + 1, k)


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def _largest(values: FloatArray) -> float:
    high = values[0]
    for j in range(1, values.shape[0]):
        high = max(high, values[j])
    return high


@njit(nogil=True, cache=True, **UNCOUNTED)
def reach_of(floor: float, rate: float, noise: bool) -> float:
    """The similarity below which no score, with its noise, gets above the floor."""
    lead = max(BEYOND - floor, 0.0) if noise else max(-floor, 0.0)
    return -np.sqrt(lead / rate) * (1 + 2 * ROOM)


@njit(nogil=True, cache=True)
def choose_rows(
    similarity: FloatArray, rate: float, first: int, k: int, noise: bool, seed: np.uint64, out: IntArray
) -> None:
    """Columns of the k largest scores plus Gumbel noise for each row i, ascending, into ``out`` [r, k].

    Row i is the point ``first + i``, and its own column is skipped.
    """
    count = similarity.shape[1]
    best, factor = np.empty(k, np.float64), similarity.dtype.type(-rate)
    for i in range(similarity.shape[0]):
        taken, own, row, chosen, reach = 0, first + i, similarity[i], out[i], -np.inf
        for start in range(0, count, _RUN):
            run = row[start : start + _RUN]
            if _largest(run) < reach:
                continue
            for j in range(start, start + run.shape[0]):
                if j == own:
                    continue
                value = float(row[j] * row[j] * factor)
                if noise:
                    lead = best[k - 1] - value if taken == k else -np.inf
                    if lead > BEYOND:
                        continue
                    tail = upper_tail(seed, own * count + j)
                    if hopeless(lead, tail):
                        continue
                    value += noise_of(tail)
                taken = insert(best, chosen, taken, value, j)
            if taken == k and factor < 0:
                reach = reach_of(best[k - 1], -float(factor), noise)
        chosen.sort()


@njit(nogil=True, cache=True, **UNCOUNTED)
def add_noise(scores: npt.NDArray[np.float64], row: IntArray, col: IntArray, count: int, seed: np.uint64) -> None:
    """Add the noise of the pairs (row, col) [E] of ``count`` points to their scores."""
    for e in range(scores.shape[0]):
        scores[e] += noise_of(upper_tail(seed, row[e] * count + col[e]))


@njit(nogil=True, cache=True)
def choose_among(values: npt.NDArray[np.float64], col: IntArray, counts: IntArray, out: IntArray) -> None:
    """Columns of the k largest values of each row [r], whose entries follow each other, ascending, into ``out``."""
    best, start = np.empty(out.shape[1], np.float64), 0
    for i in range(out.shape[0]):
        taken, chosen = 0, out[i]
        for e in range(start, start + counts[i]):
            taken = insert(best, chosen, taken, values[e], col[e])
        start += counts[i]
        chosen.sort()
