from dataclasses import replace

import pytest
import torch

from latopo import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report import ReportData
from latopo.report.comparison import compare_runs


def test_cells_are_counted_and_polygons_named(run):
    first, second = replace(run, shown=1), run
    forth, back = compare_runs(first, second), compare_runs(second, first)
    assert forth.counts == {"edges": (4, 0, 3), "polygons": (1, 0, 1)}
    assert back.counts == {"edges": (4, 3, 0), "polygons": (1, 1, 0)}
    assert forth.only_first == back.only_second == []
    assert [item.corners for item in forth.only_second] == [(2, 3, 4, 5)]
    assert back.only_first == forth.only_second


def test_runs_on_other_points_cannot_be_compared(run):
    smaller = ReportData("small", snapshots=(Snapshot(CellComplex(2, torch.tensor([[0], [1]]))),))
    with pytest.raises(LatopoError, match="different points \\(6 and 2\\)"):
        compare_runs(run, smaller)
    with pytest.raises(LatopoError, match="none has no complex to compare"):
        compare_runs(run, ReportData("none"))
    others = replace(run.points, names=("a", "b", "c", "d", "e", "f"))
    with pytest.raises(LatopoError, match="different points"):
        compare_runs(run, replace(run, points=others))
