from dataclasses import replace

import numpy as np
import pytest

from latopo.report import Points, ReportData
from latopo.report.confusion import confusion_matrix, find_confusion


def test_the_matrix_counts_test_points_where_there_are_any(run):
    # Test points: 2 (class 0, predicted 1) and 3 (class 1, predicted 1).
    assert confusion_matrix(run.points).tolist() == [[0, 1], [0, 1]]
    everywhere = replace(run.points, roles=None)
    assert confusion_matrix(everywhere).tolist() == [[2, 1], [0, 2]]
    assert confusion_matrix(replace(run.points, predictions=None)) is None


@pytest.mark.parametrize(
    ("roles", "kind", "correct", "total"),
    [(np.array([0, 0, 2, 2, 1, -1]), "test", 1, 2), (None, "", 4, 5), (np.zeros(6, np.int64), "training", 4, 5)],
)
def test_it_says_which_points_it_counts(run, roles, kind, correct, total):
    found = find_confusion(replace(run, points=replace(run.points, roles=roles)))
    assert (found.kind, found.correct, found.total) == (kind, correct, total)


def test_a_given_matrix_is_of_test_points(run):
    found = find_confusion(replace(run, confusion=np.array([[3, 1], [0, 2]])))
    assert (found.kind, found.correct, found.total) == ("test", 5, 6)


def test_many_classes_are_cut_to_the_most_frequent():
    labels = np.concatenate([np.arange(40), np.arange(10, 40)])  # the first ten classes are rarer
    names = tuple(f"c{code}" for code in range(40))
    found = find_confusion(ReportData("x", points=Points(labels, names, predictions=labels)))
    assert found.names == names[10:]
    assert found.matrix.tolist() == (2 * np.eye(30, dtype=int)).tolist()
    assert (found.correct, found.total) == (70, 70)


def test_without_predicted_classes_there_is_none(run):
    assert find_confusion(ReportData("x")) is None
    assert find_confusion(replace(run, points=Points(np.arange(6.0), predictions=np.arange(6.0)))) is None
    nobody = replace(run.points, predictions=np.full(6, -1))
    assert find_confusion(replace(run, points=nobody)) is None
