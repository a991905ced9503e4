import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from latopo._files import atomic_path, check_output, new_folder, recover, replaced_files, write_files
from latopo.errors import LatopoError


def test_a_failed_block_leaves_the_old_file_and_no_draft(tmp_path):
    target = tmp_path / "answer.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_path(target) as draft:
        draft.write_text(str(1 / 0))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_names_the_file_and_not_its_draft(tmp_path):
    with pytest.raises(OSError, match="nowhere") as caught, atomic_path(tmp_path / "nowhere" / "a.txt") as draft:
        draft.write_text("lost")
    assert caught.value.filename == str(tmp_path / "nowhere" / "a.txt")


def test_files_that_belong_together_come_together(tmp_path, monkeypatch):
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda path, content: 1 / (content != b"bad"))
    with pytest.raises(ZeroDivisionError):
        write_files(tmp_path, {"a": b"2", "b": b"bad"})
    monkeypatch.undo()
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"1", b"1"]
    assert len(list(tmp_path.iterdir())) == 2


def test_devices_pipes_and_folders_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for target in ("/dev/null", tmp_path / "pipe", tmp_path / "folder"):
        with pytest.raises(LatopoError, match="is not a regular file"), atomic_path(target):
            pytest.fail("the block must not be entered")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path):
    name = "0123456789abcdef" * 2
    (tmp_path / f".a.txt.{name}").write_text("dead")
    (tmp_path / f".latopo-{name}").mkdir()
    (tmp_path / ".latopo-mine").mkdir()
    with atomic_path(tmp_path / "a.txt") as living:
        living.write_text("1")
        with atomic_path(tmp_path / "a.txt") as draft:
            draft.write_text("2")
            assert living.exists()
    with new_folder(tmp_path / "b"), new_folder(tmp_path / "c"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".latopo-mine", "a.txt", "b", "c"]
    assert (tmp_path / "a.txt").read_text() == "1"


def test_a_replacement_that_stopped_is_finished_by_the_next_reader(tmp_path, monkeypatch):
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(
        LatopoError, match=r"new files are complete, but .latopo-ready in it could not be emptied .*next command"
    ):
        write_files(tmp_path, {"a": b"2", "b": b"2"})
    monkeypatch.undo()
    recover(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"2", "b": b"2"}


def test_what_is_left_of_a_replacement_is_an_error_and_is_removed_by_the_next_reader(tmp_path, monkeypatch):
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    monkeypatch.setattr("os.rmdir", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(LatopoError, match=r"could not be emptied and removed \(Input/output error\).*next command"):
        write_files(tmp_path, {"a": b"2"})
    monkeypatch.undo()
    assert (tmp_path / ".latopo-ready").is_dir()
    recover(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"2", "b": b"1"}


def test_two_readers_may_finish_the_same_replacement(tmp_path, monkeypatch):
    (tmp_path / ".latopo-ready").mkdir()
    (tmp_path / ".latopo-ready" / "a").write_bytes(b"2")
    replace = os.replace

    def second(source, target):
        monkeypatch.setattr("os.replace", replace)
        recover(tmp_path)  # the other process is faster, and removes the folder
        replace(source, target)

    monkeypatch.setattr("os.replace", second)
    recover(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"2"}


def test_a_strangers_folder_moves_and_removes_nothing_outside_of_it(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "run"
    (folder / ".latopo-ready").mkdir(parents=True)
    outside.mkdir()
    (outside / "mine").write_text("1")
    (folder / ".latopo-ready" / "link").symlink_to(outside / "mine")
    (folder / ".latopo-ready" / "stale.json").write_text(json.dumps(["../outside/mine", "..", "", 5, "/etc/passwd"]))
    recover(folder)
    (folder / ".latopo-ready").symlink_to(outside)
    recover(folder)
    assert (outside / "mine").read_text() == "1"
    assert [path.name for path in folder.iterdir()] == [".latopo-ready"]


def test_two_writers_at_once_do_not_mix(tmp_path):
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    with replaced_files(tmp_path, ["a", "b"]) as first, replaced_files(tmp_path, ["a", "b"]) as second:
        for name in "ab":
            (first / name).write_bytes(b"2")
            (second / name).write_bytes(b"3")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"2", "b": b"2"}


def test_what_may_not_be_written_over(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("run.json", "edges.csv", "notes.csv", "table.csv"):
        (tmp_path / name).write_text("")
    for name, message in {
        ".": "is a folder", "pipe": "is a device, a pipe or a socket", "run.json": "is a file of the run",
        "edges.csv": "is a file of the run", "weights.safetensors": "is a file of the run",
        "table.csv": "is the file that is read",
    }.items():  # fmt: skip
        with pytest.raises(LatopoError, match=f"--out .*{message}"):
            check_output(tmp_path / name, source=tmp_path / "table.csv")
    for name in ("notes.csv", "new.csv", "report.html"):
        check_output(tmp_path / name, source=tmp_path / "table.csv")
    (tmp_path / "run.json").unlink()
    check_output(tmp_path / "edges.csv")


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/null", "/proc/self/fd/1"])
def test_special_files_are_never_replaced(path):
    with pytest.raises(LatopoError, match="a device, a pipe or a socket"):
        check_output(path)
    with pytest.raises(LatopoError, match="not a regular file"), atomic_path(path):
        pass


def test_writers_at_once_do_not_take_each_others_drafts_for_leftovers(tmp_path):
    target = tmp_path / "answer.txt"

    def write(number):
        with atomic_path(target) as draft:
            draft.write_text(f"{number:04}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(600)))
    assert len(target.read_text()) == 4
    assert list(tmp_path.iterdir()) == [target]
