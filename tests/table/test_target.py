import numpy as np
import pytest

from latopo.errors import LatopoError
from latopo.table.reading import RawTable
from latopo.table.target import read_target


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["a", "b"] * 5, "classification"),
        (["0", "1"] * 5, "classification"),
        (["0.5", "1", "2"] * 3, "regression"),
        ([str(row) for row in range(30)], "regression"),
        (["1", "2", "x", "x", "1", "2"], "classification"),
    ],
)
def test_task_is_inferred_and_said(cells, task):
    target = read_target(RawTable(["t"], [cells]), "t")
    assert target.task == task
    assert any(task in note for note in target.notes)


def test_rows_without_target():
    target = read_target(RawTable(["t"], [["a", None, "b", "a", "b"]]), "t")
    assert target.values.tolist() == ["a", "", "b", "a", "b"]
    assert target.labelled.tolist() == [True, False, True, True, True]
    numbers = read_target(RawTable(["t"], [["1", None, "2.5"]]), "t", "regression")
    assert np.isnan(numbers.values).tolist() == [False, True, False]


@pytest.mark.parametrize("bad", ["unknown", "n.a.", "inf", "1e400"])
def test_a_few_texts_among_numbers_are_no_classes(bad):
    table = RawTable(["t"], [[str(row % 30) for row in range(90)] + [None, bad, bad]])
    with pytest.raises(LatopoError, match=f"'t' has 90 numbers, but row 92 has '{bad}'; correct it"):
        read_target(table, "t")
    assert read_target(table, "t", "classification").task == "classification"


@pytest.mark.parametrize("numbers", [[str(row % 12) for row in range(90)], [str(row % 5 / 2) for row in range(90)]])
def test_few_different_numbers_may_be_classes_beside_text(numbers):
    assert read_target(RawTable(["t"], [[*numbers, "other", "other"]]), "t").task == "classification"
