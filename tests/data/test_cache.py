import os

import pytest

from latopo.data.cache import cache_root, written_atomically
from latopo.errors import LatopoError


def test_cache_follows_xdg_then_home(monkeypatch, tmp_path):
    monkeypatch.delenv("LATOPO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "latopo"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_root() == tmp_path / "home" / ".cache" / "latopo"


def test_failed_write_leaves_the_old_file_and_no_draft(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")

    def write_half() -> None:
        with written_atomically(target) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def write(path):
    with written_atomically(path) as draft:
        draft.write_text("")


def test_missing_folders_are_made(tmp_path):
    write(tmp_path / "new" / "folder" / "file")
    assert (tmp_path / "new" / "folder" / "file").exists()


def test_unusable_cache_folder_says_what_to_set(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LatopoError, match="LATOPO_CACHE"):
        write(tmp_path / "file" / "below" / "file")


def test_read_only_cache_folder_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(LatopoError, match="read-only"):
        write(tmp_path / "file")
