import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table.target import read_target


def column(cells):
    return pd.Series(cells, name="t", dtype=object)


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["a", "b"] * 5, "classification"),
        (["0", "1"] * 5, "classification"),
        (["0.5", "1", "2"] * 3, "regression"),
        ([str(row) for row in range(30)], "regression"),
        (["1", "2", "x", "x", "1", "2"], "classification"),
        (["1", "2", "inf", "inf", "1", "2"], "classification"),
        ([0.5, 1, 2] * 3, "regression"),
        ([0, 1] * 5, "classification"),
        ([True, False] * 5, "classification"),
        # Few different numbers may be classes beside text.
        ([*(str(row % 12) for row in range(90)), "other", "other"], "classification"),
        ([*(str(row % 5 / 2) for row in range(90)), "other", "other"], "classification"),
    ],
)
def test_task_is_inferred_and_said(cells, task):
    target = read_target(column(cells))
    assert target.task == task
    assert any(task in note for note in target.notes)


def test_rows_without_target():
    target = read_target(column(["a", None, "b", "a", "b"]))
    assert target.values.tolist() == ["a", "", "b", "a", "b"]
    assert target.labelled.tolist() == [True, False, True, True, True]
    numbers = read_target(column(["1", None, "2.5"]), "regression")
    assert np.isnan(numbers.values).tolist() == [False, True, False]


def test_numbers_as_classes():
    assert read_target(pd.Series([0, 1, None, 1, 0], name="t", dtype="Int64")).values.tolist() == [
        "0",
        "1",
        "",
        "1",
        "0",
    ]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("unknown", "'t' has 90 numbers, but row 92 has 'unknown'; correct it"),
        ("n.a.", "'t' has 90 numbers, but row 92 has 'n.a.'; correct it"),
        ("inf", "'t', row 92: expected a finite number, got 'inf'; correct it"),
        ("1e400", "row 92.* '1e400'; correct it"),  # infinite or text, as the version of pandas has it
    ],
)
def test_a_few_texts_among_numbers_are_not_classes(bad, message):
    cells = column([str(row % 30) for row in range(90)] + [None, bad, bad])
    with pytest.raises(LatopoError, match=message):
        read_target(cells)
    assert read_target(cells, "classification").task == "classification"


@pytest.mark.parametrize(
    ("cells", "task", "message"),
    [
        (["a", "b"], "guess", "--task must be auto, classification or regression, got 'guess'"),
        ([None, None], "auto", "the target 't' is empty"),
        (["a", "a", None], "auto", "has only one class, 'a'; at least two are needed"),
        (["a", "a", "b"], "auto", "only one row of the class 'b'"),
        ([f"n{row}" for row in range(30)], "auto", "30 classes, most of a single row; is it an identifier"),
        (["x" * 20_000, "y"] * 2, "auto", "a class of 20,000 characters"),
        (["2.5", "2.5", None], "regression", "is always 2.5; there is nothing to learn"),
    ],
)
def test_a_target_that_cannot_be_learned(cells, task, message):
    with pytest.raises(LatopoError, match=message):
        read_target(column(cells), task)
