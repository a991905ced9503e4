import copy
import math

import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import SYSTEMS, Model, ModelOutput, build_model
from latopo.models.settings import BaselineSettings
from latopo.training import Trainer, TrainingSettings, seeded, train

SHORT = TrainingSettings(epochs=7)


def make(name, seed=0, graph=False, **settings):
    solves = SYSTEMS[name].model.solves
    latent = {"gain": 4.0} if name.startswith("dcm") and not solves else {}
    latent |= {"degree": None, "hold_degree": False} if name.startswith(("dcm-plus", "dcm-judged")) else {}
    latent |= {} if name == "alpha-diffusion" else {"hidden_channels": 8}
    latent |= {"branch_epochs": 3, "members": 2, "weight_decays": (5e-4,)} if name.endswith(("fused", "cells")) else {}
    with seeded(seed):
        return build_model(name, 6, 3, graph=graph, **latent, **settings)


def fit(blobs, name="dcm", settings=SHORT, y=None, **options):
    model = make(name, graph=options.get("graph", False))
    edges = blobs.ring if options.pop("graph", False) else None
    y = blobs.y if y is None else y
    return model, train(model, blobs.x, y, edges, blobs.train, blobs.selection, settings, num_classes=3, **options)


class Scripted(Model):
    """Answers from a list, one entry per evaluation: how sure it is of the right class at each node."""

    default = BaselineSettings()

    def __init__(self, answers):
        super().__init__(1, 2)
        self.answers, self.at = torch.tensor(answers), -1
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x, edge_index=None):
        self.at += not self.training
        sure = self.answers[max(self.at, 0)] + 0 * self.weight
        return ModelOutput(torch.stack([sure, -sure], dim=1), x)


def scripted(answers, **settings):
    model = Scripted(answers)
    x, y, nodes = torch.ones(2, 1), torch.zeros(2, dtype=torch.int64), torch.arange(2)
    options = TrainingSettings(**{"epochs": len(answers), "evaluate_every": 1, **settings})
    return train(model, x, y, None, nodes, nodes, options, num_classes=2)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_model_trains_and_the_same_seed_gives_the_same_numbers(blobs, name, graph):
    if SYSTEMS[name].needs_graph and not graph:
        with pytest.raises(LatopoError, match="needs a graph"):
            fit(blobs, name)
        return
    torch.manual_seed(11)
    expected_state = torch.get_rng_state()
    results = []
    for distraction in range(2):
        torch.rand(distraction)
        results.append(fit(blobs, name, graph=graph)[1])
    assert results[0].history == results[1].history
    assert torch.equal(results[0].best_output.prediction, results[1].best_output.prediction)
    torch.set_rng_state(expected_state)
    fit(blobs, name, graph=graph)
    assert torch.equal(torch.get_rng_state(), expected_state)


def test_labels_of_held_out_nodes_train_the_weights_of_the_branches_alone(blobs):
    gradients, held_out = [], len(blobs.train) // 4
    order = torch.randperm(len(blobs.train), generator=torch.Generator().manual_seed(0))
    kept = blobs.train[order[:held_out]]  # drawn by the seed of the training
    for changed in (False, True):
        model = make("gcn-judged", graph=True, held_out=0.25)
        trainer = Trainer(
            model, blobs.x, blobs.y, blobs.ring, blobs.train, blobs.selection, TrainingSettings(epochs=1), num_classes=3
        )
        if changed:
            trainer.objective.target[kept] = (blobs.y[kept] + 1) % 3
        trainer.advance()  # one step: in the next the weights have a say in everything
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
    different = {name for name, gradient in gradients[0].items() if not torch.equal(gradient, gradients[1][name])}
    assert different == {"head.raw"}


@pytest.mark.parametrize("count", [1, 2])
def test_of_few_training_nodes_one_is_held_out_or_none(blobs, count):
    model = make("gcn-judged", graph=True)
    result = train(
        model,
        blobs.x,
        blobs.y,
        blobs.ring,
        blobs.train[:count],
        blobs.selection,
        TrainingSettings(epochs=3),
        num_classes=3,
    )
    assert all(math.isfinite(row["loss"]) for row in result.history)
    assert bool(model.head.raw.any()) == (count == 2)


def test_other_seeds_give_other_numbers(blobs):
    losses = [fit(blobs, settings=TrainingSettings(epochs=3, seed=seed))[1].history[0]["loss"] for seed in (0, 1)]
    assert losses[0] != losses[1]


