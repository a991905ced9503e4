import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
from typer.testing import CliRunner

from latopo.cli.app import app, main
from latopo.data import find_dataset
from latopo.errors import LatopoError
from latopo.reproduce import Store

QUICK = ("table2", "--datasets", "karate,iris", "--models", "mlp,dcm", "--splits", "0-1", "--epochs", "6")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield tmp_path
    torch.set_num_threads(before)


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def test_a_table_and_its_continuation(elsewhere):
    first = invoke(*QUICK, "--protocols", "honest", "--out", "out")
    assert first.exit_code == 0, first.output
    assert first.stdout.splitlines() == ["out/tables/table2.md"]
    lines = first.stderr.splitlines()
    assert lines[0] == "to do: 10 runs of unknown cost"
    assert len(lines) == 11
    assert lines[1].startswith("mlp on iris without graph, honest, fold 0, seed 0, epochs=6: test 0.")
    text = (elsewhere / "out" / "tables" / "table2.md").read_text()
    assert "Karate club" in text
    assert "(2/10 folds, 1 seed)" in text
    again = invoke(*QUICK, "--protocols", "honest", "--out", "out")
    assert again.stderr.splitlines() == ["10 of 10 runs are already in out", "to do: nothing left to run"]
    # A narrower command keeps the columns and rows of the wider one.
    invoke("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0", "--epochs", "6", "--out", "out",
           "--protocols", "honest")  # fmt: skip
    assert (elsewhere / "out" / "tables" / "table2.md").read_text() == text


def test_a_killed_and_restarted_run_ends_with_the_same_table(elsewhere):
    assert invoke(*QUICK, "--out", "unbroken").exit_code == 0
    command = [sys.executable, "-c", "from latopo.cli import main; main()", "reproduce", *QUICK, "--out", "broken"]
    process = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    folder, deadline = elsewhere / "broken", time.monotonic() + 300
    while len(Store(folder)) < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    errors = process.communicate(timeout=60)[1]
    assert len(Store(folder)) >= 3, errors
    restarted = invoke(*QUICK, "--out", "broken")
    assert restarted.exit_code == 0, restarted.output
    assert len(Store(folder)) == 20
    for name in ("table2.csv", "table2-folds.csv", "table2.md"):
        expected = (elsewhere / "unbroken" / "tables" / name).read_text()
        assert (folder / "tables" / name).read_text() == expected


def test_a_second_process_on_the_same_store_is_told_so(elsewhere):
    with Store("out").writing():
        result = invoke(*QUICK, "--protocols", "paper", "--out", "out")
    assert isinstance(result.exception, LatopoError)
    assert "out/records.jsonl is being written by another process" in str(result.exception)
    assert not (elsewhere / "out" / "tables").exists()


