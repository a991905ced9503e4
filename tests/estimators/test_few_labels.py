"""The few-label path of the estimators: what unlabelled rows bring, and that it behaves like the other path."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_moons
from sklearn.linear_model import LogisticRegression

from latopo.estimators import DCMClassifier, DCMRegressor, DCMTransformer, load_estimator, save_estimator


def few(y, count, seed=0):
    """y with ``count`` labels per class, −1 elsewhere."""
    random, hidden = np.random.RandomState(seed), np.full(len(y), -1)
    for label in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == label))[:count]
        hidden[rows] = label
    return hidden


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(240, noise=0.1, random_state=0)
    return X, y, DCMClassifier(unlabelled=-1, random_state=0).fit(X[:200], few(y[:200], 8))


def test_unlabelled_rows_bring_in_the_recipe(moons):
    X, y, fitted = moons
    assert type(fitted._model).__name__ == "AlphaDiffusion"
    assert (fitted.transduction_ == y[:200]).mean() > 0.93
    assert fitted.score(X[200:], y[200:]) > 0.9
    assert fitted.complex_.num_nodes == 200
    assert fitted.complex_.num_polygons > 0
    assert fitted.edge_probabilities_.shape == (fitted.complex_.num_edges,)


def test_digits_with_five_labels_beat_logistic_regression_by_far():
    X, y = load_digits(return_X_y=True)
    X, y = X[:800], y[:800]
    hidden = few(y, 5)
    others = hidden < 0
    plain = LogisticRegression(max_iter=500).fit(X[~others] / 16, y[~others]).score(X[others] / 16, y[others])
    fitted = DCMClassifier(unlabelled=-1, random_state=0).fit(X, hidden)
    assert (fitted.transduction_ == y)[others].mean() > plain + 0.03


def test_a_prediction_does_not_depend_on_the_other_rows(moons):
    X, _, fitted = moons
    together = fitted.predict_proba(X[200:])
    alone = np.concatenate([fitted.predict_proba(X[at : at + 1]) for at in range(200, 240)])
    np.testing.assert_allclose(alone, together, atol=1e-7)
    np.testing.assert_allclose(together.sum(axis=1), 1)
    rows = fitted.attachments(X[200:])
    assert rows.shape == (40, 200)
    np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_it_is_saved_and_comes_back(moons, tmp_path):
    X, _, fitted = moons
    save_estimator(fitted, tmp_path)
    again = load_estimator(tmp_path)
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    assert again.complex_.num_edges == fitted.complex_.num_edges
    assert again.complex_.num_polygons == fitted.complex_.num_polygons


def test_words_numbers_and_both():
    random = np.random.RandomState(0)
    y = random.randint(2, size=160)
    words = (random.rand(160, 60) < np.where((y[:, None] == 1) == (np.arange(60) < 30), 0.2, 0.03)).astype(float)
    words[3] = 0
    numbers = random.randn(160, 3) + 1.5 * y[:, None]
    hidden = few(y, 8)
    for X in (words, numbers, np.hstack([numbers, words]), sparse.csr_matrix(words)):
        fitted = DCMClassifier(unlabelled=-1).fit(X, hidden)
        assert (fitted.transduction_ == y).mean() > 0.85
        assert np.isfinite(fitted.predict_proba(X[:5])).all()


def test_classes_may_be_texts():
    X, y = make_moons(80, noise=0.1, random_state=0)
    names = np.where(few(y, 5) < 0, "", np.where(y == 1, "up", "down"))
    fitted = DCMClassifier(unlabelled="").fit(X, names)
    assert set(fitted.predict(X)) == {"up", "down"}


def test_values_with_few_targets():
    X = np.random.RandomState(0).uniform(0, 6, (300, 1))
    y = 100 + 20 * np.sin(X[:, 0])
    hidden = np.where(np.arange(300) < 25, y, np.nan)
    fitted = DCMRegressor(unlabelled="nan", random_state=0).fit(X[:250], hidden[:250])
    assert fitted.score(X[250:], y[250:]) > 0.8
    assert ((fitted.transduction_ - y[:250]) ** 2).mean() < 0.2 * y.var()


def test_rows_that_the_anchors_leave_out_are_answered_too():
    X, y = make_moons(200, noise=0.1, random_state=0)
    fitted = DCMClassifier(unlabelled=-1, max_anchors=120, random_state=0).fit(X, few(y, 8))
    assert fitted.complex_.num_nodes == 120
    assert (fitted.transduction_ == y).mean() > 0.85


@pytest.mark.parametrize(("estimator", "name"), [(DCMClassifier, "BranchNet"), (DCMTransformer, "BranchNet")])
def test_elsewhere_the_trained_network_stays(estimator, name):
    X, y = make_moons(60, noise=0.1, random_state=0)
    target = y if estimator is DCMClassifier else few(y, 10)
    assert type(estimator(unlabelled=-1, max_epochs=3).fit(X, target)._model).__name__ == name


def test_a_named_degree_is_kept():
    X, y = make_moons(120, noise=0.1, random_state=0)
    edges = [DCMClassifier(unlabelled=-1, degree=k).fit(X, few(y, 8)).complex_.num_edges for k in (4, 12)]
    assert edges[1] > 2 * edges[0]
