import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table.fitting import FitRequest, _split, fit_table
from latopo.table.target import read_target

ROWS = 50
TABLE = pd.DataFrame(
    {
        "x": [f"{row % 2 + row * 0.01:.2f}" for row in range(ROWS)],
        "colour": [["red", "blue"][row % 3 % 2] for row in range(ROWS)],
        "y": ["ab"[row % 2] for row in range(ROWS)],
    },
    dtype=object,
)
QUICK = {"max_epochs": 3}


def test_held_out_rows_are_not_looked_at():
    target = read_target(TABLE["y"])
    train, test = _split(target, 0.2, seed=0)
    assert np.bincount(target.values[test] == "a").tolist() == [5, 5]
    changed = TABLE.copy()
    changed.loc[test, ["x", "colour"]] = "1000", "green"
    lines: list[str] = []
    first = fit_table(TABLE, FitRequest("y", parameters=QUICK), lines.append)
    second = fit_table(changed, FitRequest("y", parameters=QUICK), lines.append)
    assert first.run.preprocessing == second.run.preprocessing
    X, _ = first.run.preprocessing.transform(TABLE)
    assert np.array_equal(first.run.estimator.predict_proba(X), second.run.estimator.predict_proba(X))
    assert first.run.anchor_ids == [str(row + 1) for row in train]


def test_scores_stand_beside_baselines():
    result = fit_table(TABLE, FitRequest("y", parameters=QUICK), lambda line: None)
    assert list(result.metrics["held_out"]) == ["latopo", "logistic regression", "most frequent class"]
    assert result.metrics["held_out"]["most frequent class"] == 0.5
    assert sorted(result.targets) == ["a"] * 20 + ["b"] * 20
    numbers = fit_table(TABLE, FitRequest("x", parameters=QUICK), lambda line: None)
    assert list(numbers.metrics["held_out"]) == ["latopo", "ridge regression", "mean"]


def test_columns_are_kept_if_asked_for():
    request = FitRequest("y", parameters=QUICK, drop=("colour",), keep_columns=True)
    result = fit_table(TABLE, request, lambda line: None)
    assert [column.name for column in result.columns] == [name for name in TABLE if name not in ("y", "colour")]
    rows = [int(name) - 1 for name in result.run.anchor_ids]
    assert result.columns[0].values == TABLE["x"].astype(float)[rows].tolist()
    assert fit_table(TABLE, FitRequest("y", parameters=QUICK), lambda line: None).columns is None


def test_weights_and_balance():
    weighted = TABLE.assign(w=[str(row % 3) for row in range(ROWS)])
    request = FitRequest("y", test_fraction=0.0, parameters=QUICK, weight_column="w", class_weight="balanced")
    estimator = fit_table(weighted, request, lambda line: None).run.estimator
    assert estimator.class_weight == "balanced"
    assert estimator.complex_.num_nodes == sum(row % 3 > 0 for row in range(ROWS))  # weight 0 is no row
    assert "w" not in [column.name for column in fit_table(weighted, request, print).run.preprocessing.columns]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight_column": "colour"}, "expected a finite number"),
        ({"weight_column": "nobody"}, "--weight 'nobody'"),
        ({"weight_column": "minus"}, "row 1 has no weight"),
        ({"class_weight": "rare"}, "--class-weight must be balanced"),
        ({"class_weight": "balanced", "target": "x"}, "is for classes"),
    ],
)
def test_bad_weights(changes, message):
    request = FitRequest(**{"target": "y", "parameters": QUICK, **changes})
    with pytest.raises(LatopoError, match=message):
        fit_table(TABLE.assign(minus="-1"), request, lambda line: None)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_all_rows(task):
    target = "y" if task == "classification" else "x"
    result = fit_table(TABLE, FitRequest(target, test_fraction=0.0, parameters=QUICK), lambda line: None)
    assert result.run.settings["task"] == task
    assert result.run.estimator.complex_.num_nodes == ROWS
    assert "held_out" not in result.metrics


def test_a_bad_cell_of_a_held_out_row_is_found_before_the_training(monkeypatch):
    _, test = _split(read_target(TABLE["y"]), 0.2, seed=0)
    table = TABLE.copy()
    table.loc[test[0], "x"] = "oops"
    monkeypatch.setattr("latopo.table.fitting._estimator", lambda *_: pytest.fail("trained before the check"))
    with pytest.raises(LatopoError, match=f"row {test[0] + 1} has 'oops'"):
        fit_table(table, FitRequest("y"), lambda line: None)


def test_a_column_of_row_numbers_is_left_out():
    lines: list[str] = []
    result = fit_table(TABLE.assign(nr=range(ROWS)), FitRequest("y", parameters=QUICK), lines.append)
    assert result.run.preprocessing.feature_names == ["x", "colour=red", "colour=blue"]
    assert "column 'nr': numbers of the rows, left out" in lines


@pytest.mark.parametrize(("fraction", "size"), [(0.2, 10), (0.5, 25), (0.8, 40), (0.89, 44)])
def test_the_test_fraction_is_honoured(fraction, size):
    train, test = _split(read_target(TABLE["y"]), fraction, seed=0)
    assert (len(train), len(test)) == (ROWS - size, size)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([f"c{row % 10}" for row in range(20)], "holds out 17 of 20 labelled rows, which leaves too few"),
        (["a", "b"] * 24 + ["c", "c"], "leaves no row of the class 'c' to learn from; hold out fewer"),
    ],
)
def test_a_test_fraction_that_leaves_too_little_is_refused(cells, message):
    with pytest.raises(LatopoError, match=message):
        _split(read_target(pd.Series(cells)), 0.85, seed=0)


def test_rows_that_are_not_anchors_are_not_counted_as_learned():
    request = FitRequest("y", parameters={**QUICK, "max_anchors": 20})
    metrics = fit_table(TABLE, request, lambda line: None).metrics
    assert (metrics["training_rows"], metrics["learned_rows"]) == (40, 20)
