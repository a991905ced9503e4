"""Classes 3 and 8: wherever a command is stopped, nothing that was saved is lost, and the next command goes on."""

import os
import shutil

import pytest
from hostile.commands import run, write_table
from hostile.conftest import LONG
from hostile.faults import KINDS, FaultAt

import latopo.reproduce.work as work
import latopo.table.fitting as fitting
import latopo.training.run_folder as run_folder
from latopo.data.graph_loading import load_any
from latopo.reproduce import Store
from latopo.training import Run
from latopo.training.input_complex import input_complex


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table, a run of it, what it predicts, and a second fit whose result is at hand: only its writing counts."""
    folder = tmp_path_factory.mktemp("kills")
    table = write_table(folder)
    assert run("fit", table, "--target", "kind", "--epochs", 2, "--out", folder / "run", "--quiet").code == 0
    return folder, table


def predicted(folder, run_folder, table):
    outcome = run("predict", run_folder, table, "--out", folder / "p.csv", "--overwrite").check()
    assert outcome.code == 0, outcome.err
    return (folder / "p.csv").read_bytes()


@pytest.fixture
def ready_result(fitted, monkeypatch):
    """The training done once in this process; children of it only write."""
    results = {}
    fit_table = fitting.fit_table

    def remembered(frame, request, say):
        key = (request.target, request.seed)
        if key not in results:
            results[key] = fit_table(frame, request, say)
        return results[key]

    import pandas as pd

    frame = pd.read_csv(fitted[1], dtype=str)
    parameters = {"max_length": 4, "max_anchors": None, "verbose": 0, "max_epochs": 2}
    remembered(frame, fitting.FitRequest("kind", seed=1, parameters=parameters), lambda line: None)
    monkeypatch.setattr(fitting, "fit_table", remembered)


def count_points(arguments, tmp_path):
    report = tmp_path / "points"
    assert run(*arguments, prepare=FaultAt(None, report=str(report))).code == 0
    return int(report.read_text())


@pytest.mark.usefixtures("ready_result")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_fit_that_is_stopped_leaves_the_old_run_or_the_new_one(kind, overwrite, fitted, tmp_path, sample):
    folder, table = fitted
    command = ["fit", table, "--target", "kind", "--epochs", 2, "--seed", 1, "--quiet", "--out"]
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(folder / "run", old)
    assert run(*command, new).code == 0
    answers = {predicted(tmp_path, old, table): "old", predicted(tmp_path, new, table): "new"}
    target = tmp_path / "run"
    shutil.copytree(old, target)
    if not overwrite:
        shutil.rmtree(target)
    points = count_points([*command, target, "--overwrite"], tmp_path)
    assert points > 40
    for point in sample(range(1, points + 1), 3):
        shutil.rmtree(target, ignore_errors=True)
        if overwrite:
            shutil.copytree(old, target)
            (target / "notes.txt").write_text("mine")
        outcome = run(*command, target, "--overwrite", prepare=FaultAt(point, kind))
        where = f"{kind} at point {point} of {points}: {outcome}"
        assert outcome.code in ((-9,) if kind == "kill" else (0, 2)), where
        if outcome.code == 2:
            outcome.check()
        if overwrite:
            assert answers[predicted(tmp_path, target, table)] in ("old", "new"), where
            assert (target / "notes.txt").read_text() == "mine", where
        if point % 4 and LONG:
            continue  # the sequel costs two more commands
        again = run(*command, target, "--overwrite")
        assert again.code == 0, f"{where}\nthen {again}"
        assert answers[predicted(tmp_path, target, table)] == "new", where
        hidden = [path.name for path in [*target.iterdir(), *tmp_path.iterdir()] if path.name.startswith(".")]
        assert not hidden, f"{where}: leftovers {hidden}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["predict", "report"])
def test_a_file_is_the_old_or_the_new_one(command, kind, fitted, tmp_path, sample):
    folder, table = fitted
    target = tmp_path / ("p.csv" if command == "predict" else "report.html")
    arguments = [command, folder / "run", *([table, "--overwrite"] if command == "predict" else []), "--out", target]
    assert run(*arguments).code == 0
    whole = target.read_bytes()
    for point in sample(range(1, count_points(arguments, tmp_path) + 1), 2):
        outcome = run(*arguments, prepare=FaultAt(point, kind))
        assert outcome.code in ((-9,) if kind == "kill" else (0, 2)), outcome
        assert target.read_bytes() == whole
        assert run(*arguments).code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([target.name, "points"])


KARATE = ["--epochs", 2, "--device", "cpu", "--splits"]
TRAIN = ["train", "karate", "--model", "mlp", *KARATE]
REPRODUCE = ["reproduce", "table1", "--datasets", "karate", "--models", "mlp", "--protocols", "honest", *KARATE]


@pytest.fixture
def trained_folds(monkeypatch):
    """Two folds trained once in this process, seconds included: commands that store them write the same bytes."""
    data, settings = load_any("karate"), Run("karate", "mlp", settings={"epochs": 2})
    input_complex(data.edge_index, data.num_nodes)  # children find its kernels loaded
    results = {fold: run_folder.run_fold(data, settings, fold) for fold in (0, 1)}
    for module in (run_folder, work):
        monkeypatch.setattr(module, "run_fold", lambda data, run, fold, **options: results[fold])


def begin_and_go_on(name, tmp_path):
    """Arguments, but for the folder, of the command that makes it with one fold, and of the one that adds another."""
    if name != "merge":
        command = TRAIN if name == "train" else REPRODUCE
        return [*command, "0", "--out"], [*command, "0-1", "--out"]
    shards = [tmp_path / "shard-0", tmp_path / "shard-1"]
    for fold, shard in enumerate(shards):
        assert run(*REPRODUCE, fold, "--out", shard).code == 0
    return ["merge", shards[0], "--out"], ["merge", *shards, "--out"]


def contents(folder):
    """Every file with its bytes, every folder with None; drafts, which are hidden, included."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def check_still_there(target, before, after, where):
    """Each file that was there is the old or the new one, and records were only added."""
    now = contents(target)
    for name, content in before.items():
        if name == "records.jsonl":
            assert now[name].startswith(content), where
            assert len(Store(target)) in (1, 2), where
        else:
            assert now.get(name) in (content, after[name]), f"{name}: {where}"


