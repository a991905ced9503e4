import json

import pytest

from latopo.data import load
from latopo.errors import LatopoError
from latopo.report import read_run
from latopo.training import Run, RunFolder, train_folds


def train(path, model, folds=(0, 1), protocol="honest", dataset="karate", graph=False):
    settings = {"epochs": 6, "weight_decay": 5e-4}
    folder = RunFolder(path, Run(dataset, model, graph, protocol, settings=settings), [3, 6])
    train_folds(folder, load(dataset), folds)
    return folder.path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {"dcm": train(folder / "dcm", "dcm"), "mlp": train(folder / "mlp", "mlp")}


def test_a_run_is_read_whole(runs):
    data = read_run(runs["dcm"])
    summary = json.loads((runs["dcm"] / "summary.json").read_text())
    assert data.title.startswith("dcm on ")
    assert data.score.value == pytest.approx(summary["score"]["mean"])
    assert data.score.folds == tuple(fold["test_score"] for fold in summary["folds"])
    assert list(data.histories) == ["fold 0", "fold 1"]
    assert data.histories["fold 0"]["epoch"] == [1, 2, 3, 4, 5, 6]
    assert data.points.class_names == ("class 0", "class 1", "class 2", "class 3")
    assert data.confusion.sum() == 8  # four test points a fold
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


def test_baselines_are_found_beside_the_run(runs):
    found = {item.name: item.value for item in read_run(runs["dcm"]).score.baselines}
    mlp = json.loads((runs["mlp"] / "summary.json").read_text())["score"]["mean"]
    assert found["mlp"] == pytest.approx(mlp)
    assert 0 <= found["commonest class"] <= 1
    assert "mlp" not in {item.name for item in read_run(runs["mlp"]).score.baselines}


def test_a_crippled_or_foreign_run_beside_ours_is_no_baseline(tmp_path):
    ours = train(tmp_path / "dcm", "dcm", folds=(0,))
    settings = {"epochs": 6, "weight_decay": 5e-4, "hidden_channels": 1}
    for name, named in (("narrow", settings), ("short", {"epochs": 1, "weight_decay": 5e-4})):
        folder = RunFolder(tmp_path / name, Run("karate", "mlp", settings=named))
        train_folds(folder, load("karate"), [0])
    for content in ("[]", "{}"):
        (tmp_path / "foreign").mkdir(exist_ok=True)
        (tmp_path / "foreign" / "settings.json").write_text(content)
        (tmp_path / "foreign" / "summary.json").write_text(content)
        assert [item.name for item in read_run(ours).score.baselines] == ["commonest class"]


def test_baselines_can_be_named_and_must_fit(runs, tmp_path):
    named = read_run(runs["mlp"], baselines=[runs["dcm"]])
    assert "dcm" in {item.name for item in named.score.baselines}
    other = train(tmp_path / "other", "mlp", folds=(0,))
    with pytest.raises(LatopoError, match="no baseline for this run"):
        read_run(runs["dcm"], baselines=[other])


def test_a_model_without_a_complex_has_a_report_too(runs):
    data = read_run(runs["mlp"])
    assert data.snapshots == ()
    assert any("infers no complex" in note for note in data.notes)


def test_the_optimistic_protocol_is_named(tmp_path):
    data = read_run(train(tmp_path / "run", "gcn", folds=(0,), protocol="paper", graph=True))
    assert any("optimistic" in note for note in data.notes)
    assert "given a graph" in " ".join(data.story)


def test_regression(tmp_path):
    data = read_run(train(tmp_path / "run", "mlp", folds=(0,), dataset="diabetes"))
    assert data.points.is_quantity
    assert data.score.metric == "r2"
    assert data.confusion is None


def test_bad_folders_are_named(runs, tmp_path):
    with pytest.raises(LatopoError, match=r"fold 7 is not in .*; it has 0, 1"):
        read_run(runs["dcm"], fold=7)
    unfinished = RunFolder(tmp_path / "new", Run("karate", "mlp")).path
    with pytest.raises(LatopoError, match=r"no fold of .* is finished"):
        read_run(unfinished)
    damaged = train(tmp_path / "damaged", "mlp", folds=(0,))
    (damaged / "fold-0" / "predictions.csv").write_text(
        "fold,node,part,target,prediction,probability\n0,0,train,x,1,\n"
    )
    with pytest.raises(LatopoError, match=r"predictions.csv is damaged"):
        read_run(damaged)
    for name, content in (("settings.json", "[]"), ("settings.json", "{}"), ("summary.json", '{"folds": [1]}')):
        broken = train(tmp_path / f"{name}-{content[:2]}", "mlp", folds=(0,))
        (broken / name).write_text(content)
        with pytest.raises(LatopoError, match="is damaged"):
            read_run(broken)
    (damaged / "summary.json").write_text("{")
    with pytest.raises(LatopoError, match=r"summary.json is damaged"):
        read_run(damaged)
