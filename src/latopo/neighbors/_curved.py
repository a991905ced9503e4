"""Distances in products of curved spaces, pair by pair on the CPU, with what rounding may have done to them.

The formula is that of :mod:`latopo.neighbors.spaces`. There torch computes it in the points' own precision; here it
is computed in double precision, with room for all that torch may have lost.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from latopo._numba import UNCOUNTED, njit
from latopo.neighbors._kernels import FAST, IntArray

Double = npt.NDArray[np.float64]

FLAT, HYPERBOLIC, SPHERICAL = 0, 1, 2


class CurvedPoints(NamedTuple):
    """Points of a product of F spaces.

    Attributes:
        factors: for each, its kind, its first column and the one behind its last, [F, 3].
        roots: square roots of their curvatures, [F].
        columns: coordinates of flat factors, unit directions of the others; then, factor by factor, the a of the
            formula and its sinh or sin, [N, d + 2 F].
        relative, absolute: what a distance that torch computes may be off by; ``absolute``, squared, is also what its
            squares may lose where they are next to nothing.
        tiny, largest: numbers between which squares and scores are as precise as that.
    """

    factors: IntArray
    roots: Double
    columns: Double
    relative: float
    absolute: float
    tiny: float
    largest: float


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def _inverse(value: float, hyperbolic: bool) -> float:
    return np.arcsinh(value) if hyperbolic else np.arcsin(min(value, 1.0))


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def _cn(sn: float, hyperbolic: bool) -> float:
    """At least the cosh of the number whose sinh is ``sn``, or at least the magnitude of any cos."""
    return np.sqrt(1 + sn * sn) if hyperbolic else 1.0


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def _half_squares(
    a: float, b: float, sn_a: float, sn_b: float, chord: float, hyperbolic: bool, relative: float, vanishing: float
) -> tuple[float, float]:
    """Bounds of sn²(d √k / 2) for angles a and b and the square of the chord between their directions.

    Each number may be off by ``relative``, and the result by ``vanishing`` where squares are rounded to nothing.
    """
    half = (a - b) / 2
    sn = abs(np.sinh(half) if hyperbolic else np.sin(half))
    off = relative * (_cn(sn, hyperbolic) * max(a, b) + sn)
    off_a = relative * (abs(sn_a) + a * _cn(sn_a, hyperbolic))
    off_b = relative * (abs(sn_b) + b * _cn(sn_b, hyperbolic))
    product = abs(sn_a * sn_b)
    off_product = abs(sn_a) * off_b + abs(sn_b) * off_a + off_a * off_b
    off_chord = relative * (chord + 2 * np.sqrt(chord) + relative)
    square = sn * sn + sn_a * sn_b * chord / 4
    error = off * (2 * sn + off) + (chord * off_product + (product + off_product) * off_chord) / 4
    error += relative * (sn * sn + product * chord / 4) + vanishing
    return max(square - error, 0.0), max(square, 0.0) + error


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def squares_between(i: int, j: int, points: CurvedPoints, beyond: float) -> tuple[float, float]:
    """The squared distance of the points i and j, at least and at most.

    Once it is above ``beyond``, the first is some number above that, and the second infinite.
    """
    factors, roots, columns, relative, absolute, _, _ = points
    behind = columns.shape[1] - 2 * factors.shape[0]
    nearest, farthest, stop = 0.0, 0.0, ((np.sqrt(beyond) + absolute) / (1 - relative)) ** 2
    for f in range(factors.shape[0]):
        chord, hyperbolic = 0.0, factors[f, 0] == HYPERBOLIC
        for k in range(factors[f, 1], factors[f, 2]):
            chord += (columns[i, k] - columns[j, k]) ** 2
        if factors[f, 0] == FLAT:
            nearest, farthest = nearest + chord, farthest + chord
        else:
            a, sn = behind + 2 * f, behind + 2 * f + 1
            low, high = _half_squares(
                columns[i, a], columns[j, a], columns[i, sn], columns[j, sn], chord, hyperbolic, relative, absolute**2
            )
            nearest += (2 * _inverse(np.sqrt(low), hyperbolic) / roots[f]) ** 2
            if nearest <= stop:
                farthest += (2 * _inverse(np.sqrt(high), hyperbolic) / roots[f]) ** 2
        if nearest > stop:
            farthest = np.inf
            break
    least = max(np.sqrt(nearest) * (1 - relative) - absolute, 0.0)
    most = np.sqrt(farthest) * (1 + relative) + absolute
    return least * least, most * most


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True, **UNCOUNTED)
def scores_between(i: int, j: int, points: CurvedPoints, rate: float, floor: float) -> tuple[float, float]:
    """Minus ``rate`` times the squared distance, at least and at most; below the floor any two numbers below it."""
    tiny, relative = points.tiny, points.relative
    nearest, farthest = squares_between(i, j, points, max(tiny - floor, 0.0) / (rate * (1 - relative)))
    least = -rate * farthest * (1 + relative) - tiny
    most = tiny - rate * nearest * (1 - relative)
    # The square may be too large for torch where the score is not.
    return least if max(-least, farthest) < points.largest else -np.inf, min(most, 0.0)
