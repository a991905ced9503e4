from dataclasses import replace

import numpy as np

from latopo.report import Points
from latopo.report.facts import measure_complex
from latopo.report.topology import topology_table


def table_of(run):
    return topology_table(run, [measure_complex(snapshot.complex, run.points) for snapshot in run.snapshots])


def test_a_column_has_a_cell_for_each_moment(run):
    table = table_of(run)
    assert table["edges"] == ["2", "4", "7"]
    assert table["homophily"] == ["100 %", "100 %", "80 %"]
    assert table["polygons kept"] == ["–", "100 %", "50 %"]  # something to say in one moment at least
    assert "correlation of values" not in table


def test_no_column_is_all_dashes(run):
    values = Points(np.arange(6.0))
    table = table_of(replace(run, points=values, snapshots=run.snapshots[:1]))
    assert {"homophily", "pure polygons", "polygons kept"}.isdisjoint(table)
    assert not any(set(cells) == {"–"} for cells in table.values())
    assert len(table["correlation of values"]) == 1
