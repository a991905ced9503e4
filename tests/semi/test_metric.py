"""Words, numbers and both: what is told apart, and what cannot break it."""

import numpy as np
import pytest
from scipy import sparse

from latopo.semi.metric import Mixture, Numbers, Words, input_metric


def bag_of_words(rows=80, words=60, seed=0):
    random = np.random.RandomState(seed)
    return (random.rand(rows, words) < 0.1).astype(float)


def test_words_are_unit_rows_of_presence_times_the_root_of_idf():
    x = bag_of_words()
    x[3] = 0
    points = Words.fit(5 * x).embed(x).points.toarray()
    idf = np.maximum(np.log(len(x) / (1 + (x > 0).sum(0))), 0)
    expected = x * np.sqrt(idf)
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(points, expected, atol=1e-6)
    assert (points[3] == 0).all()


def test_dense_and_sparse_words_are_the_same():
    x = bag_of_words()
    dense, rare = Words.fit(x).embed(x), Words.fit(sparse.csr_matrix(x)).embed(sparse.csc_matrix(x))
    np.testing.assert_allclose(dense.own, rare.own, atol=1e-6)


def test_numbers_do_not_see_units_and_constant_columns_are_zero():
    x = np.random.RandomState(0).randn(50, 3)
    x[:, 2] = 7.0
    scaled = x * [1e6, 1e-6, 1] + [5, -3, 0]
    np.testing.assert_allclose(Numbers.fit(x).embed(x).own, Numbers.fit(scaled).embed(scaled).own, atol=1e-6)
    assert (Numbers.fit(x).embed(x).own[:, 2] == 0).all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_columns_decide_on_the_metric(as_sparse):
    words, numbers = bag_of_words(), np.random.RandomState(1).randn(80, 4)
    both = np.hstack([numbers, words])
    kinds = [Words, Numbers, Mixture, Numbers]
    for x, kind in zip((words, numbers, both, words[:, :20]), kinds, strict=True):
        assert type(input_metric(sparse.csr_matrix(x) if as_sparse else x)) is kind


def test_a_mixture_hears_both_blocks():
    words, numbers = bag_of_words(), np.random.RandomState(1).randn(80, 4)
    x = np.hstack([1000 * numbers, words])
    found = input_metric(x).embed(x)
    lengths = [(found.points[:, part] ** 2).sum(1).mean() for part in (slice(-4, None), slice(None, -4))]
    assert 0.3 < lengths[0] / lengths[1] < 3
