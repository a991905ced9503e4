import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report import Points, ReportData, ShownCell, ShownRow, ShownTable


def empty(nodes):
    return Snapshot(CellComplex(nodes, torch.zeros(2, 0, dtype=torch.int64)))


def test_points_refuse_columns_of_other_lengths_and_classes_without_a_name():
    with pytest.raises(LatopoError, match="predictions has 1 entries, but labels has 2"):
        Points(np.array([0, 1]), ("a", "b"), predictions=np.array([0]))
    with pytest.raises(LatopoError, match="labels has class 2, but 2 have names"):
        Points(np.array([0, 2]), ("a", "b"))


def test_points_say_unknown_for_minus_one():
    assert Points(np.array([0, -1]), ("a",)).class_name(-1) == "unknown"
    assert Points(np.array([0.5])).is_quantity


def test_nodes_go_by_their_name_or_number_and_have_a_class_or_none():
    points = Points(np.array([0, -1]), ("a",), names=("x", "y"))
    assert ReportData("x", points=points).name(1) == "y"
    assert ReportData("x", points=points).classes_of([1, 0]) == [-1, 0]
    assert ReportData("x").name(1) == "1"
    assert ReportData("x").classes_of([0]) == []
    assert ReportData("x", points=Points(np.array([0.5]))).classes_of([0]) == []


def test_levels_run_from_the_lowest_to_the_highest_of_a_column():
    rows = [ShownRow((name,), (ShownCell(value), ShownCell(None))) for name, value in (("a", 1.0), ("b", 3.0))]
    table = ShownTable("x", ("name",), ("one", "two"), (*rows, ShownRow(("c",), (ShownCell(None), ShownCell(7.0)))))
    assert [table.level(value, 0) for value in (1.0, 2.0, 3.0)] == [0.0, 0.5, 1.0]
    assert table.level(7.0, 1) == 0.0  # alone in its column


def test_report_data_refuse_snapshots_of_other_nodes():
    with pytest.raises(LatopoError, match=r"\[2, 3\] nodes"):
        ReportData("x", snapshots=(empty(2), empty(3)))
    with pytest.raises(LatopoError, match=r"\[2, 3\] nodes"):
        ReportData("x", points=Points(np.array([0, 0]), ("a",)), snapshots=(empty(3),))
    with pytest.raises(LatopoError, match="shown is 1"):
        ReportData("x", snapshots=(empty(2),), shown=1)


def test_the_shown_complex_is_the_last_unless_named():
    first, second = empty(2), empty(2)
    assert ReportData("x", snapshots=(first, second)).complex is second.complex
    assert ReportData("x", snapshots=(first, second), shown=0).complex is first.complex
    assert ReportData("x").complex is None
