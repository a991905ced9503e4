import json
import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.reproduce import Record, Store, Unit
from latopo.reproduce.unit import Hashed

# Is the store's one writer, says so, then hangs until it is killed.
HANG = """
import sys, time
from latopo.reproduce import Store
with Store(sys.argv[1]).writing():
    print("writing", flush=True)
    time.sleep(600)
"""


def folds(store):
    return [record.unit.fold for record in Store(store.folder).records()]


def lines(store):
    return [json.loads(line) for line in store.path.read_text().splitlines()]


def test_what_is_stored_is_read(tmp_path, make_record):
    records = [
        make_record(fold / 10, fold=fold, homophily=0.25, environment=Hashed(cpu="α", fold=fold % 2))
        for fold in range(3)
    ]
    store = Store(tmp_path / "new" / "folder")
    assert store.records() == []
    assert all(store.append(record) for record in records)
    assert store.records() == Store(store.folder).records() == records
    assert Store(store.folder).records()[2].environment == {"cpu": "α", "fold": 0}
    assert records[1].key in Store(store.folder)
    assert ("mlp", "other", 0, 0) not in store
    assert repr(Store("nowhere")) == "Store('nowhere')"


def test_settings_and_machine_stand_once_in_the_file(tmp_path, make_record):
    store = Store(tmp_path)
    for fold in range(3):
        Store(tmp_path).append(make_record(fold=fold, environment=Hashed(cpu="fast")))
    Store(tmp_path).append(make_record(settings={"rounds": 2}, environment=Hashed(cpu="fast")))
    defined = {line["define"]: line["content"] for line in lines(store) if "define" in line}
    assert len(defined) == 3  # two kinds of settings, one machine
    assert len(lines(store)) == 3 + 4
    stored = [line for line in lines(store) if "define" not in line]
    assert {defined[line["environment"]]["cpu"] for line in stored} == {"fast"}
    assert [defined[line["resolved"]]["settings"]["latent"]["rounds"] for line in stored] == [1, 1, 1, 2]


def test_of_two_records_of_a_key_the_first_wins(tmp_path, make_record):
    store = Store(tmp_path)
    assert store.append(make_record(0.25))
    assert not store.append(make_record(0.75))
    assert not Store(tmp_path).append(make_record(0.75))
    assert [record.test_score for record in Store(tmp_path).records()] == [0.25]


def test_concatenation_merges(tmp_path, make_record):
    left, right = Store(tmp_path / "left"), Store(tmp_path / "right")
    left.append(make_record(0.25, fold=0))
    right.append(make_record(0.75, fold=0))
    right.append(make_record(0.5, fold=1, environment=Hashed(cpu="other")))
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "records.jsonl").write_bytes(left.path.read_bytes() + right.path.read_bytes())
    both = Store(tmp_path / "both")
    assert [record.test_score for record in both.records()] == [0.25, 0.5]
    assert left.merge(right) == 1
    assert left.records() == both.records() == Store(left.folder).records()
    assert left.merge(right) == 0


@given(cut=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_torn_line_is_ignored_and_cut_off(tmp_path_factory, cut):
    def record(fold):
        return Record(Unit("mlp", "cora", False, "honest", fold), 0.5, 8, 1, 0, 1.0, 1)

    store = Store(tmp_path_factory.mktemp("store"))
    store.append(record(0))
    start = store.path.stat().st_size
    store.append(record(1))
    length = store.path.stat().st_size - start
    os.truncate(store.path, start + cut % (length + 1))
    survives = cut % (length + 1) >= length - 1  # only the line end may be missing
    assert len(Store(store.folder)) == 1 + survives
    assert Store(store.folder).append(record(2))
    assert folds(store) == ([0, 1, 2] if survives else [0, 2])
    assert [line["fold"] for line in lines(store) if "fold" in line] == folds(store)


def test_a_record_without_its_definition_is_refused(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.write_bytes(store.path.read_bytes().splitlines(keepends=True)[-1])
    with pytest.raises(LatopoError, match=r"line 1: Record: resolved .* is not defined"):
        Store(tmp_path)


def test_an_edited_definition_is_noticed(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.write_text(store.path.read_text().replace('"rounds": 1', '"rounds": 2'))
    with pytest.raises(LatopoError, match="line 1: the content has the hash"):
        Store(tmp_path)


def test_a_bad_line_in_the_middle_is_an_error_with_its_number(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.write_bytes(store.path.read_bytes() + b"<<<<<<< ours\n" + store.path.read_bytes())
    with pytest.raises(LatopoError, match=r"records\.jsonl, line 4: .*repair or delete that line"):
        Store(tmp_path)


def test_a_line_of_a_newer_version_is_not_cut_off(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    newer = store.path.read_bytes() + json.dumps({**make_record(fold=1).to_json(), "colour": "red"}).encode()
    store.path.write_bytes(newer)
    with pytest.raises(LatopoError, match="unknown fields colour"):
        store.append(make_record(fold=2))
    assert store.path.read_bytes() == newer


def test_nan_in_the_file_is_refused(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(0.5))
    store.path.write_text(store.path.read_text().replace('"test_score": 0.5', '"test_score": NaN'))
    with pytest.raises(LatopoError, match="line 3: Record: test_score is nan"):
        Store(tmp_path)


def test_empty_lines_do_no_harm(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record(fold=0))
    store.path.write_bytes(store.path.read_bytes() + b"\n\n")
    Store(tmp_path).append(make_record(fold=1))
    assert folds(store) == [0, 1]


def test_a_full_disk_is_reported_and_what_was_torn_is_cut_off(tmp_path, make_record, monkeypatch):
    store = Store(tmp_path)
    store.append(make_record(fold=0))
    whole = store.path.read_bytes()

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, text):
            return self.file.write(text[:100])

        def fileno(self):
            return self.file.fileno()

    with store.writing() as file:
        monkeypatch.setattr(store, "_file", Full(file))
        with pytest.raises(LatopoError, match="is the disk full"):
            store.append(make_record(fold=1))
    assert len(store.path.read_bytes()) == len(whole) + 100
    assert make_record(fold=1).key not in store
    Store(tmp_path).append(make_record(fold=2))
    assert folds(store) == [0, 2]


def test_there_is_one_writer(tmp_path, make_record):
    late = Store(tmp_path)
    with Store(tmp_path).writing():
        with pytest.raises(LatopoError, match=r"records\.jsonl is being written by another process; wait"):
            late.append(make_record())
        assert Store(tmp_path).records() == []  # readers are welcome
    assert late.append(make_record())


def test_a_new_writer_knows_what_the_last_one_wrote(tmp_path, make_record):
    late = Store(tmp_path)
    Store(tmp_path).append(make_record(0.25))
    assert not late.append(make_record(0.75))
    assert late.append(make_record(fold=1))
    assert folds(late) == [0, 1]


def test_the_lock_of_a_killed_writer_is_free(tmp_path, make_record):
    worker = subprocess.Popen([sys.executable, "-c", HANG, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout.readline() == "writing\n"
        with pytest.raises(LatopoError, match="another process"):
            Store(tmp_path).append(make_record())
    finally:
        worker.send_signal(signal.SIGKILL)
        assert worker.wait(timeout=30) == -signal.SIGKILL
        worker.stdout.close()
    assert Store(tmp_path).append(make_record())


def test_reading_needs_no_write_permission(tmp_path, make_record):
    store = Store(tmp_path)
    store.append(make_record())
    store.path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert len(Store(tmp_path)) == 1
    finally:
        tmp_path.chmod(0o755)