def test_loss_falls_and_history_is_complete(blobs):
    _, result = fit(blobs, settings=TrainingSettings(epochs=45))
    assert [row["epoch"] for row in result.history] == list(range(1, 46))
    terms = ("loss", "task_loss", "edge_loss", "polygon_loss")
    assert all(tuple(row)[:5] == ("epoch", *terms) for row in result.history)
    assert len({tuple(row) for row in result.history}) == 1
    tasks = [row["task_loss"] for row in result.history]
    assert sum(tasks[-10:]) < 0.7 * sum(tasks[:10])
    for row in result.history:
        assert row["loss"] == pytest.approx(row["task_loss"] + row["edge_loss"] + row["polygon_loss"], rel=1e-5)
        looked = row["epoch"] % 3 == 0
        assert (row["selection_score"] is not None) == looked == (row["mean_degree"] is not None)
    assert any(row["edge_loss"] for row in result.history)
    best = max(row["selection_score"] for row in result.history if row["selection_score"] is not None)
    assert result.best_score == best > 0.5


def test_models_without_reward_have_no_topology_loss(blobs):
    _, result = fit(blobs, "dcm-plus")
    assert all("edge_loss" not in row and "polygon_loss" not in row for row in result.history)
    assert all(row["loss"] == pytest.approx(row["task_loss"] + row["own_loss"]) for row in result.history)
    _, result = fit(blobs, "mlp")
    assert all(row["loss"] == row["task_loss"] for row in result.history)


def test_the_model_is_left_as_in_the_best_epoch(blobs):
    model, result = fit(blobs, settings=TrainingSettings(epochs=30))
    assert not model.training
    output = model(blobs.x)
    assert torch.allclose(output.prediction, result.best_output.prediction, atol=1e-6)
    assert output.complex == result.best_output.complex
    assert not result.best_output.prediction.requires_grad
    accuracy = (output.prediction.argmax(1) == blobs.y)[blobs.selection].double().mean()
    assert float(accuracy) == result.best_score
    row = result.history[result.best_epoch - 1]
    assert (row["selection_score"], row["selection_loss"]) == (result.best_score, result.best_loss)


def test_best_epoch_by_score_then_loss_then_first():
    # One of two right; both right, unsure; both right, surer; the same again; one right and very sure.
    answers = [[1.0, -1.0], [0.1, 0.1], [0.5, 0.5], [0.5, 0.5], [9.0, -0.1]]
    result = scripted(answers)
    assert (result.best_epoch, result.best_score) == (3, 1.0)
    assert [row["selection_score"] for row in result.history] == [0.5, 1.0, 1.0, 1.0, 0.5]


def test_patience_counts_evaluations_without_improvement():
    answers = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.9], [0.1, 0.1], [0.1, 0.1], [2.0, 2.0]]
    assert len(scripted(answers, patience=2).history) == 5
    assert len(scripted(answers, patience=1).history) == 2
    assert len(scripted(answers).history) == 6


def test_last_epoch_is_evaluated(blobs):
    _, result = fit(blobs, "mlp", TrainingSettings(epochs=2))
    assert [row["selection_score"] is None for row in result.history] == [True, False]


def test_labels_of_the_test_nodes_are_not_seen(blobs):
    noisy = blobs.y.clone()
    noisy[30:] = (noisy[30:] + 1) % 3
    for name in ("dcm", "dcm-plus", "dgm-e"):
        plain, other = fit(blobs, name)[1], fit(blobs, name, y=noisy)[1]
        assert plain.history == other.history
        assert torch.equal(plain.best_output.prediction, other.best_output.prediction)


def test_snapshots_are_kept_and_change_nothing(blobs):
    plain = fit(blobs)[1]
    _, watched = fit(blobs, settings=TrainingSettings(epochs=7, snapshot_epochs=(1, 4, 6, 99)))
    assert list(watched.snapshots) == [1, 4, 6]
    assert watched.best_epoch == plain.best_epoch
    assert [row["selection_loss"] for row in watched.history] == [row["selection_loss"] for row in plain.history]
    assert watched.history[3]["num_edges"] == watched.snapshots[4].num_edges
    assert watched.history[3]["selection_score"] is None


