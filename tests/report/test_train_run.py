import json
import shutil

import pytest

from latopo.data import load_graphs
from latopo.errors import LatopoError
from latopo.report import read_run
from latopo.report.confusion import find_confusion
from latopo.report.facts import measure_complex
from latopo.report.page import build_page
from latopo.training import Run, RunFolder, train_folds


def test_a_run_is_read_whole(runs):
    data = read_run(runs["dcm"])
    summary = json.loads((runs["dcm"] / "summary.json").read_text())
    assert data.title.startswith("dcm on ")
    assert data.score.value == pytest.approx(summary["score"]["mean"])
    assert data.score.spread == pytest.approx(summary["score"]["std"])
    assert list(data.histories) == ["fold 0", "fold 1"]
    assert data.histories["fold 0"]["epoch"] == [1, 2, 3, 4, 5, 6]
    assert data.points.class_names == ("class 0", "class 1", "class 2", "class 3")
    assert data.confusion.sum() == 8  # four test points per fold
    assert data.confusion.trace() == round(sum(fold["test_score"] * fold["num_test"] for fold in summary["folds"]))


def test_the_best_epoch_is_shown_among_the_others(runs):
    data = read_run(runs["dcm"], fold=1)
    best = json.loads((runs["dcm"] / "fold-1" / "fold.json").read_text())["best_epoch"]
    assert data.snapshots[0].title == "Given graph (not used)"
    epochs = [snapshot.epoch for snapshot in data.snapshots[1:]]
    assert epochs == sorted({3, 6, best})
    assert data.snapshots[data.shown].title == f"Epoch {best} (best)"
    assert any("fold 1" in note for note in data.notes)


def test_roles_and_predictions_are_those_of_the_fold(runs):
    first, second = (read_run(runs["dcm"], fold).points for fold in (0, 1))
    assert (first.roles == 2).sum() == 4
    assert (first.roles != second.roles).any()
    assert (first.labels == second.labels).all()


def test_a_model_without_a_complex_has_a_report_too(runs):
    data = read_run(runs["mlp"])
    assert data.snapshots == ()
    assert any("infers no complex" in note for note in data.notes)


def test_the_optimistic_protocol_is_named(train, tmp_path):
    data = read_run(train(tmp_path / "run", "gcn", folds=(0,), protocol="paper", graph=True))
    assert any("optimistic" in note for note in data.notes)
    assert "given a graph" in " ".join(data.story)


def test_regression(train, tmp_path):
    data = read_run(train(tmp_path / "run", "mlp", folds=(0,), dataset="diabetes"))
    assert data.points.is_quantity
    assert data.score.metric == "r2"
    assert data.confusion is None


def test_folds_that_are_not_there_are_named(runs, tmp_path):
    with pytest.raises(LatopoError, match=r"fold 7 is not in .*; it has 0, 1"):
        read_run(runs["dcm"], fold=7)
    unfinished = RunFolder(tmp_path / "new", Run("karate", "mlp")).path
    with pytest.raises(LatopoError, match=r"no fold of .* is finished"):
        read_run(unfinished)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("settings.json", "[]", "is damaged"),
        ("settings.json", "{}", "is damaged"),
        ("summary.json", '{"folds": [1]}', "is damaged"),
        ("summary.json", "{", r"summary.json is damaged"),
        ("fold-0/predictions.csv", "fold,node,part,target\n0,0,train,x\n", r"predictions.csv is damaged .*'x'"),
        ("fold-0/predictions.csv", "fold,node,part,target\n0,0,train\n", r"predictions.csv is damaged"),
        ("fold-0/metrics.csv", "", r"metrics.csv is damaged"),
    ],
)
def test_damaged_files_are_named(runs, tmp_path, name, content, message):
    folder = shutil.copytree(runs["mlp"], tmp_path / "run")
    (folder / name).write_text(content)
    with pytest.raises(LatopoError, match=message):
        read_run(folder)


def test_a_run_on_graphs_draws_some_of_them(tmp_path):
    folder = RunFolder(tmp_path / "run", Run("mutag", "cells-chosen", True, settings={"epochs": 2}))
    train_folds(folder, load_graphs("mutag"), [0])
    data = read_run(tmp_path / "run")
    assert data.story[0].endswith("learned to predict MUTAG: 188 graphs, each in one of 2 classes.")
    assert data.score.where == "test graphs"
    assert data.confusion.sum() == 19
    assert data.complex.num_nodes == len(data.points.labels)
    assert data.points.names[0].startswith("graph ")
    assert data.complex.num_polygons > 0


def test_labels_of_atoms_are_not_taken_for_the_classes_of_molecules(tmp_path):
    """An atom's label is not predicted: no purity of cells, and the confusion matrix has the molecules' classes."""
    folder = RunFolder(tmp_path / "run", Run("mutag", "cells-rings", True, settings={"epochs": 1}))
    train_folds(folder, load_graphs("mutag"), [0])
    data = read_run(tmp_path / "run")
    assert data.points.class_names[0] == "label 0"
    assert find_confusion(data).names == ("class 0", "class 1")
    assert measure_complex(data.complex, data.points).purity == {}
    page = build_page(data)
    assert "of 19 test graphs" in page
    assert "its colour is its label" in page
    assert "agree with the classes" not in page
    assert "The model itself decided" not in page
