"""Weights of rows and classes: zero is absent, two is twice, and a balanced class counts as much as any other."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor, load_estimator, save_estimator
from latopo.estimators.weighting import distinct_rows, row_weights


@pytest.fixture
def table():
    x, y = make_classification(60, 5, n_informative=4, n_redundant=0, random_state=0)
    return x, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_repetitions(table, form):
    x, y = table
    weight = np.random.RandomState(0).randint(0, 4, len(y))
    order = np.random.RandomState(1).permutation(weight.sum())
    repeated = DCMClassifier(random_state=0, max_epochs=6).fit(
        form(x.repeat(weight, axis=0)[order]), y.repeat(weight)[order]
    )
    weighted = DCMClassifier(random_state=0, max_epochs=6).fit(form(x), y, sample_weight=weight)
    assert weighted.complex_.num_nodes == (weight > 0).sum()
    assert (weighted.predict_proba(form(x)) == repeated.predict_proba(form(x))).all()
    assert weighted.transduction_.shape == y.shape


def test_equal_weights_change_nothing(table):
    x, y = table
    plain, equal = (
        DCMClassifier(random_state=0, max_epochs=3).fit(x, y, sample_weight=weight)
        for weight in (None, np.full(len(y), 5))
    )
    assert (plain.predict_proba(x) == equal.predict_proba(x)).all()


def test_copies_of_a_row_share_its_transduction():
    x = np.repeat(np.random.RandomState(0).randn(12, 2), 3, axis=0)
    regressor = DCMRegressor(random_state=0, max_epochs=3).fit(x, x[:, 0])
    assert regressor.complex_.num_nodes == 12
    assert (np.ptp(regressor.transduction_.reshape(12, 3), axis=1) == 0).all()


def test_balanced_classes_raise_the_recall_of_the_rare_one():
    x, y = make_classification(400, 6, weights=[0.93], flip_y=0.05, class_sep=0.6, random_state=3)
    plain, balanced = (
        recall_score(y, DCMClassifier(random_state=0, max_epochs=30, class_weight=weight).fit(x, y).predict(x))
        for weight in (None, "balanced")
    )
    assert balanced > plain + 0.2


def test_regression_follows_the_weights():
    x = np.random.RandomState(0).randn(80, 1)
    high = np.arange(80) % 2
    weight = np.where(high, 9.0, 1.0)  # two values for every place: the mean is 0.9
    fitted = DCMRegressor(random_state=0, max_epochs=40, weight_decay=0).fit(
        x, high.astype(float), sample_weight=weight
    )
    assert 0.7 < fitted.predict(x).mean() < 1.05


def test_a_given_graph_keeps_every_row_as_a_node(table):
    x, y = table
    weight = np.where(np.arange(len(y)) < 10, 0, 1)
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    fitted = DCMClassifier(random_state=0, max_epochs=3).fit(x, y, edge_index=edges, sample_weight=weight)
    assert fitted.complex_.num_nodes == len(y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(60), "non-zero"),
        (np.ones(59), "expected 60 numbers"),
        (np.full(60, np.nan), "NaN"),
        (-np.ones(60), "no negative values, got -1"),
    ],
)
def test_bad_weights(table, weights, message):
    with pytest.raises(ValueError, match=message):
        DCMClassifier().fit(*table, sample_weight=weights)


@pytest.mark.parametrize("class_weight", ["evenly", {0: -1.0}, {7: 1.0}, {0: 1.0, 1: 0.0}])
def test_bad_class_weights(table, class_weight):
    with pytest.raises(LatopoError, match="class_weight"):
        DCMClassifier(class_weight=class_weight).fit(*table)


def test_a_model_that_learns_at_once_takes_no_weights(table):
    with pytest.raises(LatopoError, match="takes no weights"):
        DCMClassifier(model="alpha-diffusion").fit(*table, sample_weight=np.arange(60))


def test_class_weights_are_stored(table, tmp_path):
    save_estimator(DCMClassifier(max_epochs=3, class_weight={0: 2, 1: 1.0}).fit(*table), tmp_path)
    assert load_estimator(tmp_path).class_weight == {0: 2.0, 1: 1.0}


def test_distinct_rows_tell_targets_and_labels_apart():
    x = np.array([[0.0], [-0.0], [0.0], [0.0]])
    rows, node, weight = distinct_rows(x, np.array([0, 0, 1, 0]), np.array([True, True, True, False]), None)
    assert len(rows) == 3
    assert node[0] == node[1]
    assert sorted(weight) == [1, 1, 2]
    assert distinct_rows(np.arange(4.0)[:, None], np.zeros(4), np.ones(4, bool), None) is None


def test_row_weights():
    x = np.zeros((3, 1))
    assert row_weights([2, 2, 2], x) is None
    assert row_weights([1, 2, 3], x).tolist() == [1, 2, 3]
    assert row_weights(2.0, x) is None
