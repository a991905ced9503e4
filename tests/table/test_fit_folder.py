import errno
import os
from pathlib import Path

import pytest

from latopo.errors import LatopoError
from latopo.table.fit_folder import check_run_folder, new_run_folder


def crash_while_writing(folder):
    with new_run_folder(folder, overwrite=True) as draft:
        (draft / "half").write_text("")
        raise RuntimeError("crash")


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with new_run_folder(tmp_path / "a" / "run", overwrite=False) as draft:
        (draft / "run.json").write_text("{}")
        assert not (tmp_path / "a" / "run").exists()
    assert (tmp_path / "a" / "run" / "run.json").exists()
    with pytest.raises(RuntimeError, match="crash"):
        crash_while_writing(tmp_path / "a" / "run")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["run"]
    assert [path.name for path in (tmp_path / "a" / "run").iterdir()] == ["run.json"]


def test_files_that_are_not_part_of_a_run_stay(tmp_path):
    (tmp_path / "run" / "figures").mkdir(parents=True)
    for name in ("run.json", "complex.png", "notes.txt", "figures/1.png"):
        (tmp_path / "run" / name).write_text("old")
    with new_run_folder(tmp_path / "run", overwrite=True) as draft:
        (draft / "run.json").write_text("new")
    names = sorted(str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*"))
    assert names == ["figures", "figures/1.png", "notes.txt", "run.json"]  # nothing of the old run, nothing else lost
    assert (tmp_path / "run" / "run.json").read_text() == "new"


def fill_the_disk(folder):
    with new_run_folder(folder, overwrite=False):
        raise OSError(errno.EFBIG, "File too large")


def test_what_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(LatopoError, match=r"--out .*run cannot be written \(File too large\)"):
        fill_the_disk(tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_may_be_used_and_a_link_may_not(tmp_path):
    (tmp_path / "empty").mkdir()
    check_run_folder(tmp_path / "empty", overwrite=False)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(LatopoError, match="is not a folder"):
        check_run_folder(tmp_path / "link", overwrite=True)


def test_a_kill_while_a_run_is_replaced_leaves_the_old_one(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("run.json", "metrics.json"):
        (folder / name).write_text("old")
    moved = []

    def killed(path, target):
        moved.append(path.name)
        if len(moved) == 3:  # both old files are aside, the first new one comes
            raise KeyboardInterrupt
        os.replace(path, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt), new_run_folder(folder, overwrite=True) as draft:
        (draft / "run.json").write_text("new")
    (kept,) = folder.glob(".latopo-old-*")
    assert {path.name: path.read_text() for path in kept.iterdir()} == {"run.json": "old", "metrics.json": "old"}