@pytest.mark.usefixtures("trained_folds")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("name", ["train", "reproduce", "merge"])
def test_a_store_that_is_stopped_keeps_what_it_has_and_goes_on(name, existing, kind, tmp_path, sample):
    begin, go_on = begin_and_go_on(name, tmp_path)
    command = go_on if existing else begin
    place = tmp_path / "place"
    start, whole, target = tmp_path / "start", tmp_path / "whole", place / "run"
    assert run(*begin, start).code == 0
    before = contents(start) if existing else {}

    def restore(folder):
        shutil.rmtree(folder, ignore_errors=True)
        if existing:
            shutil.copytree(start, folder)

    restore(whole)
    points = count_points([*command, whole], tmp_path)
    after = contents(whole)
    for point in sample(range(1, points + 1), 1, 20):
        shutil.rmtree(place, ignore_errors=True)
        restore(target)
        outcome = run(*command, target, prepare=FaultAt(point, kind))
        where = f"{kind} at point {point} of {points}: {outcome}"
        assert outcome.code in ((-9,) if kind == "kill" else (0, 2)), where
        if outcome.code == 2:
            assert "Traceback" not in outcome.err, where
            assert outcome.err.strip().splitlines()[-1].startswith("latopo: "), where
        check_still_there(target, before, after, where)
        if name == "train" and existing and (point % 10 == 0 or not LONG):  # a report takes a second
            assert run("report", target, "--out", tmp_path / "report.html").check().code == 0, where
        again = run(*command, target)
        assert again.code == 0, f"{where}\nthen {again}"
        assert contents(target) == after, where
        assert [path.name for path in place.iterdir()] == [target.name], where


def test_special_files_are_refused_at_once(fitted, tmp_path):
    folder, table = fitted
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "device.csv").symlink_to("/dev/null")
    run_json = (folder / "run" / "run.json").read_bytes()
    commands = [
        ["predict", folder / "run", table, "--overwrite", "--out", target]
        for target in (
            "/dev/null",
            tmp_path / "device.csv",
            tmp_path / "pipe.csv",
            folder / "run" / "run.json",
            table,
            tmp_path,
        )
    ]
    commands += [["report", folder / "run", "--out", target] for target in ("/dev/null", tmp_path / "pipe.csv", table)]
    commands += [
        ["fit", tmp_path / "pipe.csv", "--target", "kind"],
        ["fit", table, "--target", "kind", "--out", tmp_path / "pipe.csv", "--overwrite"],
        ["fit", table, "--target", "kind", "--graph", tmp_path / "pipe.csv", "--out", tmp_path / "new"],
        ["predict", folder / "run", tmp_path / "pipe.csv"],
        ["predict", tmp_path / "pipe.csv", table],
    ]
    for command in commands:
        assert run(*command, seconds=20).check().code == 2, command
    assert (folder / "run" / "run.json").read_bytes() == run_json
