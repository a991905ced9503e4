"""Classes 3 and 8: wherever a command is stopped, nothing that was saved is lost, and the next command goes on."""

import json
import os
import shutil
import sys
from itertools import product
from types import SimpleNamespace
from uuid import uuid4

import pytest
from hostile.commands import run, write_table
from hostile.conftest import EVERY, LONG
from hostile.faults import KINDS, FaultAt

import latopo.engine as engine
import latopo.reproduce.few_labels as few_labels
import latopo.reproduce.work as work
import latopo.table.fitting as fitting
import latopo.training.run_folder as run_folder
import latopo.training.tensorboard as tensorboard
from latopo.data.graph_loading import load_any
from latopo.reproduce import Record, Store
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


KARATE = ["--datasets", "karate", "--epochs", 2, "--device", "cpu"]
TRAIN = ["train", "karate", "--model", "mlp", *KARATE[2:]]
REPRODUCE = ["reproduce", "table1", "--models", "mlp", "--protocols", "honest", *KARATE]
# What makes a folder with one fold or figure, and what adds another to it.
FOLDS = (["--splits", "0"], ["--splits", "0-1"])
STORING = {
    "train": (TRAIN, *FOLDS),
    "tensorboard": ([*TRAIN, "--tensorboard"], *FOLDS),
    "jobs": ([*TRAIN, "--jobs", 2], *FOLDS),
    "reproduce": (REPRODUCE, *FOLDS),
    "shard": ([*REPRODUCE, "--shard", "1/1"], *FOLDS),
    "few-labels": (["reproduce", "few-labels", "--datasets", "iris-tables-5", "--models", "logistic"], *FOLDS),
    "figures": (["reproduce", "figures", *KARATE], ["--models", "dcm"], ["--models", "dcm,topk-dcm"]),
    "merge": (["merge"], [0], [0, 1]),
}
DRAWN = ("dcm", "topk-dcm")
CASES = list(product(STORING, [True, False], KINDS))
SHORT = [case for at, case in enumerate(CASES) if at % 6 == at // 6 % 6]  # each command once, each fault more than once


@pytest.fixture(scope="module")
def trained():
    """Folds trained once in this process, seconds included: commands that store them write the same bytes."""
    data, plan = load_any("karate"), {"epochs": 2, "weight_decay": 5e-4}
    input_complex(data.edge_index, data.num_nodes)  # children find its kernels loaded
    runs = [Run("karate", "mlp", settings={"epochs": 2}), *(Run("karate", name, settings=plan) for name in DRAWN)]
    folds = [(runs[0], 0), (runs[0], 1), *((run, 0) for run in runs[1:])]
    found = {(run.model, fold): run_folder.run_fold(data, run, fold, snapshot_epochs=(2,)) for run, fold in folds}
    few = {draw: few_labels.run_unit(few_labels.FewLabelsUnit("logistic", "iris-tables-5", draw)) for draw in (0, 1)}
    return found, few


class Events:
    """What TensorBoard's writer does to the disk, which need not be installed."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.file = open(os.path.join(folder, f"events.{uuid4().hex}"), "wb", buffering=0)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def add_scalar(self, name, value, step):
        self.file.write(f"{step} {name} {value}\n".encode())


@pytest.fixture
def trained_folds(trained, monkeypatch):
    found, few = trained
    for module in (run_folder, work):
        monkeypatch.setattr(module, "run_fold", lambda data, run, fold, **options: found[run.model, fold])
    monkeypatch.setattr(few_labels, "run_unit", lambda unit, data_root=None: few[unit.draw])
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Events))
    monkeypatch.setattr(tensorboard, "check_tensorboard", lambda: None)
    # Workers write nothing; what they send comes in any order.
    in_any_order = lambda function, jobs, n_jobs: ((job, function(job)) for job in reversed(jobs))  # noqa: E731
    monkeypatch.setattr(engine, "_with_loky", in_any_order)


def begin_and_go_on(name, tmp_path):
    """Arguments, but for the folder, of the command that makes it with one fold, and of the one that adds another."""
    command, *more = STORING[name]
    if name == "merge":
        shards = [tmp_path / "shard-0", tmp_path / "shard-1"]
        for fold, shard in enumerate(shards):
            assert run(*REPRODUCE, "--splits", fold, "--out", shard).code == 0
        more = [[shards[fold] for fold in folds] for folds in more]
    return tuple([*command, *part, "--out"] for part in more)


def contents(folder):
    """Every file with its bytes, every folder with None; hidden drafts included, but not TensorBoard's, which vary."""
    found = {path.relative_to(folder): path for path in folder.rglob("*")}
    return {
        str(name): _bytes(path) if path.is_file() else None
        for name, path in found.items() if name.parts[0] != "tensorboard"
    }  # fmt: skip


def _bytes(path):
    """What a file holds; safetensors write their few words of metadata in any order."""
    content = path.read_bytes()
    if path.suffix != ".safetensors":
        return content
    end = 8 + int.from_bytes(content[:8], "little")
    return json.dumps(json.loads(content[8:end]), sort_keys=True).encode() + content[end:]


def check_still_there(target, before, after, where):
    """Each file that was there is the old or the new one, and records were only added."""
    now = contents(target)
    for name, content in before.items():
        if name.endswith("records.jsonl"):
            assert now[name].startswith(content), where
            kind = few_labels.FewLabelsRecord if "few-labels" in name else Record
            assert len(Store((target / name).parent, kind)) in (1, 2), where
        else:
            assert now.get(name) in (content, after[name]), f"{name}: {where}"


@pytest.mark.usefixtures("trained_folds")
@pytest.mark.parametrize(("name", "existing", "kind"), CASES if LONG else SHORT)
def test_a_store_that_is_stopped_keeps_what_it_has_and_goes_on(name, existing, kind, tmp_path, sample):
    begin, go_on = begin_and_go_on(name, tmp_path)
    command = go_on if existing else begin
    place = tmp_path / "place"
    start, whole, target = tmp_path / "start", tmp_path / "whole", place / "run"
    if existing:
        assert run(*begin, start).code == 0
    before = contents(start) if existing else {}

    def restore(folder):
        shutil.rmtree(folder, ignore_errors=True)
        if existing:
            shutil.copytree(start, folder)

    restore(whole)
    points = count_points([*command, whole], tmp_path)
    after = contents(whole)
    most = None if EVERY else 2 if name == "figures" else 5
    for point in sample(range(1, points + 1), 1, most):
        shutil.rmtree(place, ignore_errors=True)
        restore(target)
        outcome = run(*command, target, prepare=FaultAt(point, kind))
        where = f"{kind} at point {point} of {points}: {outcome}"
        assert outcome.code in ((-9,) if kind == "kill" else (0, 2)), where
        if outcome.code == 2:  # after lines about the folds that were trained
            assert "Traceback" not in outcome.err, where
            assert outcome.err.strip().splitlines()[-1].startswith("latopo: "), where
        check_still_there(target, before, after, where)
        if name == "train" and existing:
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