def test_a_paused_training_is_the_unbroken_one(blobs):
    whole = fit(blobs)[1]
    trainers = [
        Trainer(make("dcm"), blobs.x, blobs.y, None, blobs.train, blobs.selection, SHORT, num_classes=3)
        for _ in range(2)
    ]
    for until in (2, 5, None):
        for trainer in trainers:
            trainer.advance(until)
    for trainer in trainers:
        assert trainer.finished
        assert trainer.result().history == whole.history


def test_ctrl_c_leaves_the_best_weights(blobs):
    rows = []

    def stop(row):
        rows.append(row)
        if row["epoch"] == 5:
            raise KeyboardInterrupt

    model = make("dcm")
    with pytest.raises(KeyboardInterrupt):
        train(model, blobs.x, blobs.y, None, blobs.train, blobs.selection, SHORT, num_classes=3, on_epoch=stop)
    assert not model.training
    seen = [row["selection_score"] for row in rows if row["selection_score"] is not None]
    accuracy = (model(blobs.x).prediction.argmax(1) == blobs.y)[blobs.selection].double().mean()
    assert float(accuracy) == max(seen)


def test_divergence_is_said(blobs):
    with pytest.raises(LatopoError, match=r"train: the loss became (nan|inf) in epoch \d+; lower the learning rate"):
        fit(blobs, "mlp", TrainingSettings(epochs=50, lr=1e30))


class Idle(Model):
    """A vector and a scalar that no gradient moves."""

    default = BaselineSettings()

    def __init__(self):
        super().__init__(2, 2)
        self.vector, self.scalar = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, x, edge_index=None):
        return ModelOutput(x + 0 * self.vector * self.scalar, x)


def test_weight_decay_spares_the_scalars():
    trainer = Trainer(
        Idle(), torch.ones(2, 2), torch.arange(2), None, torch.arange(2), torch.arange(2),
        TrainingSettings(epochs=5, weight_decay=0.1), num_classes=2,
    )  # fmt: skip
    trainer.advance()
    assert float(trainer.model.vector.max()) < 0.99
    assert float(trainer.model.scalar) == 1.0


def test_regression(blobs):
    y = 100 + 30 * blobs.x[:, 0]
    with seeded(0):
        model = build_model("dcm-plus", 6, 1, hidden_channels=8)
    settings = TrainingSettings(epochs=80, lr=0.03)
    result = train(model, blobs.x, y, None, blobs.train, blobs.selection, settings, num_classes=0)
    values = result.target_mean + result.target_scale * result.best_output.prediction.flatten()
    residual = (values - y)[blobs.selection].square().sum()
    spread = (y[blobs.selection] - y[blobs.selection].mean()).square().sum()
    assert result.best_score == pytest.approx(float(1 - residual / spread), abs=1e-4)
    assert result.best_score > 0.3
    reward = build_model("dcm", 6, 1, hidden_channels=8, gain=4.0)
    history = train(reward, blobs.x, y, None, blobs.train, blobs.selection, SHORT, num_classes=0).history
    assert all(row["edge_loss"] is not None for row in history)
    assert all(row["train_homophily"] is None for row in history)


def test_sparse_features_and_double_precision(blobs):
    model = make("dcm", graph=True).double()
    other = copy.deepcopy(model)
    x = (blobs.x * (blobs.x > 0)).double()
    inputs = (blobs.y, blobs.ring, blobs.train, blobs.selection, TrainingSettings(epochs=3))
    dense = train(model, x, *inputs, num_classes=3)
    sparse = train(other, x.to_sparse_csr(), *inputs, num_classes=3)
    assert torch.allclose(dense.best_output.prediction, sparse.best_output.prediction, atol=1e-8)


def test_bad_input(blobs):
    with pytest.raises(LatopoError, match=r"y has shape \[39\], expected one target for each of 40 rows"):
        fit(blobs, y=blobs.y[:39])
    with pytest.raises(LatopoError, match="no result before the first evaluation"):
        Trainer(make("mlp"), blobs.x, blobs.y, None, blobs.train, blobs.selection, num_classes=3).result()
    for change in ({"epochs": 0}, {"evaluate_every": 0}, {"patience": 0}):
        with pytest.raises(LatopoError, match=f"{next(iter(change))} must be a whole number of at least 1.*, got 0"):
            TrainingSettings(**change)
    for change in ({"lr": 0.0}, {"weight_decay": -1.0}, {"lr": math.nan}):
        with pytest.raises(LatopoError, match=f"{next(iter(change))} must be a number"):
            TrainingSettings(**change)
