import os
from pathlib import Path

import pytest

from latopo.data import root
from latopo.errors import LatopoError


def test_argument_wins_over_environment_over_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("LATOPO_DATA", raising=False)
    monkeypatch.setenv("LATOPO_CACHE", str(tmp_path / "cache"))
    assert root.resolve_data_root() == tmp_path / "cache" / "data"
    monkeypatch.setenv("LATOPO_DATA", str(tmp_path / "named"))
    assert root.resolve_data_root() == tmp_path / "named"
    assert root.resolve_data_root(tmp_path / "argument") == tmp_path / "argument"


def test_cache_follows_xdg_then_home(monkeypatch, tmp_path):
    monkeypatch.delenv("LATOPO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert root.cache_root() == tmp_path / "xdg" / "latopo"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert root.cache_root() == tmp_path / "home" / ".cache" / "latopo"


def test_raw_folder_needs_all_files(tmp_path):
    (tmp_path / "a").write_text("")
    assert root.raw_folder(("a",), tmp_path) == tmp_path
    assert root.raw_folder(("a", "b"), tmp_path) is None


def test_raw_folder_finds_earlier_downloads(fresh_cache, tmp_path):
    root.download_root().mkdir(parents=True)
    (root.download_root() / "a").write_text("")
    assert root.raw_folder(("a",), tmp_path) == root.download_root()


def test_downloads_go_to_a_writable_root_even_if_it_does_not_exist_yet(tmp_path):
    assert root.download_target(tmp_path / "new" / "root") == tmp_path / "new" / "root"


def test_downloads_avoid_a_read_only_root(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    assert root.download_target(tmp_path) == root.download_root()


def test_failed_write_leaves_the_old_file_and_no_draft(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")

    def write_half() -> None:
        with root.written_atomically(target) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_unusable_cache_folder_says_what_to_set(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LatopoError, match="LATOPO_CACHE"):
        root.make_folder(tmp_path / "file" / "below")


def test_read_only_cache_folder_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(LatopoError, match="read-only"):
        root.make_folder(tmp_path)
