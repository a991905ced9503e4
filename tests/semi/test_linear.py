"""Heads beside scikit-learn's."""

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from latopo.semi.linear import logistic, logits, ridge, softmax


def data(rows=80, width=4, classes=3):
    random = np.random.RandomState(0)
    return random.randn(rows, width), random.randint(classes, size=rows)


def test_logistic_is_that_of_scikit_learn():
    x, y = data()
    head = logistic(x, np.eye(3)[y], np.ones(len(x)), c=0.7, steps=500)
    other = LogisticRegression(C=0.7, max_iter=2000, tol=1e-8).fit(x, y)
    np.testing.assert_allclose(softmax(logits(x, head)), other.predict_proba(x), atol=1e-4)


def test_a_weight_of_two_is_a_row_twice_and_zero_is_none():
    x, y = data()
    weight = np.ones(len(x))
    weight[:5], weight[5:9] = 2, 0
    kept = np.r_[0:5, 0:5, 9 : len(x)]
    first = logistic(x, np.eye(3)[y], weight, c=1.0, steps=500)
    second = logistic(x[kept], np.eye(3)[y[kept]], np.ones(len(kept)), c=1.0, steps=500)
    np.testing.assert_allclose(softmax(logits(x, first)), softmax(logits(x, second)), atol=1e-4)


def test_ridge_is_that_of_scikit_learn_in_both_shapes():
    for rows, width in ((50, 4), (6, 20)):
        x, y = np.random.RandomState(0).randn(rows, width), np.random.RandomState(1).randn(rows)
        found = logits(x, ridge(x, y, c=0.5))[:, 0]
        np.testing.assert_allclose(found, Ridge(alpha=2.0).fit(x, y).predict(x), atol=1e-8)