def test_ctrl_c_with_workers_keeps_what_is_done(elsewhere):
    command = [sys.executable, "-c", "from latopo.cli import main; main()", "reproduce", *QUICK, "--out", "out"]
    process = subprocess.Popen(
        [*command, "--jobs", "2", "--epochs", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while len(Store("out")) < 1 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    done = len(Store("out"))
    assert 1 <= done < 20, errors
    assert errors.splitlines()[-1] == f"latopo: stopped; {20 - done} runs left. Run the same command again to go on"
    assert "Traceback" not in errors
    assert out == "out/tables/table2.md\n"


def test_a_cluster_that_loses_a_worker_gives_the_table_of_one_machine(elsewhere, start_dask):
    alone = invoke(*QUICK, "--protocols", "honest", "--out", "alone")
    assert alone.exit_code == 0, alone.output
    address, workers = start_dask(2)
    command = [sys.executable, "-c", "from latopo.cli import main; main()", "reproduce", *QUICK]
    command += ["--protocols", "honest", "--out", "cluster", "--backend", "dask", "--cluster", address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while len(Store("cluster")) < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    workers[0].kill()
    assert len(Store("cluster")) < 10  # half-way
    errors = process.communicate(timeout=300)[1]
    assert process.returncode == 0, errors
    assert workers[1].poll() is None
    for name in ("table2.csv", "table2-folds.csv", "table2.md"):
        expected = (elsewhere / "alone" / "tables" / name).read_text()
        assert (elsewhere / "cluster" / "tables" / name).read_text() == expected


def test_shards_share_the_runs_and_are_merged(elsewhere):
    quick = (*QUICK, "--protocols", "honest")
    assert invoke(*quick, "--out", "whole").exit_code == 0
    assert invoke("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0", "--epochs", "6", "--out", "parts",
                  "--protocols", "honest").exit_code == 0  # fmt: skip
    shutil.rmtree(elsewhere / "parts" / "tables")
    for part in (1, 2, 3):
        result = invoke(*quick, "--out", "parts", "--shard", f"{part}/3")
        assert result.exit_code == 0, result.output
        assert result.stdout == f"parts/shard-{part}-of-3\n"
    assert not (elsewhere / "parts" / "tables").exists()
    shards = [f"parts/shard-{part}-of-3" for part in (1, 2, 3)]
    counts = [len(Store(shard)) for shard in shards]
    assert sum(counts) == 9  # one was there
    assert max(counts) - min(counts) <= 1
    merged = CliRunner().invoke(app, ["merge", *shards, "--out", "parts"])
    assert merged.exit_code == 0, merged.output
    assert merged.stdout.splitlines() == [
        f"{s}: {n} of {n} runs added to parts" for s, n in zip(shards, counts, strict=True)
    ]
    assert invoke(*quick, "--out", "parts", "--tables-only").exit_code == 0
    for name in ("table2.csv", "table2-folds.csv", "table2.md"):
        expected = (elsewhere / "whole" / "tables" / name).read_text()
        assert (elsewhere / "parts" / "tables" / name).read_text() == expected
    again = invoke(*quick, "--out", "parts", "--shard", "1/3")
    assert "4 of 4 runs are already in parts" in again.stderr


def test_dry_run_trains_nothing(elsewhere):
    result = invoke("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0-4", "--dry-run")
    assert result.exit_code == 0
    assert result.stderr.startswith("to do: 10 runs: about ")
    assert list(elsewhere.iterdir()) == []


def test_the_estimate_does_not_outlast_the_patience_of_its_reader(monkeypatch):
    monkeypatch.setattr("latopo.cli.reproduction._PROBE_SECONDS", 0.0)
    result = invoke("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0-4", "--dry-run")
    assert result.stderr == "to do: 10 runs of unknown cost\n"


def test_tables_only_writes_what_is_finished(elsewhere):
    assert invoke(*QUICK, "--protocols", "paper", "--out", "out").exit_code == 0
    table = elsewhere / "out" / "tables" / "table2.csv"
    expected = table.read_text()
    table.unlink()
    narrow = ("--datasets", "iris", "--models", "mlp", "--protocols", "paper", "--epochs", "6")
    result = invoke("table2", *narrow, "--tables-only", "--out", "out")
    assert result.exit_code == 0, result.output
    assert table.read_text() == expected
    assert len(Store("out")) == 10
    # Everything by default, with the cells that are missing.
    assert invoke("all", "--tables-only", "--out", "out").exit_code == 0
    assert "Squirrel" in (elsewhere / "out" / "tables" / "table2.md").read_text()
    assert len(Store("out")) == 10


def test_tables_only_needs_finished_runs():
    result = invoke("all", "--tables-only", "--out", "nowhere")
    assert isinstance(result.exception, LatopoError)
    assert "--out nowhere: there is no such folder" in str(result.exception)


def test_finished_runs_are_verified(elsewhere):
    quick = ("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0-2", "--epochs", "6", "--out", "out")
    assert invoke(*quick).exit_code == 0
    before = (elsewhere / "out" / "records.jsonl").read_bytes()
    result = invoke(*quick, "--verify", "4")
    assert result.exit_code == 0, result.output
    *lines, last = result.stdout.splitlines()
    assert len(set(lines)) == 4
    assert invoke(*quick, "--verify", "4").stdout == result.stdout  # the draw is fixed
    assert all(line.endswith("(same kind of machine: equal)") for line in lines)
    assert last == "4 of 4 runs hold"
    assert (elsewhere / "out" / "records.jsonl").read_bytes() == before
    # More than there are: all; and a score that this machine does not give is found.
    first = Store("out").records()[0]
    forged = before.replace(f'"test_score": {first.test_score}'.encode(), b'"test_score": 0.125', 1)
    (elsewhere / "out" / "records.jsonl").write_bytes(forged)
    result = invoke(*quick, "--verify", "99")
    assert result.exit_code == 1
    assert "test 0.125, now" in result.stdout
    assert result.stdout.splitlines()[-1] == "5 of 6 runs hold"
    *_, heading, wrong = result.stderr.splitlines()
    assert heading == "latopo: these do not hold:"
    assert "test 0.125, now" in wrong


def test_goals_are_counted_from_the_store_alone(elsewhere):
    assert invoke(*QUICK, "--out", "out").exit_code == 0
    before = (elsewhere / "out" / "records.jsonl").read_bytes()
    result = invoke("goals", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "in 0 of 18 cells, 18 missing" in result.stdout.splitlines()[0]
    assert (elsewhere / "out" / "records.jsonl").read_bytes() == before
    assert "--out nowhere: there is no such folder" in str(invoke("goals", "--out", "nowhere").exception)
    assert "--models: goals reads all of the store" in str(invoke("goals", "--models", "mlp", "--out", "out").exception)


def test_there_must_be_runs_to_verify():
    result = invoke("table2", "--verify", "3", "--out", "nowhere")
    assert "--verify: nowhere has no finished run of this choice" in str(result.exception)


def test_ctrl_c_writes_the_table_and_says_how_to_go_on(monkeypatch, elsewhere):
    from latopo.reproduce import work as module

    original, trained = module.train_unit, []

    def interrupted(*arguments):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(module, "train_unit", interrupted)
    result = invoke(*QUICK, "--protocols", "honest", "--out", "out")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == "latopo: stopped; 7 runs left. Run the same command again to go on"
    assert (elsewhere / "out" / "tables" / "table2.md").exists()


def test_failed_runs_are_reported_and_the_others_done(monkeypatch):
    from latopo.reproduce import work as module

    original = module.train_unit

    def diverging(unit, *arguments):
        if unit.model == "dcm":
            raise LatopoError("the loss became nan")
        return original(unit, *arguments)

    monkeypatch.setattr(module, "train_unit", diverging)
    result = invoke(*QUICK, "--protocols", "honest", "--out", "out")
    assert result.exit_code == 1
    assert "dcm on iris without graph, honest, fold 1, seed 0, epochs=6: failed: the loss became nan" in result.stderr
    assert result.stderr.splitlines()[-1] == "latopo: 6 runs failed, see above; the tables show them as missing"
    assert len(Store("out")) == 4


@pytest.mark.parametrize(
    "option",
    [("--values", "0"), ("--splits", "0"), ("--seeds", "0"), ("--shard", "1/2"), ("--verify", "1"), ("--tables-only",)],
)
def test_figures_refuse_what_they_would_ignore(option):
    assert f"{option[0]}: figures show fold 0, seed 0, under honest" in str(invoke("figures", *option).exception)


def test_figures_that_are_not_drawn_are_announced(elsewhere):
    result = invoke("figures", "--datasets", "karate", "--dry-run")
    assert result.stderr == "to do: figure karate dcm, 200 epochs, unless its run is in results/figures\n"
    assert list(elsewhere.iterdir()) == []


def test_columns_outside_the_paper_stay_when_everything_is_written(elsewhere):
    assert invoke(*QUICK[:-2], "--epochs", "6", "--out", "out").exit_code == 0
    assert invoke("table2", "--epochs", "6", "--tables-only", "--out", "out").exit_code == 0
    text = (elsewhere / "out" / "tables" / "table2.md").read_text()
    assert "Karate club" in text
    assert "Squirrel" in text


def test_settings_reach_every_run(elsewhere):
    quick = ("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0", "--protocols", "paper")
    result = invoke(*quick, "--epochs", "3", "--set", "hidden_channels=8", "--out", "out")
    assert result.exit_code == 0, result.output
    (record,) = Store("out").records()
    assert record.unit.settings == {"epochs": 3, "hidden_channels": 8}
    assert record.num_parameters == 8 * 5 + 3 * 9
    assert record.environment["device"] == "cpu"


def test_default_epochs_named_are_no_other_run():
    quick = ("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0", "--protocols", "paper", "--out", "out")
    assert invoke(*quick).exit_code == 0
    again = invoke(*quick, "--epochs", str(find_dataset("iris").epochs))
    assert again.stderr.splitlines()[0] == "1 of 1 run are already in out"


def test_numbers_do_not_depend_on_the_threads_of_the_machine():
    torch.set_num_threads(2)
    result = invoke("table2", "--datasets", "iris", "--models", "mlp", "--splits", "0", "--epochs", "3", "--out", "out")
    assert result.exit_code == 0, result.output
    assert {record.environment["threads"] for record in Store("out").records()} == {1}
    assert torch.get_num_threads() == 2


def test_figures(elsewhere):
    pytest.importorskip("matplotlib")
    result = invoke("figures", "--datasets", "karate", "--epochs", "3", "--out", "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == ["out/figures/karate-dcm.png"]
    assert (elsewhere / "out" / "figures" / "karate-dcm.pdf").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table3",), "no table 'table3'; choose from table1"),
        (("table1", "--datasets", "texas"), "table1: no data set 'texas'; choose from cora"),
        (("table2", "--datasets", "texs"), "no data set 'texs'; did you mean 'texas'?"),
        (("table2", "--models", "mpl"), "--models: no model 'mpl'; choose from mlp, gcn"),
        (("table2", "--models", ""), "--models: expected names, separated by commas, got ''"),
        (("table2", "--protocols", ","), "--protocols: expected names, separated by commas, got ','"),
        (("depth", "--models", "mlp"), "depth: no model 'mlp'; choose from dcm"),
        (("table2", "--splits", "0-10"), "--splits 0-10: expected ascending ranges and at most 9"),
        (("table2", "--protocols", "fair"), "no protocol 'fair'; choose from honest, paper"),
        (("table2", "--data-root", "nowhere"), "--data-root nowhere is not a folder"),
        (("table2", "--seeds", ","), "--seeds is empty, expected numbers"),
        (("table2", "--seeds", "99999999999999999999"), "--seeds 99999999999999999999: expected ascending ranges"),
        (("table2", "--device", "gpu0"), "device: expected 'auto', 'cpu' or another device"),
        (("all", "--set", "lr=0.1"), "--set: all includes figures"),
        (("table2", "--models", "mlp,dcm", "--set", "rounds=2"), "model mlp: rounds: there is no such setting"),
        (("table2", "--shard", "0/3"), "--shard 0/3: expected a part and the number of parts, such as 1/8 to 8/8"),
        (("table2", "--shard", "4/3"), "--shard 4/3: expected a part"),
        (("table2", "--shard", "1/" + "9" * 5000), "expected a part and the number of parts"),
        (("table2", "--splits", "9" * 5000), "expected numbers and ranges such as 0-9"),
        (("table2", "--verify", "1", "--dry-run"), "--dry-run: --verify trains finished runs again"),
        (("table2", "--verify", "1", "--device", "nosuch"), "device: expected 'auto', 'cpu' or another device"),
        (("few-labels", "--device", "cpu"), "--device: few-labels has settings and draws of its own"),
        (("goals", "--jobs", "2", "--out", "."), "--jobs: goals reads all of the store"),
        (("all", "--tables-only", "--shard", "1/2", "--out", "."), "--shard: --tables-only trains nothing"),
        (("few-labels", "--tables-only", "--out", "nowhere"), "--out nowhere: there is no such folder"),
        (("few-labels", "--out", "/dev/null/x"), "--out /dev/null/x is not a folder, and none can be made there"),
        (("table2", "--shard", "1of3"), "--shard 1of3: expected a part"),
        (("table2", "--backend", "threads"), "backend: expected one of loky, dask, ray, got 'threads'"),
        (("table2", "--cluster", "tcp://127.0.0.1:1"), "loky works on this machine alone"),
        (("depth", "--set", "rounds=2"), "--set rounds: the rows of depth vary it; choose with --values"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(monkeypatch, capsys, elsewhere, arguments, message):
    monkeypatch.setattr(sys, "argv", ["latopo", "reproduce", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert message in line
    assert list(elsewhere.iterdir()) == []
