"""Temperatures and weights."""

import numpy as np

from latopo.semi.fusion import branch_weights, judge_classes, judge_values, tempered


def test_a_boaster_is_cooled_and_a_timid_branch_is_made_surer():
    random = np.random.RandomState(0)
    label = random.randint(2, size=400)
    right = random.rand(400) < 0.8
    said = np.where(right, label, 1 - label)

    def branch(sure):
        p = np.full((400, 2), 1 - sure)
        p[np.arange(400), said] = sure
        return p

    for sure in (0.99, 0.6):
        judged = judge_classes(branch(sure), label)
        assert (judged.temperature < 1) == (sure > 0.8)
        assert abs(tempered(branch(sure), judged.temperature).max(axis=1).mean() - 0.8) < 0.08
        assert abs(judged.score - right.mean()) < 1e-12


def test_weights_follow_the_likelihood_and_its_count():
    losses = np.array([0.2, 0.4])
    few, many = branch_weights(losses, 5, 0.5), branch_weights(losses, 50, 0.5)
    np.testing.assert_allclose(few[0] / few[1], np.exp(0.5 * 5 * 0.2))
    assert many[0] > few[0]


def test_values_are_judged_by_their_error():
    value = np.arange(10.0)
    near, far = judge_values(value + 0.1, value), judge_values(value + 2, value)
    assert near.loss < far.loss
    assert near.score > far.score
    assert np.isclose(far.temperature, 2)
