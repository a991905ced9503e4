import json
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from latopo.data import from_graphs, graph_split, load_graphs
from latopo.errors import LatopoError
from latopo.training import Run, RunFolder, cross_validate, run_fold, train_folds
from latopo.training.graph_protocol import best_mean_epoch


def rings(count=60, values=False):
    graphs = []
    for number in range(count):
        size = 4 + number % 2
        around = torch.arange(size)
        y = torch.tensor([float(size)]) if values else torch.tensor([number % 2])
        edges = torch.stack([around, (around + 1) % size])
        position = torch.randn(size, 3, generator=torch.Generator().manual_seed(number))
        graphs.append(Data(x=position[:, :1].clone(), edge_index=edges, pos=position, y=y))
    return graphs


def run(entry, model="cells-rings", graph=True, **more):
    return Run(entry, model, graph, settings={"epochs": 8, "lr": 0.01, "batch_size": 16}, **more)


def test_a_fold_is_scored_on_its_own_test_graphs():
    graphs, entry = from_graphs(rings())
    result = run_fold(graphs, run(entry), 3)
    assert result.split.test.tolist() == graph_split(graphs.y, 3).test.tolist()
    predicted = result.training.best_output.prediction[result.split.test].argmax(1)
    assert result.test_score == (predicted == graphs.y[result.split.test]).double().mean()
    facts = result.summary()
    assert (facts["num_train"], facts["num_test"], facts["kept_share"], facts["num_polygons"]) == (48, 6, 1.0, 60)
    assert facts["validation_score"] == result.training.best_score
    assert "curve" not in facts
    assert result.training.best_output.complex.num_nodes == sum(result.sizes) == len(result.labels)


def test_targets_of_the_test_graphs_decide_nothing_under_honest():
    graphs, entry = from_graphs(rings(values=True))  # folds of values do not depend on them
    first = run_fold(graphs, run(entry), 0)
    y = graphs.y.clone()
    y[first.split.test] += 100
    other = run_fold(replace(graphs, y=y), run(entry), 0)
    assert other.training.history == first.training.history
    assert other.test_score != first.test_score


def test_paper_keeps_the_curve_and_the_epoch_is_chosen_over_all_folds(tmp_path):
    graphs, entry = from_graphs(rings())
    folder = RunFolder(tmp_path / "run", run(entry, "gin", protocol="paper"))
    summary = train_folds(folder, graphs, [0, 1, 2])
    curves = [json.loads((tmp_path / f"run/fold-{fold}/fold.json").read_text())["curve"] for fold in range(3)]
    assert [len(curve) for curve in curves] == [8, 8, 8]
    best = best_mean_epoch(curves)
    assert summary["score"]["mean"] == pytest.approx(max(sum(scores) / 3 for scores in zip(*curves, strict=True)))
    assert [fold["best_epoch"] for fold in summary["folds"]] == [best + 1] * 3


def test_clouds_see_coordinates_alone():
    graphs, entry = from_graphs(rings())
    first = run_fold(graphs, run(entry, graph=False), 0)
    assert first.model.in_channels == 3
    other = replace(graphs, x=torch.randn(graphs.x.shape))
    assert run_fold(other, run(entry, graph=False), 0).training.history == first.training.history


def test_a_run_goes_on_where_it_stopped_and_keeps_everything(tmp_path):
    graphs, entry = from_graphs(rings())
    folder = RunFolder(tmp_path / "run", run(entry))
    train_folds(folder, graphs, [1])
    started = []
    train_folds(folder, graphs, [0, 1], on_start=started.append)
    assert started == [0]
    lines = (tmp_path / "run/fold-0/predictions.csv").read_text().splitlines()
    assert len(lines) == 61
    assert not (tmp_path / "run/input.safetensors").exists()


def test_a_list_of_graphs_can_be_cross_validated():
    results = cross_validate(rings(), folds=[0], epochs=25, lr=0.01, batch_size=8)
    assert results[0].test_score == 1.0
    values = cross_validate(rings(values=True), "cells-rings", folds=[0], epochs=50, lr=0.01, batch_size=8)
    assert values[0].test_score > 0.8


def test_what_does_not_go_together_is_refused():
    with pytest.raises(LatopoError, match="MUTAG is a set of graphs, and dcm predicts nodes; use gin, cells-edges"):
        Run("mutag", "dcm")
    with pytest.raises(LatopoError, match="Cora is not a set of graphs, and gin predicts graphs; use mlp"):
        Run("cora", "gin")
    with pytest.raises(LatopoError, match="no coordinates"):
        Run("mutag", "gin", graph=False)
    with pytest.raises(LatopoError, match="batch_size"):
        Run("cora", "mlp", settings={"batch_size": 3})


def test_the_settings_of_a_run_name_the_batches():
    resolved = Run("mutag", "cells-chosen", graph=True).resolved()
    assert (resolved["batch_size"], resolved["epochs"], resolved["lr"], resolved["weight_decays"]) == (
        64,
        40,
        0.003,
        [0],
    )
    assert resolved["settings"]["rings"]["kind"] == "chosen"
    assert "batch_size" not in Run("cora", "mlp").resolved()


def test_mutag_is_learned_within_seconds():
    result = run_fold(load_graphs("mutag"), Run("mutag", "cells-rings", graph=True, settings={"epochs": 10}), 0)
    assert result.test_score > 0.7
