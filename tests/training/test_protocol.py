import math

import pytest
import torch

from latopo.data import load, split
from latopo.models import build_model
from latopo.training import Run, TrainingSettings, run_fold, seeded, train
from latopo.training.protocol import predictions

QUICK = {"epochs": 9, "hidden_channels": 8}


@pytest.fixture
def iris():
    return load("iris")


@pytest.mark.parametrize("name", ["mlp", "dcm", "dcm-plus"])
def test_honest_never_looks_at_the_test_fold(iris, name):
    settings = {**QUICK, "gain": 8.0} if name == "dcm" else QUICK
    run = Run("iris", name, settings=settings)
    test = split(150, 0, 3).test
    noisy = iris.clone()
    noisy.y[test] = (noisy.y[test] + 1 + torch.arange(len(test)) % 2) % 3
    plain, other = run_fold(iris, run, 3), run_fold(noisy, run, 3)
    assert plain.training.history == other.training.history
    assert plain.training.best_epoch == other.training.best_epoch
    assert (plain.weight_decay, plain.search) == (other.weight_decay, other.search)
    for key, weights in plain.model.state_dict().items():
        assert torch.equal(weights, other.model.state_dict()[key])
    wanted = ("test_score", "homophily", "seconds")
    kept, changed = ({k: v for k, v in fold.summary().items() if k not in wanted} for fold in (plain, other))
    assert kept == changed
    # Only the final score sees the labels: every one of them is now another class.
    right = plain.training.best_output.prediction.argmax(1)[test] == iris.y[test]
    assert plain.test_score == pytest.approx(float(right.double().mean()))
    right = right | (plain.training.best_output.prediction.argmax(1)[test] == noisy.y[test])
    assert plain.test_score + other.test_score == pytest.approx(float(right.double().mean()))


def test_paper_reports_the_best_test_score(iris):
    result = run_fold(iris, Run("iris", "mlp", protocol="paper", settings=QUICK), 0)
    seen = [row["selection_score"] for row in result.training.history if row["selection_score"] is not None]
    assert result.test_score == max(seen)
    assert result.weight_decay == 5e-4
    assert result.search == {}
    assert result.split.val is None
    assert result.summary()["validation_score"] is None
    assert (result.summary()["num_train"], result.summary()["num_test"]) == (135, 15)


def test_the_chosen_decay_is_the_best_and_its_training_the_unbroken_one(iris):
    run = Run("iris", "mlp", seed=4, settings=QUICK)
    result = run_fold(iris, run, 1)
    nodes = split(150, 0, 1)
    alone = {}
    for decay in run.weight_decays:
        with seeded(4):
            model = build_model("mlp", 4, 3, hidden_channels=8)
        settings = TrainingSettings(epochs=9, weight_decay=decay, seed=4)
        alone[decay] = train(model, iris.x, iris.y, None, nodes.train, nodes.val, settings, num_classes=3)
    merit = {}
    for decay, outcome in alone.items():
        rows = [row for row in outcome.history[:3] if row["selection_score"] is not None]
        merit[decay] = max((row["selection_score"], -row["selection_loss"]) for row in rows)
    assert result.search == {decay: score for decay, (score, _) in merit.items()}
    assert result.weight_decay == max(merit, key=merit.get)
    assert result.training.history == alone[result.weight_decay].history


def test_every_planned_epoch_is_reported(iris):
    for protocol in ("honest", "paper"):
        run, rows = Run("iris", "mlp", protocol=protocol, settings=QUICK), []
        run_fold(iris, run, 0, on_epoch=rows.append)
        assert len(rows) == run.planned_epochs


def test_summary_describes_the_reported_complex():
    data = load("karate")
    run = Run("karate", "dcm", graph=True, settings={**QUICK, "gain": 5.0})
    result = run_fold(data, run, 2, snapshot_epochs=(4,))
    complex = result.training.best_output.complex
    assert list(result.training.snapshots) == [4]
    u, v = complex.edge_index
    found = result.summary()
    assert found["homophily"] == pytest.approx(float((data.y[u] == data.y[v]).double().mean()))
    assert found["mean_degree"] == pytest.approx(2 * complex.num_edges / 34)
    assert found["num_polygons"] == complex.num_polygons
    assert found["best_epoch"] == result.training.best_epoch
    assert found["num_parameters"] == sum(p.numel() for p in result.model.parameters())
    assert not found["budget_sampled"]
    assert found["seconds"] > 0
    again = result.model(data.x, data.edge_index).prediction
    assert torch.allclose(again, result.training.best_output.prediction, atol=1e-6)


def test_a_baseline_has_no_complex(iris):
    found = run_fold(iris, Run("iris", "mlp", settings=QUICK), 0).summary()
    assert found["homophily"] is found["mean_degree"] is found["num_polygons"] is found["kept_share"] is None


def test_predictions_in_their_units(iris):
    result = run_fold(iris, Run("iris", "mlp", settings=QUICK), 0)
    classes, sure = predictions(iris, result)
    test = result.split.test
    assert float((classes == iris.y)[test].double().mean()) == pytest.approx(result.test_score)
    assert 1 / 3 <= float(sure.min()) <= float(sure.max()) <= 1

    data = load("diabetes")
    result = run_fold(data, Run("diabetes", "mlp", settings={"epochs": 60, "lr": 0.05}), 0)
    values, sure = predictions(data, result)
    test = result.split.test
    residual = (values - data.y)[test].square().sum() / (data.y[test] - data.y[test].mean()).square().sum()
    assert result.test_score == pytest.approx(float(1 - residual), abs=1e-4)
    assert result.test_score > 0.2
    assert result.homophily is None
    assert all(map(math.isnan, sure.tolist()))


def test_patience_ends_a_training_that_brings_nothing_better(iris):
    result = run_fold(iris, Run("iris", "mlp", protocol="patient", settings={"lr": 0.1, "patience": 2}), 0)
    assert len(result.training.history) == result.training.best_epoch + 2 * 3
    assert len(result.training.history) < 1000
