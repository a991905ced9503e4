"""What self-training does to guesses, and what it keeps."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from latopo.semi.linear import logits
from latopo.semi.self_training import guesses, row_weights, self_train, sharpen


def probabilities(rows=200, classes=3, seed=0):
    return np.random.RandomState(seed).dirichlet([3.0, 1.0, 1.0][:classes], size=rows)


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_the_more_balance_the_more_alike_the_classes(balance):
    p = probabilities()
    share, even = sharpen(p, balance).mean(0), sharpen(p, 0.0).mean(0)
    assert np.ptp(share) <= np.ptp(even) + 1e-12
    np.testing.assert_allclose(sharpen(p, balance).sum(1), 1)


def test_a_prior_is_met():
    prior = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(sharpen(probabilities(), "prior", prior).mean(0), prior, atol=0.03)


def test_labels_stay():
    p, target = probabilities(10), np.zeros((10, 3))
    target[4, 2] = 1
    assert guesses(sparse.eye_array(10), p, target, np.array([4]), 1.0)[4].tolist() == [0, 0, 1]


def test_the_guesses_weigh_rho_times_the_labels():
    weight = row_weights(100, np.array([3, 5]), 4.0)
    assert weight[3] == weight[5] == 1
    assert np.isclose(weight.sum(), 2 + 98 * 0.08)


def test_it_moves_the_border_between_two_clouds():
    x, y = make_blobs([60, 60], centers=[[-2, 0], [2, 0]], cluster_std=0.5, random_state=0)
    # The labelled rows suggest a border that is tilted; the clouds do not.
    labelled = np.array(
        [np.flatnonzero(y == 0)[np.argmax(x[y == 0, 1])], np.flatnonzero(y == 1)[np.argmin(x[y == 1, 1])]]
    )
    target = np.zeros((120, 2))
    target[labelled, y[labelled]] = 1
    score = {}
    for rho in (0.0, 4.0):
        head = self_train(sparse.eye_array(120), x, target, labelled, 10.0, rho, 1.0)
        score[rho] = np.abs(head[1] / head[0]).max()  # how far the border is from upright
        assert (logits(x, head).argmax(1) == y).mean() > 0.9
    assert score[4.0] < score[0.0]
