"""α-entmax of one row, compiled, for other kernels to call.

A row is described by an *anchor*: one of its scores, ``r``, together with that score's probability, ``q``. Every other
probability follows from these two numbers (``excess`` is α − 1, and 0 gives ``q · exp(s − r)``):

    p(s) = [q^excess + excess · (s − r)]_+^(1 / excess)

For α ≤ 2 the anchor is the largest score, for α > 2 the smallest score of the support. With this choice, and not with
the usual threshold τ, the sum of the row is a convex function of ``q`` whose slope lies between 1 and the number of
entries, for every α: Newton's iteration from above cannot overshoot, nothing is divided by α − 1 → 0, and no entry that
joins the support has an infinite slope when α > 2.

All arithmetic is in float64, also for float32 scores. Nothing here allocates.
"""

import math

import numpy as np
from numpy.typing import NDArray

from latopo._numba import njit

_MAX_STEPS = 64
# Newton's error is about squared by each step, so after one of this relative size the next would be lost in rounding.
# For float64 it is below the root of the resolution, because entries at the edge of the support converge more slowly.
_LAST_STEP_FLOAT64 = 1e-12
_LAST_STEP_FLOAT32 = 1e-7
# A sum this close to 1 is 1: a tiny mass (α > 2) cannot be told any better from it.
_ROUNDING = 4e-16
# Convexity makes more than this many Newton steps rare; from then on every other step halves the bracket.
_PATIENCE = 16
# An entry this close to the edge of the support (α = 1.5) has a probability of 1e-28, inside or out.
_AT_THE_EDGE = 1e-14
# Weights p^(2 − α) of α > 2 are unbounded as p → 0. Beyond this one they change nothing but would overflow in float32.
MAX_WEIGHT = 1e30


@njit(nogil=True, cache=True, error_model="numpy")
def _share_and_slope(gap: float, mass: float, power: float, excess: float) -> tuple[float, float]:
    """For a score ``gap`` above the anchor: p / mass, and the derivative of p by mass."""
    if gap == 0.0:
        return 1.0, 1.0
    if excess > 1.0:
        if gap < 0.0:
            return 0.0, 0.0
        # Not divided by power, which underflows to 0 for a very large α.
        share = (power + excess * gap) ** (1.0 / excess) / mass
        return share, share * power / (power + excess * gap)
    if excess == 0.0:
        share = math.exp(gap)
        return share, share
    relative = gap * (excess / power)
    base = 1.0 + relative
    if not base > 0.0:
        return 0.0, 0.0
    if excess == 0.5:
        return base * base, base
    if excess == 1.0:
        return base, 1.0
    share = math.exp(math.log1p(relative) / excess)
    return share, share / base


@njit(nogil=True, cache=True, error_model="numpy")
def row_probability(score: float, anchor: float, mass: float, power: float, excess: float) -> float:
    """Probability of ``score`` in a row whose ``anchor`` has probability ``mass``; ``power`` is ``mass ** excess``."""
    return mass * _share_and_slope(score - anchor, mass, power, excess)[0]


@njit(nogil=True, cache=True, error_model="numpy")
def _total_and_slope(
    scores: NDArray[np.floating], start: int, stop: int, anchor: float, mass: float, excess: float
) -> tuple[float, float]:
    """Sum of the row's probabilities if the anchor's is ``mass``, and the derivative of that sum by ``mass``."""
    power = mass**excess
    total = 0.0
    total_slope = 0.0
    for index in range(start, stop):
        share, slope = _share_and_slope(float(scores[index]) - anchor, mass, power, excess)
        total += share
        total_slope += slope
    return mass * total, total_slope


