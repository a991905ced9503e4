import numpy as np
import pytest
from scipy.stats import kstest

from latopo.neighbors import _topk


@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("k", [1, 6])
def test_noise_is_left_out_only_where_it_cannot_matter(scale, k):
    rng = np.random.default_rng(0)
    similarity, seed = -np.sqrt(rng.exponential(size=(30, 200))), np.uint64(7)
    scores = similarity * similarity * -scale
    chosen = np.empty((30, k), np.int64)
    _topk.choose_rows(similarity, scale, 50, k, True, seed, chosen)
    with np.errstate(over="ignore"):
        tails = [[_topk.upper_tail(seed, (50 + i) * 200 + j) for j in range(200)] for i in range(30)]
    noisy = scores - np.log(-np.log1p(-np.array(tails)))
    noisy[np.arange(30), 50 + np.arange(30)] = -np.inf
    assert np.array_equal(chosen, np.sort(np.argsort(-noisy, axis=1)[:, :k], axis=1))


def test_the_noise_is_uniform_before_it_is_gumbel():
    tails = [_topk.upper_tail(np.uint64(11), index) for index in range(100_000)]
    assert kstest(tails, "uniform").pvalue > 0.01


def test_without_noise_the_largest_and_of_equal_ones_the_first():
    similarity = -np.array([[0.0, 1.0, 2.0, 1.0, 1.0], [3.0, 1.0, 3.0, 4.0, 3.0]])
    chosen = np.empty((2, 2), np.int64)
    _topk.choose_rows(similarity, 1.0, 0, 2, False, np.uint64(0), chosen)
    assert chosen.tolist() == [[1, 3], [0, 2]]
