from dataclasses import replace

import pytest
import torch

from latopo.data import load
from latopo.errors import LatopoError
from latopo.reproduce import Record, Store, Unit, plan_units, train_unit, train_units
from latopo.reproduce import work as module
from latopo.reproduce.work import probe_seconds
from latopo.training import run_fold

pytestmark = pytest.mark.usefixtures("one_thread")
UNITS = plan_units("table2", ["iris"], ["mlp"], folds=range(3), protocols=["paper"], settings={"epochs": 3})


def test_a_unit_becomes_a_record_with_every_field():
    settings = {"epochs": 6, "gain": 5.0, "rounds": 2}
    unit = Unit("dcm", "karate", graph=True, protocol="honest", fold=2, seed=1, settings=settings)
    rows = []
    record = train_unit(unit, on_epoch=rows.append)
    assert len(rows) == unit.run.planned_epochs
    result = run_fold(load("karate"), unit.run, 2)
    assert result.model.settings.latent.rounds == 2
    assert record == Record(
        unit, **{**result.summary(), "seconds": record.seconds}, search=tuple(result.search.items()),
        environment=record.environment,
    )  # fmt: skip
    assert record.homophily is not None
    assert record.num_polygons is not None
    assert [decay for decay, _ in record.search] == [1e-4, 5e-4, 5e-3]
    assert record.resolved == unit.resolved()
    assert record.environment["torch"] == torch.__version__
    assert (record.environment["threads"], record.environment["device"]) == (1, "cpu")


def test_regression_is_marked():
    record = train_unit(Unit("mlp", "diabetes", graph=False, protocol="paper", fold=0, settings={"epochs": 2}))
    assert record.metric == "r2"
    assert record.validation_score is None


def test_settings_that_no_model_knows():
    with pytest.raises(LatopoError, match="model mlp: depth: there is no such setting"):
        train_unit(Unit("mlp", "iris", graph=False, protocol="paper", fold=0, settings={"depth": 2}))


def test_a_probe_tells_seconds_or_nothing():
    def unit(**settings):
        return Unit("mlp", "iris", graph=False, protocol="honest", fold=0, settings=settings)

    assert 0 < probe_seconds(unit(epochs=100)) < 100
    assert probe_seconds(unit(epochs=30)) is None  # 50 in all: as quickly done as tried
    assert probe_seconds(unit(epochs=100, lr=1e30)) is None  # it fails


def test_finished_units_are_skipped(tmp_path):
    started, ended = [], []
    assert train_units(UNITS[:1], Store(tmp_path)) == []
    train_units(
        UNITS, Store(tmp_path), on_start=lambda unit: started.append(unit),
        on_end=lambda unit, record: ended.append((unit, record.unit)),
    )  # fmt: skip
    assert started == UNITS[1:]
    assert ended == [(unit, unit) for unit in UNITS[1:]]
    assert [record.unit for record in Store(tmp_path).records()] == UNITS


def test_a_failed_unit_does_not_stop_the_others(tmp_path, monkeypatch):
    ended = []

    def diverge_at_second(unit, *arguments):
        if unit == UNITS[1]:
            raise LatopoError("the loss became nan")
        return train_unit(unit, *arguments)

    monkeypatch.setattr(module, "train_unit", diverge_at_second)
    failed = train_units(UNITS, Store(tmp_path), on_end=lambda unit, outcome: ended.append(str(outcome)))
    assert failed == [UNITS[1]]
    assert ended[1] == "the loss became nan"
    assert [record.unit for record in Store(tmp_path).records()] == [UNITS[0], UNITS[2]]


def test_another_error_keeps_what_is_done(tmp_path, monkeypatch):
    def break_at_second(unit, *arguments):
        if unit == UNITS[1]:
            raise MemoryError("out of memory")
        return train_unit(unit, *arguments)

    monkeypatch.setattr(module, "train_unit", break_at_second)
    with pytest.raises(MemoryError, match="out of memory"):
        train_units(UNITS, Store(tmp_path))
    assert [record.unit for record in Store(tmp_path).records()] == UNITS[:1]


def test_numbers_do_not_depend_on_the_number_of_jobs(tmp_path):
    for jobs in (1, 2):
        assert train_units(UNITS, Store(tmp_path / str(jobs)), jobs) == []
    alone, shared = (
        {record.key: replace(record, seconds=0.0) for record in Store(tmp_path / str(jobs)).records()}
        for jobs in (1, 2)
    )
    assert alone == shared