@njit(nogil=True, cache=True, error_model="numpy")
def _newton(scores: NDArray[np.floating], start: int, stop: int, anchor: float, upper: float, excess: float) -> float:
    """The anchor's probability, from an upper bound of it, by Newton's iteration inside a bracket."""
    low, high, mass = 0.0, upper, upper
    last_step = _LAST_STEP_FLOAT64 if scores.itemsize == 8 else _LAST_STEP_FLOAT32
    for count in range(_MAX_STEPS):
        total, slope = _total_and_slope(scores, start, stop, anchor, mass, excess)
        step = (total - 1.0) / slope
        if abs(step) <= last_step * mass or abs(total - 1.0) <= _ROUNDING:
            return mass - step
        if total > 1.0:
            high = mass
        else:
            low = mass
        mass -= step
        if not low < mass < high or (count >= _PATIENCE and count % 2 == 0):
            mass = 0.5 * (low + high)
    return mass


# All liberties but "no infinities", which are ordinary scores here: several entries are then added at a time.
@njit(nogil=True, cache=True, error_model="numpy", fastmath={"nnan", "nsz", "reassoc", "contract"})
def _moments_above(
    scores: NDArray[np.floating], start: int, stop: int, highest: float, reach: float
) -> tuple[float, float, float]:
    """Count, sum and sum of squares of the halved gaps to ``highest`` that exceed −``reach``."""
    count = 0.0
    total = 0.0
    squares = 0.0
    for index in range(start, stop):
        gap = 0.5 * (float(scores[index]) - highest)
        kept = gap if gap > -reach else 0.0
        count += 1.0 if gap > -reach else 0.0
        total += kept
        squares += kept * kept
    return count, total, squares


@njit(nogil=True, cache=True, error_model="numpy")
def _mass_of_highest_three_halves(scores: NDArray[np.floating], start: int, stop: int, highest: float) -> float:
    """Probability of the largest score, α = 1.5: the root of a quadratic equation, once the support is found."""
    root = 1.0
    for _ in range(_PATIENCE):
        count, total, squares = _moments_above(scores, start, stop, highest, root)
        mean = total / count
        inner = (1.0 - (squares - total * mean)) / count
        if inner >= 0.0:
            # On a support that is too large the equation gives too little; if that keeps the support, it is right.
            exact = math.sqrt(inner) - mean
            if _moments_above(scores, start, stop, highest, exact + _AT_THE_EDGE)[0] == count:
                return exact * exact
        surplus = count * root * root + 2.0 * total * root + squares - 1.0
        newton = root * (root - surplus / (count * root + total))
        root = min(root, math.sqrt(newton), math.sqrt(1.0 / count) - mean)
    return _newton(scores, start, stop, highest, root * root, 0.5)


@njit(nogil=True, cache=True, error_model="numpy")
def _mass_of_highest(scores: NDArray[np.floating], start: int, stop: int, highest: float, excess: float) -> float:
    """Probability of the largest score, 1 ≤ α ≤ 2."""
    if excess == 0.0:
        total = 0.0
        for index in range(start, stop):
            total += math.exp(float(scores[index]) - highest)
        return 1.0 / total
    if excess == 0.5:
        return _mass_of_highest_three_halves(scores, start, stop, highest)
    # By Jensen's inequality the row that has all candidates at their mean score has a smaller sum: an upper bound of
    # the mass, close to it where the row is flat, which is where a start at 1 needs most steps.
    reach = 1.0 / excess
    distance = 0.0
    count = 0
    for index in range(start, stop):
        gap = highest - float(scores[index])
        if gap < reach:
            distance += gap
            count += 1
    spread = excess * (distance / count) * float(count) ** excess
    upper = min(1.0, math.exp(math.log1p(spread) / excess) / count)
    return _newton(scores, start, stop, highest, upper, excess)


