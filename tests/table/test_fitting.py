import numpy as np
import pytest

from latopo.table.fitting import FitRequest, _split, fit_table
from latopo.table.reading import RawTable
from latopo.table.target import read_target

ROWS = 50
TABLE = RawTable(
    ["x", "colour", "y"],
    [
        [f"{row % 2 + row * 0.01:.2f}" for row in range(ROWS)],
        [["red", "blue"][row % 3 % 2] for row in range(ROWS)],
        ["ab"[row % 2] for row in range(ROWS)],
    ],
)
QUICK = (("max_epochs", 3),)


def test_held_out_rows_are_not_looked_at():
    target = read_target(TABLE, "y")
    train, test = _split(target, 0.2, seed=0)
    assert np.bincount(target.values[test] == "a").tolist() == [5, 5]
    changed = RawTable(TABLE.names, [list(column) for column in TABLE.columns])
    for row in test:
        changed.columns[0][row], changed.columns[1][row] = "1000", "green"
    lines: list[str] = []
    first = fit_table(TABLE, FitRequest("y", parameters=QUICK), lines.append)
    second = fit_table(changed, FitRequest("y", parameters=QUICK), lines.append)
    assert first.run.preprocessing.to_json() == second.run.preprocessing.to_json()
    X, _ = first.run.preprocessing.transform(TABLE)
    assert np.array_equal(first.run.estimator.predict_proba(X), second.run.estimator.predict_proba(X))
    assert first.run.anchor_ids == [str(row + 1) for row in train]


def test_scores_stand_beside_baselines():
    result = fit_table(TABLE, FitRequest("y", parameters=QUICK), lambda line: None)
    assert list(result.metrics["held_out"]) == ["latopo", "logistic regression", "most frequent class"]
    assert result.metrics["held_out"]["most frequent class"] == 0.5
    assert result.targets.shape == (40,)
    numbers = fit_table(TABLE, FitRequest("x", parameters=QUICK), lambda line: None)
    assert list(numbers.metrics["held_out"]) == ["latopo", "ridge regression", "mean"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_all_rows(task):
    target = "y" if task == "classification" else "x"
    result = fit_table(TABLE, FitRequest(target, test_fraction=0.0, parameters=QUICK), lambda line: None)
    assert result.run.settings["task"] == task
    assert result.run.estimator.complex_.num_nodes == ROWS
    assert "held_out" not in result.metrics
