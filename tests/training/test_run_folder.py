import csv
import json

import pytest
import torch

from latopo import CellComplex
from latopo._parallel import one_thread
from latopo.data import load
from latopo.errors import LatopoError
from latopo.models import load_model
from latopo.training import Run, RunFolder, train_folds

QUICK = {"epochs": 6, "hidden_channels": 8, "gain": 5.0}


@pytest.fixture(scope="module")
def karate():
    return load("karate")


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_everything_that_is_promised_is_there(tmp_path, karate):
    folder = RunFolder(tmp_path / "run", Run("karate", "dcm", settings=QUICK), snapshot_epochs=(4, 2, 4))
    summary = train_folds(folder, karate, [1, 0])
    assert folder.finished() == [0, 1]
    assert json.loads((folder.path / "summary.json").read_text()) == summary
    scores = [fold["test_score"] for fold in summary["folds"]]
    assert summary["score"]["mean"] == pytest.approx(sum(scores) / 2)
    assert summary["metric"] == "accuracy"
    assert [len(fold["search"]) for fold in summary["folds"]] == [3, 3]

    metrics = read(folder.path / "metrics.csv")
    assert tuple(metrics[0])[:6] == ("fold", "epoch", "loss", "task_loss", "edge_loss", "polygon_loss")
    assert [(row["fold"], row["epoch"]) for row in metrics] == [(f, str(e)) for f in "01" for e in range(1, 7)]
    assert metrics[0]["selection_score"] == ""
    assert float(metrics[2]["selection_score"]) >= 0

    rows = read(folder.path / "predictions.csv")
    assert len(rows) == 2 * 34
    assert [int(row["target"]) for row in rows[:34]] == karate.y.tolist()
    test = [row for row in rows if row["fold"] == "0" and row["part"] == "test"]
    right = [row["target"] == row["prediction"] for row in test]
    assert sum(right) / len(right) == pytest.approx(scores[0])
    assert {row["part"] for row in rows} == {"train", "validation", "test"}

    first = folder.path / "fold-0"
    assert sorted(item.name for item in (first / "complexes").iterdir()) == [
        "best.safetensors",
        "epoch-0002.safetensors",
        "epoch-0004.safetensors",
    ]
    output = load_model(first)(karate.x)
    assert output.complex == CellComplex.load(first / "complexes" / "best.safetensors")
    assert output.prediction.argmax(1).tolist() == [int(row["prediction"]) for row in rows[:34]]
    given = CellComplex.load(folder.path / "input.safetensors")
    assert (given.num_edges, given.polygons[3].size(0)) == (78, 45)


def test_finished_folds_are_not_trained_again(tmp_path, karate, monkeypatch):
    run = Run("karate", "dcm", settings=QUICK)
    whole = train_folds(RunFolder(tmp_path / "whole", run), karate, [0, 1, 2])
    train_folds(RunFolder(tmp_path / "parts", run), karate, [0, 2])
    began = []
    parts = train_folds(RunFolder(tmp_path / "parts", run), karate, [0, 1, 2], on_start=began.append)
    assert began == [1]
    for summary in (whole, parts):
        for fold in summary["folds"]:
            del fold["seconds"]
    assert whole == parts
    for name in ("metrics.csv", "predictions.csv"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()


def test_folds_in_other_processes_are_the_same(tmp_path, karate):
    run = Run("karate", "dcm-plus", settings={"epochs": 6, "hidden_channels": 8})
    finished = []
    with one_thread():
        here = train_folds(RunFolder(tmp_path / "here", run), karate, [0, 1])
    folder = RunFolder(tmp_path / "there", run)
    there = train_folds(folder, karate, [0, 1], jobs=2, on_finished=lambda result: finished.append(result.fold))
    assert sorted(finished) == folder.finished() == [0, 1]
    for one, other in zip(here["folds"], there["folds"], strict=True):
        assert one["neighbors"].startswith("exact: all pairs of")
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert (folder.path / "metrics.csv").read_text() == (tmp_path / "here" / "metrics.csv").read_text()


def test_an_interrupt_keeps_finished_folds(tmp_path, karate):
    folder = RunFolder(tmp_path, Run("karate", "dcm", settings=QUICK))

    def stop(fold):
        if fold == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_folds(folder, karate, [0, 1], on_start=stop)
    assert folder.finished() == [0]
    assert len(json.loads((tmp_path / "summary.json").read_text())["folds"]) == 1
    assert not list(tmp_path.glob(".fold*"))


def test_a_fold_appears_whole_or_not_at_all(tmp_path, karate, monkeypatch):
    folder = RunFolder(tmp_path, Run("karate", "dcm", settings=QUICK))
    monkeypatch.setattr("latopo.training.run_folder.save_model", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train_folds(folder, karate, [0])
    assert folder.finished() == []
    assert not list(tmp_path.glob("*fold*"))


def test_other_settings_and_other_folders_are_refused(tmp_path):
    RunFolder(tmp_path / "run", Run("karate", "dcm", settings={"gain": 5.0}))
    RunFolder(tmp_path / "run", Run("Karate", "dcm", settings={"gain": 5}))
    with pytest.raises(LatopoError, match=r"holds a run with model 'dcm' \(now 'mlp'\), settings {'gain': 5.0}"):
        RunFolder(tmp_path / "run", Run("karate", "mlp"))
    with pytest.raises(LatopoError, match=r"snapshot_epochs \[\] \(now \[3\]\); continue it as it was"):
        RunFolder(tmp_path / "run", Run("karate", "dcm", settings={"gain": 5.0}), [3])
    (tmp_path / "run" / "settings.json").write_text("[")
    with pytest.raises(LatopoError, match=r"settings\.json is damaged"):
        RunFolder(tmp_path / "run", Run("karate", "dcm"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("keep")
    for path in (tmp_path / "mine", tmp_path / "mine" / "thesis.txt"):
        with pytest.raises(LatopoError, match="is not a run of latopo; give another folder"):
            RunFolder(path, Run("karate", "dcm"))
    with pytest.raises(LatopoError, match="cannot be made"):
        RunFolder(tmp_path / "mine" / "thesis.txt" / "run", Run("karate", "dcm"))


def test_a_table_has_no_input_complex_and_a_value_no_probability(tmp_path):
    data = load("diabetes")
    folder = RunFolder(tmp_path, Run("diabetes", "mlp", settings={"epochs": 3}))
    summary = train_folds(folder, data, [0])
    assert not (tmp_path / "input.safetensors").exists()
    assert summary["metric"] == "r2"
    assert summary["score"]["std"] is None
    rows = read(tmp_path / "predictions.csv")
    assert {row["probability"] for row in rows} == {""}
    assert float(rows[0]["target"]) == data.y[0].item()
    assert torch.tensor([float(row["prediction"]) for row in rows]).mean() == pytest.approx(150, abs=60)


def test_what_is_no_fold_is_left_alone_and_a_broken_one_is_named(tmp_path, karate):
    folder = RunFolder(tmp_path, Run("karate", "mlp", settings={"epochs": 3}))
    train_folds(folder, karate, [0])
    (tmp_path / "fold-0-old").mkdir()
    assert folder.finished() == [0]
    (tmp_path / "fold-0" / "fold.json").write_text("{")
    with pytest.raises(LatopoError, match=r"fold-0/fold\.json is damaged .* delete the folder of this fold"):
        train_folds(folder, karate, [0])
