import json
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from latopo.errors import LatopoError
from latopo.reproduce import Record, Store, build_table, plan_units, run_units, unfinished
from latopo.reproduce.render import cells_csv

# Trains (waits) and notes every start of a unit in a file of its own process.
WORKER = """
import os, random, sys, time
from pathlib import Path
from latopo.reproduce import Record, Store, plan_units, run_units

def train(unit):
    with Path(sys.argv[1], f"started-{os.getpid()}").open("a") as file:
        file.write(unit.key + "\\n")
    time.sleep(float(sys.argv[2]))
    score = random.Random(unit.key).random()
    return Record(unit, score, 8, 1, 0, 1.0, 1)

units = plan_units("table2", ["texas"], ["mlp"], folds=range(int(sys.argv[3])))
print(run_units(units, Store(sys.argv[1]), train))
"""


def start_worker(folder, seconds, folds):
    command = [sys.executable, "-c", WORKER, str(folder), str(seconds), str(folds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def train(unit):
    return Record(unit, 0.5, 8, 1, 0, 1.0, 1)


def test_finished_units_are_skipped(tmp_path):
    units = plan_units("table2", ["texas"], ["mlp"], folds=[0, 1], protocols=["honest"])
    seen = []
    assert run_units(units[:2], Store(tmp_path), train) == 2
    assert unfinished(units, Store(tmp_path)) == units[2:]
    assert run_units(units, Store(tmp_path), train, on_finished=seen.append) == 4
    assert [record.unit for record in seen] == units[2:]
    assert run_units(units, Store(tmp_path), train) == 0


def test_a_failing_unit_keeps_what_is_done(tmp_path):
    units = plan_units("table2", ["texas"], ["mlp"], folds=[0], protocols=["honest"])

    def fail_at_second(unit):
        if unit == units[1]:
            raise RuntimeError("out of memory")
        return train(unit)

    with pytest.raises(RuntimeError, match="out of memory"):
        run_units(units, Store(tmp_path), fail_at_second)
    assert unfinished(units, Store(tmp_path)) == units[1:]


def test_a_failed_unit_can_be_passed_over(tmp_path):
    units = plan_units("table2", ["texas"], ["mlp"], folds=[0], protocols=["honest"])
    failed = []

    def diverge_at_second(unit):
        if unit == units[1]:
            raise LatopoError("the loss became nan")
        return train(unit)

    with pytest.raises(LatopoError, match="nan"):
        run_units(units, Store(tmp_path), diverge_at_second)
    count = run_units(units, Store(tmp_path), diverge_at_second, on_failed=lambda *failure: failed.append(failure))
    assert count == 1
    assert [(unit, str(error)) for unit, error in failed] == [(units[1], "the loss became nan")]
    assert unfinished(units, Store(tmp_path)) == [units[1]]


def test_a_record_of_another_unit_is_refused(tmp_path):
    units = plan_units("table2", ["texas"], ["mlp"], folds=[0], protocols=["honest"])
    with pytest.raises(LatopoError, match="returned a record of mlp on texas without graph, honest, fold 0, seed 1"):
        run_units(units, Store(tmp_path), lambda unit: train(units[1]))
    assert len(Store(tmp_path)) == 0


def test_two_workers_share_the_work(tmp_path):
    workers = [start_worker(tmp_path, 0.01, 5) for _ in range(2)]
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    started = Counter("".join(path.read_text() for path in tmp_path.glob("started-*")).split())
    assert len(started) == 30  # five folds, three seeds, two protocols
    assert set(started.values()) == {1}
    assert sum(map(int, outputs)) == 30
    assert len(Store(tmp_path)) == 30


def test_a_killed_and_restarted_run_ends_with_the_same_table(tmp_path):
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    for folder in (unbroken, broken):
        folder.mkdir()
    assert start_worker(unbroken, 0.0, 2).wait(timeout=60) == 0

    worker = start_worker(broken, 0.1, 2)
    deadline = time.monotonic() + 60
    while len(Store(broken)) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.send_signal(signal.SIGKILL)
    worker.communicate(timeout=30)
    done = len(Store(broken))
    assert 3 <= done < 12
    started = len((broken / f"started-{worker.pid}").read_text().split())
    assert started - done <= 1  # at most the fold in progress is lost

    assert start_worker(broken, 0.0, 2).wait(timeout=60) == 0
    tables = [cells_csv(build_table("table2", Store(folder).records(), ["texas"])) for folder in (unbroken, broken)]
    assert tables[0] == tables[1]
    lines = (broken / "records.jsonl").read_text().splitlines()
    assert len({json.dumps(json.loads(line), sort_keys=True) for line in lines}) == len(lines) == 12
