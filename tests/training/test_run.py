import json
from dataclasses import replace
from pathlib import Path

import pytest

from latopo.errors import LatopoError
from latopo.models import SYSTEMS
from latopo.reproduce.record import Hashed
from latopo.training import Run
from latopo.training.run import WEIGHT_DECAYS


def test_epochs_and_gain_follow_the_data_set():
    assert Run("cora", "mlp").training().epochs == 200
    assert Run("Squirrel", "mlp").training().epochs == 100
    gain = lambda *run, **options: Run(*run, **options).model_settings().latent.sampler.gain  # noqa: E731
    assert gain("cora", "dcm") == 50.0
    assert gain("chameleon", "dcm-all", graph=True) == 15.0
    assert gain("cornell", "dcm") == 50.0
    assert gain("texas", "dcm", settings={"gain": 9.0}) == 9.0
    for name in ("dcm-plus", "alpha-dgm", "dgm-e", "mlp", "topk-dcm"):
        assert Run("cora", name).model_settings() == SYSTEMS[name].resolved(graph=False)


def test_settings_go_where_they_belong():
    run = Run("texas", "dcm-plus", seed=3, settings={"epochs": 12, "lr": 0.1, "rounds": 2})
    assert (run.training().epochs, run.training().lr, run.training().seed) == (12, 0.1, 3)
    assert run.model_settings() == SYSTEMS["dcm-plus"].resolved(graph=False).change(rounds=2)


def test_a_changed_preset_is_another_run(monkeypatch):
    before = Run("texas", "dcm-plus").resolved()
    assert before == json.loads(json.dumps(before))
    assert Run("texas", "dcm-plus", settings={"rounds": 1, "epochs": 100}).resolved() == before  # defaults, named
    assert Run("texas", "dcm-plus", settings={"rounds": 2}).resolved() != before
    assert Run("texas", "dcm-plus", graph=True).resolved() != before
    system = SYSTEMS["dcm-plus"]
    monkeypatch.setitem(SYSTEMS, "dcm-plus", replace(system, settings=system.settings.change(degree=6.0)))
    assert Run("texas", "dcm-plus").resolved() != before


def test_weight_decay_is_searched_under_honest_only():
    assert Run("texas", "mlp").weight_decays == WEIGHT_DECAYS == (1e-4, 5e-4, 5e-3)
    assert Run("texas", "mlp", protocol="paper").weight_decays == (5e-4,)
    assert Run("texas", "mlp", settings={"weight_decay": 0.1}).weight_decays == (0.1,)


@pytest.mark.parametrize(("epochs", "rung"), [(200, 69), (100, 36), (9, 3), (3, 3), (2, 2)])
def test_first_rung_is_a_third_and_ends_with_an_evaluation(epochs, rung):
    run = Run("texas", "mlp", settings={"epochs": epochs})
    assert run.first_rung == rung
    assert run.planned_epochs == epochs + 2 * rung
    assert Run("texas", "mlp", protocol="paper", settings={"epochs": epochs}).planned_epochs == epochs


def test_patience_takes_the_place_of_the_papers_epochs():
    run = Run("texas", "mlp", protocol="patient")
    assert (run.training().epochs, run.training().patience) == (1000, 50)
    assert (run.first_rung, run.weight_decays) == (Run("texas", "mlp").first_rung, WEIGHT_DECAYS)
    assert Run("texas", "mlp", protocol="patient", settings={"epochs": 9}).first_rung == 3
    for dataset, model in (("texas", "dcm-fused"), ("mutag", "gin")):
        with pytest.raises(LatopoError, match=f"{model} cannot be run under --protocol patient; use honest"):
            Run(dataset, model, graph=True, protocol="patient")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dataset": "texs", "model": "mlp"}, "no data set 'texs'; did you mean 'texas'"),
        ({"dataset": "texas", "model": "mpl"}, "expected one of mlp, gcn.*got 'mpl'"),
        ({"dataset": "texas", "model": "gcn"}, "gcn needs a graph; add --graph"),
        ({"dataset": "wine", "model": "dcm", "graph": True}, "Wine is a table and has no graph"),
        ({"dataset": "wine", "model": "dcm", "protocol": "fair"}, "expected one of honest, paper, patient, got 'fair'"),
        ({"dataset": "wine", "model": "dcm", "settings": {"epochs": 0}}, "epochs must be a whole number of at least 1"),
    ],
)
def test_bad_runs_are_refused_before_loading(arguments, message):
    with pytest.raises(LatopoError, match=message):
        Run(**arguments)


def test_the_released_settings_follow_the_data_set_and_have_no_weight_decay():
    for dataset, normalize in (("texas", True), ("cora", True), ("cs", False), ("physics", False), ("cornell", True)):
        assert Run(dataset, "dcm-released").model_settings().normalize_rows is normalize
        assert not Run(dataset, "dcm").model_settings().normalize_rows
    for protocol in ("honest", "paper"):
        run = Run("texas", "dcm-released", protocol=protocol)
        assert run.weight_decays == (0.0,)
        assert run.training().weight_decay == 0.0
        assert run.model_settings().latent.sampler.gain == 5.0
    assert Run("texas", "dcm-released", settings={"weight_decay": 5e-4}).weight_decays == (5e-4,)


@pytest.mark.parametrize(
    ("run", "stored"),
    [
        (("texas", "dcm"), "b8bb97e43e310756"),
        (("citeseer", "dcm-plus", True), None),
        (("cora", "dcm-judged", True), None),
    ],
)
def test_settings_that_were_added_later_leave_stored_runs_as_they_are(run, stored):
    plain = {name: value for name, value in Run(*run).resolved().items() if name != "seed"}
    known = (Path(__file__).parents[2] / "results" / "records.jsonl").read_text()
    assert Hashed(plain).hash in known
    assert stored is None or Hashed(plain).hash == stored
    assert "search" not in str(plain)
    assert Run(*run, settings={"search": "exact"}).resolved() == Run(*run).resolved()
    assert Run(*run, settings={"search": "auto"}).resolved()["settings"]["latent"]["sampler"]["search"] == "auto"
