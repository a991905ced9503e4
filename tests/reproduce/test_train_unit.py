import pytest

from latopo.data import load
from latopo.errors import LatopoError
from latopo.reproduce import Record, Unit
from latopo.reproduce.train_unit import probe_seconds, run_of, train_unit
from latopo.training import run_fold

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_unit_becomes_a_record_with_every_field():
    settings = {"epochs": 6, "gain": 5.0, "rounds": 2}
    unit = Unit("dcm", "karate", graph=True, protocol="honest", fold=2, seed=1, settings=settings)
    rows = []
    record = train_unit(unit, on_epoch=rows.append)
    assert record.unit == unit
    assert len(rows) == run_of(unit).planned_epochs
    result = run_fold(load("karate"), run_of(unit), 2)
    assert result.model.settings["rounds"] == 2
    expected = Record(unit, **{**result.summary(), "seconds": record.seconds}, extra=record.extra)
    assert record == expected
    assert record.homophily is not None
    assert record.num_polygons is not None
    assert set(record.extra) == {"search", "threads", "device"}
    assert record.extra["threads"] == 1
    assert Record.from_json(record.to_json()) == record


def test_regression_is_marked():
    record = train_unit(Unit("mlp", "diabetes", graph=False, protocol="paper", fold=0, settings={"epochs": 2}))
    assert record.metric == "r2"
    assert record.validation_score is None


def test_settings_that_no_model_knows():
    with pytest.raises(LatopoError, match="unexpected keyword argument 'depth'"):
        train_unit(Unit("mlp", "iris", graph=False, protocol="paper", fold=0, settings={"depth": 2}))


def test_a_probe_tells_seconds_or_nothing():
    def unit(**settings):
        return Unit("mlp", "iris", graph=False, protocol="honest", fold=0, settings=settings)

    assert 0 < probe_seconds(unit(epochs=100)) < 100
    assert probe_seconds(unit(epochs=30)) is None  # 50 in all: as quickly done as tried
    assert probe_seconds(unit(epochs=100, depth=2)) is None
