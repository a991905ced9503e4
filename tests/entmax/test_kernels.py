import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.entmax._kernels import alpha_weight, row_probability, row_threshold, row_weight

ALPHAS = st.sampled_from([1.0, 1.0 + 1e-6, 1.05, 1.3, 1.5, 1.8, 2.0, 2.2, 3.0, 4.0, 10.0, 100.0])
# Whole quarters make ties frequent, the rest fills the gaps between them.
SCORES = st.lists(st.one_of(st.integers(-12, 12).map(lambda n: n / 4), st.floats(-3, 3)), min_size=1, max_size=40)


def probabilities(scores: np.ndarray, alpha: float) -> np.ndarray:
    anchor, mass = row_threshold(scores, 0, len(scores), alpha)
    power = mass ** (alpha - 1)
    return np.array([row_probability(float(score), anchor, mass, power, alpha - 1) for score in scores])


@settings(deadline=None, max_examples=200)
@given(SCORES, ALPHAS, st.sampled_from([0.01, 1.0, 30.0]))
def test_row_meets_the_optimality_conditions(values, alpha, scale):
    scores = scale * np.array(values)
    prob = probabilities(scores, alpha)
    assert abs(prob.sum() - 1) < 1e-14
    assert (prob >= 0).all()
    excess = alpha - 1
    inside = prob > 0
    if excess == 0:
        np.testing.assert_allclose(
            prob, np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum(), atol=1e-15
        )
        return
    # p^(α−1) = (α−1) s − τ on the support, with one τ for the row, and (α−1) s ≤ τ outside it.
    lowered = excess * (scores - scores.max())
    tau = lowered[inside] - prob[inside] ** excess
    assert np.ptp(tau) < 1e-13
    assert (lowered[~inside] <= tau.max() + 1e-13).all()


@settings(deadline=None, max_examples=100)
@given(SCORES, ALPHAS)
def test_support_is_the_documented_inequality(values, alpha):
    scores = np.array(values)
    anchor, mass = row_threshold(scores, 0, len(scores), alpha)
    prob = probabilities(scores, alpha)
    excess = alpha - 1
    rule = scores >= anchor if alpha > 2 else excess * (anchor - scores) < mass**excess
    # Rounding decides about entries whose probability is nothing.
    assert (rule == (prob > 0))[(prob > 1e-15) | ~rule].all()
    assert prob[rule].sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("alpha", [2.1, 3.0, 4.0])
@pytest.mark.parametrize("small", [1e-3, 1e-9, 1e-15])
def test_the_smallest_probability_is_found(alpha, small):
    # Two scores, so far apart that the second one is just in the support.
    excess = alpha - 1
    gap = ((1 - small) ** excess - small**excess) / excess
    anchor, mass = row_threshold(np.array([0.0, -gap, -9.0]), 0, 3, alpha)
    assert anchor == -gap
    assert mass == pytest.approx(small, abs=2e-16, rel=1e-12)


def test_row_is_a_slice_and_float32_is_solved_in_float64():
    scores = np.array([9.0, 0.5, 0.0, 0.25, 9.0], dtype=np.float32)
    for alpha in (1.3, 1.5, 2.0, 3.0):
        anchor, mass = row_threshold(scores, 1, 4, alpha)
        assert (anchor, mass) == pytest.approx(row_threshold(scores[1:4].astype(np.float64), 0, 3, alpha), abs=1e-13)


@pytest.mark.parametrize("alpha", [1.0, 1.4, 1.5, 2.0, 5.0])
def test_rows_without_a_solution(alpha):
    assert row_threshold(np.array([]), 0, 0, alpha) == (-np.inf, 0.0)
    assert row_threshold(np.array([-np.inf, -np.inf]), 0, 2, alpha) == (-np.inf, 0.0)
    assert np.isnan(row_threshold(np.array([0.0, np.nan]), 0, 2, alpha)).all()
    assert np.isnan(row_threshold(np.array([np.inf, 0.0]), 0, 2, alpha)).all()


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.9, 2.0, 2.5])
@pytest.mark.parametrize("size", [3, 300, 30_000])
def test_hard_rows_still_sum_to_one(alpha, size):
    # Distances to the maximum over many orders of magnitude, where Newton's iteration leaves one entry at a time.
    for distances in (np.geomspace(1e-12, 1, size), 1 - np.geomspace(1, 1e-9, size), np.sqrt(np.arange(size)) / size):
        assert abs(probabilities(-distances, alpha).sum() - 1) < 1e-12


def test_weights_of_the_gradient():
    for alpha in (1.0, 1.5, 2.0, 1.7, 3.0):
        assert row_weight(0.3, alpha) == pytest.approx(0.3 ** (2 - alpha), rel=1e-15)
    assert row_weight(1e-40, 100.0) == 1e30


@pytest.mark.parametrize("alpha", [1.0, 1.0 + 1e-9, 1.01, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("prob", [1.0, 0.9, 0.4, 1e-3, 1e-30])
def test_alpha_weight_is_the_integral(prob, alpha):
    logarithm = math.log(prob)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    t = (nodes + 1) / 2
    integral = (weights / 2 * t * np.exp((alpha - 1) * logarithm * t)).sum()
    assert alpha_weight(prob, alpha) == pytest.approx(logarithm**2 * integral, rel=1e-10, abs=1e-300)