@njit(nogil=True, cache=True, error_model="numpy")
def _belongs_to_support(scores: NDArray[np.floating], start: int, stop: int, candidate: float, excess: float) -> bool:
    """Whether a score of the row is in the support (α > 2): with its own at 0, the others' sum must fall short of 1."""
    total = 0.0
    for index in range(start, stop):
        gap = float(scores[index]) - candidate
        if gap > 0.0:
            total += (excess * gap) ** (1.0 / excess)
            if total >= 1.0:
                return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _score_near_middle(scores: NDArray[np.floating], start: int, stop: int, low: float, high: float) -> float:
    """Of the scores strictly between ``low`` and ``high`` the one nearest to their mean; ``high`` if there is none."""
    total = 0.0
    count = 0
    for index in range(start, stop):
        score = float(scores[index])
        if low < score < high:
            total += score - high
            count += 1
    if count == 0:
        return high
    middle = high + total / count
    nearest = high
    distance = np.inf
    for index in range(start, stop):
        score = float(scores[index])
        if low < score < high and abs(score - middle) < distance:
            nearest = score
            distance = abs(score - middle)
    return nearest


@njit(nogil=True, cache=True, error_model="numpy")
def _smallest_of_support(scores: NDArray[np.floating], start: int, stop: int, highest: float, excess: float) -> float:
    """The smallest score of the support, α > 2, by cutting the candidates at their mean."""
    low, high = highest - 1.0 / excess, highest
    while True:
        candidate = _score_near_middle(scores, start, stop, low, high)
        if candidate == high:
            return high
        if _belongs_to_support(scores, start, stop, candidate, excess):
            high = candidate
        else:
            low = candidate


@njit(nogil=True, cache=True, error_model="numpy")
def row_threshold(scores: NDArray[np.floating], start: int, stop: int, alpha: float) -> tuple[float, float]:
    """Solve the row ``scores[start:stop]``: its anchor and the anchor's probability ``mass`` (see the module's text).

    With ``excess = alpha - 1`` and ``power = mass ** excess``, the probability of a score is
    ``row_probability(score, anchor, mass, power, excess)``, and the score is in the support if and only if

    - ``score >= anchor`` (α > 2),
    - ``excess * (anchor - score) < power`` (1 ≤ α ≤ 2; at α = 1 that is every score but −inf).

    A row that is empty or has only −inf gives ``(-inf, 0.0)``: all its probabilities are 0. A row with NaN or +inf
    gives ``(nan, nan)``.
    """
    highest = -np.inf
    for index in range(start, stop):
        score = float(scores[index])
        if not score < np.inf:
            return np.nan, np.nan
        highest = max(highest, score)
    if highest == -np.inf:
        return -np.inf, 0.0
    excess = alpha - 1.0
    if excess <= 1.0:
        return highest, _mass_of_highest(scores, start, stop, highest, excess)
    anchor = _smallest_of_support(scores, start, stop, highest, excess)
    count = 0
    for index in range(start, stop):
        count += float(scores[index]) >= anchor
    return anchor, _newton(scores, start, stop, anchor, 1.0 / count, excess)


@njit(nogil=True, cache=True, error_model="numpy")
def row_weight(prob: float, alpha: float) -> float:
    """``prob ** (2 - alpha)``, what an entry of the support weighs in the row's Jacobian."""
    if alpha == 1.5:
        return math.sqrt(prob)
    if alpha == 2.0:
        return 1.0
    if alpha == 1.0:
        return prob
    return min(prob ** (2.0 - alpha), MAX_WEIGHT)


@njit(nogil=True, cache=True, error_model="numpy")
def alpha_weight(prob: float, alpha: float) -> float:
    """``log(p)² · ψ((α − 1) log p)`` with ψ(x) = ∫₀¹ t·exp(xt) dt: what a score's gradient counts in that of α."""
    logarithm = math.log(prob)
    x = (alpha - 1.0) * logarithm
    if x < -0.3:
        return (1.0 + (x - 1.0) * math.exp(x)) / (alpha - 1.0) ** 2
    # The closed form cancels near 0 (α = 1, or p near 1); there the integral's series does not.
    integral = 0.0
    term = 1.0
    for order in range(12):
        integral += term / (order + 2)
        term *= x / (order + 1)
    return logarithm * logarithm * integral
