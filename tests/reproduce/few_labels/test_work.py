"""Units, records and the store."""

import pytest

from latopo.errors import LatopoError
from latopo.reproduce.few_labels.work import FewLabelsRecord, plan_few_labels, run_unit
from latopo.reproduce.store import Store
from latopo.reproduce.work import do_units


def test_a_stopped_run_goes_on(tmp_path):
    units = plan_few_labels(["iris-tables-5"], ["logistic", "k-nn"], [0, 1])
    assert len(units) == 4
    assert do_units(run_unit, units[:3], Store(tmp_path, FewLabelsRecord)) == []
    again = Store(tmp_path, FewLabelsRecord)
    done = []
    do_units(run_unit, units, again, on_end=lambda unit, outcome: done.append(unit))
    assert done == units[3:]
    records = Store(tmp_path, FewLabelsRecord).records()
    assert [record.unit for record in records] == units
    assert all(0.5 < record.accuracy <= 1 and record.num_train == 15 for record in records)


def test_the_ceiling_needs_a_graph_and_the_folds_have_the_recipe_alone():
    assert not plan_few_labels(["tables"], ["gcn"])
    assert {unit.model for unit in plan_few_labels(["folds"])} == {"alpha-diffusion"}
    assert len(plan_few_labels(["cora-public-20"], ["logistic"])) == 1
    with pytest.raises(LatopoError, match="no model 'gnc'"):
        plan_few_labels(models=["gnc"])


def test_a_record_from_elsewhere_is_refused():
    with pytest.raises(LatopoError, match="FewLabelsRecord: resolved None is not defined"):
        FewLabelsRecord.from_json({"model": "k-nn"}, {})
