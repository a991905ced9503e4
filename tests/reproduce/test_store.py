import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.reproduce import Record, Store, Unit
from latopo.reproduce import store as store_module

# Claims the unit, says so, then hangs until it is killed.
HANG = """
import sys, time
from latopo.reproduce.store import Store
with Store(sys.argv[1]).claim(sys.argv[2]) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""

APPEND = """
import sys
from latopo.reproduce import Record, Store, Unit
store = Store(sys.argv[1])
for fold in range(100):
    store.append(Record(Unit("mlp", "cora", False, "honest", fold, int(sys.argv[2])), 0.5, 8, 1, 0, 1.0, 1))
"""


def python(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_what_is_stored_is_read(tmp_path, make_record):
    records = [make_record(fold / 10, fold=fold, homophily=0.25, extra={"note": "α\n"}) for fold in range(3)]
    store = Store(tmp_path / "new" / "folder")
    assert store.records() == []
    assert all(store.append(record) for record in records)
    assert Store(store.folder).records() == records
    assert records[1].key in Store(store.folder)
    assert "other" not in store
    assert repr(Store("results")) == "Store('results')"


def test_a_reader_sees_what_another_appends_later(tmp_path, make_record):
    reader, writer = Store(tmp_path), Store(tmp_path)
    writer.append(make_record(fold=0))
    assert len(reader) == 1
    writer.append(make_record(fold=1))
    assert make_record(fold=1).key in reader


def test_of_two_records_of_a_key_the_first_wins(tmp_path, make_record):
    store = Store(tmp_path)
    assert store.append(make_record(0.25))
    assert not store.append(make_record(0.75))
    assert not Store(tmp_path).append(make_record(0.75))
    assert len(store.path.read_bytes().splitlines()) == 1
    assert [record.test_score for record in Store(tmp_path).records()] == [0.25]


def test_concatenation_merges(tmp_path, make_record):
    left, right = Store(tmp_path / "left"), Store(tmp_path / "right")
    left.append(make_record(0.25, fold=0))
    right.append(make_record(0.75, fold=0))
    right.append(make_record(0.5, fold=1))
    both = Store(tmp_path / "both")
    both.folder.mkdir()
    both.path.write_bytes(left.path.read_bytes() + right.path.read_bytes())
    assert [record.test_score for record in both.records()] == [0.25, 0.5]
    assert left.merge(right) == 1
    assert left.records() == both.records()


@given(cut=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_torn_line_is_ignored_and_healed(tmp_path_factory, cut):
    def record(fold):
        return Record(Unit("mlp", "cora", False, "honest", fold), 0.5, 8, 1, 0, 1.0, 1, extra={"note": "αβ"})

    store = Store(tmp_path_factory.mktemp("store"))
    store.append(record(0))
    start = store.path.stat().st_size
    store.append(record(1))
    length = store.path.stat().st_size - start
    os.truncate(store.path, start + cut % (length + 1))
    survives = cut % (length + 1) >= length - 1  # only the line end may be missing
    reader = Store(store.folder)
    assert len(reader) == 1 + survives
    assert Store(store.folder).append(record(2))
    folds = [0, 1, 2] if survives else [0, 2]
    assert [item.unit.fold for item in Store(store.folder).records()] == folds
    assert [item.unit.fold for item in reader.records()] == folds
    assert [json.loads(line)["fold"] for line in store.path.read_text().splitlines()] == folds


def test_a_torn_line_longer_than_a_block_is_healed(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(fold=0))
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + b'{"model": "' + b"x" * 10_000)
    Store(tmp_path).append(make_record(fold=1))
    assert store.path.read_bytes().startswith(whole)
    assert [record.unit.fold for record in Store(tmp_path).records()] == [0, 1]


def test_a_bad_line_in_the_middle_is_an_error_with_its_number(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.write_bytes(store.path.read_bytes() + b"<<<<<<< ours\n" + store.path.read_bytes())
    for _ in range(2):  # also on the second look
        with pytest.raises(LatopoError, match=r"records\.jsonl, line 2: .*repair or delete that line"):
            store.records()


def test_a_line_of_a_newer_version_is_not_cut_off(tmp_path, make_record):
    store = Store(tmp_path)
    store.folder.mkdir(exist_ok=True)
    newer = json.dumps({**make_record().to_json(), "colour": "red"}).encode()
    store.path.write_bytes(newer)
    with pytest.raises(LatopoError, match="unknown fields colour"):
        store.append(make_record(fold=1))
    assert store.path.read_bytes().rstrip() == newer


def test_nan_in_the_file_is_refused(tmp_path, make_record):
    content = {**make_record().to_json(), "extra": {"loss": float("nan")}}
    (tmp_path / "records.jsonl").write_text(json.dumps(content) + "\n")
    with pytest.raises(LatopoError, match="line 1: NaN is not allowed"):
        Store(tmp_path).records()


def test_empty_lines_do_no_harm(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(fold=0))
    store.path.write_bytes(store.path.read_bytes() + b"\n\n")
    Store(tmp_path).append(make_record(fold=1))
    assert len(Store(tmp_path)) == 2


def test_processes_append_without_clash(tmp_path):
    # Two write the same hundred records, one writes others.
    workers = [python(APPEND, tmp_path, seed) for seed in (0, 0, 1)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    places = [(json.loads(line)["seed"], json.loads(line)["fold"]) for line in lines]
    assert sorted(places) == [(seed, fold) for seed in (0, 1) for fold in range(100)]


def test_a_claim_excludes_others_until_it_ends(tmp_path):
    with Store(tmp_path).claim("a") as mine:
        assert mine
        with Store(tmp_path).claim("a") as again, Store(tmp_path).claim("b") as other:
            assert not again
            assert other
    with Store(tmp_path).claim("a") as mine:
        assert mine
    assert list((tmp_path / "claims").iterdir()) == []


def test_a_claim_ends_with_an_error(tmp_path):
    def fail():
        with Store(tmp_path).claim("a"):
            raise RuntimeError("training failed")

    with pytest.raises(RuntimeError, match="training failed"):
        fail()
    with Store(tmp_path).claim("a") as mine:
        assert mine


def test_a_finished_unit_cannot_be_claimed(tmp_path, make_record):
    record = make_record()
    stale = Store(tmp_path)
    assert len(stale) == 0
    Store(tmp_path).append(record)
    with stale.claim(record.key) as mine:
        assert not mine


def test_the_claim_of_a_killed_process_is_free(tmp_path):
    worker = python(HANG, tmp_path, "a")
    try:
        assert worker.stdout.readline() == "True\n"
        with Store(tmp_path).claim("a") as mine:
            assert not mine
    finally:
        worker.send_signal(signal.SIGKILL)
        assert worker.wait(timeout=30) == -signal.SIGKILL
        worker.stdout.close()
    assert Path(tmp_path, "claims", "a.lock").exists()
    with Store(tmp_path).claim("a") as mine:
        assert mine


def run_before_lock(monkeypatch, action):
    """Let something happen in the gap between a claim's look at the folder and its lock, once."""
    actions = [action]

    def lock_late(handle, wait):
        if actions:
            actions.pop()()
        return lock(handle, wait)

    lock = store_module._lock
    monkeypatch.setattr(store_module, "_lock", lock_late)


def test_a_claim_on_a_file_that_its_owner_removed_is_taken_anew(tmp_path, monkeypatch):
    run_before_lock(monkeypatch, lambda: Path(tmp_path, "claims", "a.lock").unlink())
    with Store(tmp_path).claim("a") as mine, Store(tmp_path).claim("a") as again:
        assert mine
        assert not again


def test_a_unit_finished_just_before_the_claim_is_not_given_out(tmp_path, monkeypatch, make_record):
    record = make_record()
    run_before_lock(monkeypatch, lambda: Store(tmp_path).append(record))
    with Store(tmp_path).claim(record.key) as mine:
        assert not mine


def test_only_one_of_many_threads_holds_a_claim(tmp_path):
    # Claims are taken and dropped all the time: the removal of the lock file must not let two in.
    inside: list[int] = []
    clashes: list[int] = []

    def work(number):
        store = Store(tmp_path)
        for _ in range(200):
            with store.claim("a") as mine:
                if mine:
                    inside.append(number)
                    clashes.extend([number] * (len(inside) > 1))
                    inside.remove(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert clashes == []


def test_reading_needs_no_write_permission(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert len(Store(tmp_path)) == 1
    finally:
        tmp_path.chmod(0o755)
