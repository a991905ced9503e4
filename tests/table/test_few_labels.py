"""Tables with few labels: hidden ones, empty ones, and what the report of a fit says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons

from latopo.errors import LatopoError
from latopo.table.few_labels import WITHOUT, hide_labels, semi_supervised_answers
from latopo.table.fitting import FitRequest, fit_table
from latopo.table.target import read_target


def iris():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["s", "c", "v"])[y])


def moons(labels):
    X, y = make_moons(200, noise=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(side=np.array(["up", "down"])[y])
    for label in ("up", "down"):
        frame.loc[frame.index[frame.side == label][labels:], "side"] = None
    return frame


def test_so_many_labels_per_class_are_kept():
    target, hidden = hide_labels(read_target(iris().kind), 4, seed=1)
    assert target.labelled.sum() == 12
    assert len(hidden) == 138
    assert not target.labelled[hidden].any()
    with pytest.raises(LatopoError, match="keep fewer labels"):
        hide_labels(read_target(iris().kind), 50, seed=1)
    with pytest.raises(LatopoError, match="a regression has none"):
        hide_labels(read_target(iris().a), 5, seed=1)


def test_a_rehearsal_scores_the_hidden_labels():
    said = []
    result = fit_table(iris(), FitRequest("kind", labels=5), said.append)
    scores = result.metrics["held_out"]
    assert result.metrics["held_out_rows"] == 135
    assert list(scores)[:4] == ["latopo", WITHOUT, "self-training", "label spreading"]
    assert scores["latopo"] > 0.8
    assert sum(value is not None for value in result.targets) == 15
    assert any("135 rows without a label brought" in line for line in said)


def test_a_rehearsal_has_every_score_of_the_rows_as_they_are_in_the_complex():
    frame = iris()
    result = fit_table(frame, FitRequest("kind", labels=5), lambda line: None)
    metrics, estimator = result.metrics, result.run.estimator
    _, hidden = hide_labels(read_target(frame.kind), 5, seed=0)
    truth, guess = frame.kind.to_numpy()[hidden], estimator.transduction_[hidden]
    own = metrics["held_out_scores"]["latopo"]
    assert own["accuracy"] == metrics["held_out"]["latopo"] == (guess == truth).mean()
    recalls = [(guess[truth == name] == name).mean() for name in "csv"]
    assert own["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert [item["recall"] for item in metrics["per_class"]] == pytest.approx(recalls)
    given = estimator.label_distributions_[hidden, np.searchsorted(estimator.classes_, truth)]
    assert own["log_loss"] == pytest.approx(-np.log(given).mean())
    assert list(metrics["held_out_scores"]) == list(metrics["held_out"])


def test_rows_that_no_label_spreads_to_may_be_anything():
    class Alone:
        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    X = np.concatenate([np.zeros((9, 1)), np.ones((9, 1))]) + np.arange(18)[:, None] / 1000
    labels = np.array(["a", "b", *[""] * 16])
    answers = semi_supervised_answers(Alone(), X, labels, labels != "", X[[0, 17]])
    assert answers["label spreading"][1].tolist() == [0.5, 0.5]
    assert answers["label spreading"][0].tolist() != [0.5, 0.5]


def test_empty_targets_are_learned_from_and_it_is_said_what_they_brought():
    said = []
    result = fit_table(moons(labels=15), FitRequest("side"), said.append)
    assert type(result.run.estimator._model).__name__ == "AlphaDiffusion"
    assert any("170 rows without a label brought" in line for line in said)
    assert result.metrics["held_out"]["latopo"] >= 0.8


def test_a_full_target_is_fitted_as_ever():
    said = []
    result = fit_table(iris(), FitRequest("kind", parameters={"max_epochs": 3}), said.append)
    assert WITHOUT not in result.metrics["held_out"]
    assert not any("brought" in line for line in said)
