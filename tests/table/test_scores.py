import math

import numpy as np
import pytest

from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.table.scores import measure_fit, score_lines


@pytest.fixture(scope="module")
def blobs():
    random = np.random.RandomState(0)
    y = np.repeat(["a", "b", "c"], [30, 20, 10])
    return random.randn(60, 2) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[np.searchsorted(["a", "b", "c"], y)], y


def test_scores_of_classes(blobs):
    x, y = blobs
    train, test = (x[::2], y[::2]), (x[1::2], y[1::2])
    estimator = DCMClassifier(random_state=0, max_epochs=20).fit(*train)
    metrics = measure_fit(estimator, 30, train, test)
    guess, matrix = estimator.predict(test[0]), np.array(metrics["confusion"]["matrix"])
    assert matrix.sum() == 30
    assert matrix.trace() / 30 == metrics["held_out"]["latopo"] == (guess == test[1]).mean()
    recalls = [(guess[test[1] == name] == name).mean() for name in "abc"]
    assert [item["recall"] for item in metrics["per_class"]] == pytest.approx(recalls)
    scores = metrics["held_out_scores"]
    assert scores["latopo"]["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert scores["most frequent class"]["balanced_accuracy"] == pytest.approx(1 / 3)
    shares = np.array([1 / 2, 1 / 3, 1 / 6])
    assert scores["most frequent class"]["log_loss"] == pytest.approx(-(shares * np.log(shares)).sum())
    lines = score_lines(metrics)
    assert lines[0].startswith("  balanced accuracy: latopo ")
    assert lines[-1].startswith("  class c (5 rows): recall ")


def test_a_class_that_no_held_out_row_has(blobs):
    x, y = blobs
    estimator = DCMClassifier(random_state=0, max_epochs=5).fit(x, y)
    metrics = measure_fit(estimator, 60, (x, y), (x[:30], y[:30]))
    assert metrics["per_class"][2] == {"class": "c", "precision": 0, "recall": 0, "f1": 0, "rows": 0}
    assert math.isfinite(metrics["held_out_scores"]["latopo"]["log_loss"])


def test_scores_of_values(blobs):
    x, _ = blobs
    train, test = (x[::2], x[::2, 0]), (x[1::2], x[1::2, 0])
    estimator = DCMRegressor(random_state=0, max_epochs=20).fit(*train)
    metrics = measure_fit(estimator, 30, train, test)
    error = estimator.predict(test[0]) - test[1]
    found = metrics["held_out_scores"]["latopo"]
    assert found["mean_absolute_error"] == pytest.approx(np.abs(error).mean())
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt((error**2).mean()))
    assert "confusion" not in metrics
    assert len(score_lines(metrics)) == 2


def test_many_classes_are_cut():
    per_class = [{"class": str(n), "precision": 1.0, "recall": 1.0, "f1": 1.0, "rows": 1} for n in range(13)]
    assert score_lines({"score": "accuracy", "per_class": per_class})[-1] == "  … and 3 more classes (metrics.json)"


def test_baselines_bear_values_whose_squares_overflow():
    x = np.random.RandomState(0).randn(30, 2)
    x[3, 1] = -1e308
    y = x[:, 0]
    fitted = DCMRegressor(random_state=0, max_epochs=1).fit(x[5:], y[5:])
    metrics = measure_fit(fitted, 20, (x[:20], y[:20]), (x[20:], y[20:]))
    assert all(math.isfinite(value) for value in metrics["held_out_scores"]["ridge regression"].values())


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
def test_a_held_out_row_that_is_far_off_has_finite_scores(size):
    random = np.random.RandomState(0)
    x = random.randn(30, 2)
    y = size * (x[:, 0] + 0.1 * random.randn(30))
    x[25, 0] = 1e308
    estimator = DCMRegressor(random_state=0, max_epochs=2).fit(x[:20], y[:20])
    metrics = measure_fit(estimator, 20, (x[:20], y[:20]), (x[20:], y[20:]))
    for scores in metrics["held_out_scores"].values():
        assert all(math.isfinite(value) for value in scores.values())
