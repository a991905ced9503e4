import hashlib
import io
import os
import pickle
from importlib import import_module
from pathlib import Path
from urllib.error import URLError

import pytest
import torch_geometric.datasets

from latopo.data import find_dataset, list_datasets, load, raw_files
from latopo.errors import LatopoError

ENTRIES = [find_dataset(name) for name in list_datasets()]


@pytest.fixture
def no_network(monkeypatch):
    def fail(*args, **kwargs):
        raise URLError("Name or service not known")

    monkeypatch.setattr(raw_files, "urlopen", fail)


def serve(monkeypatch, source: Path, damage: bytes = b""):
    """Answer every request with the file of that name somewhere under ``source``; returns the addresses asked for."""
    asked = []

    def answer(url, timeout):
        asked.append(url)
        return io.BytesIO(next(source.rglob(url.rpartition("/")[2])).read_bytes() + damage)

    monkeypatch.setattr(raw_files, "urlopen", answer)
    return asked


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_every_raw_file_is_registered_and_no_other():
    assert {path for entry in ENTRIES for path in (*entry.raw_files, *entry.split_files)} == set(raw_files.registry())
    assert all(len(known.sha256) == 64 for known in raw_files.registry().values())
    assert {entry.name for entry in ENTRIES if entry.split_files} == {"cora", "citeseer", "pubmed"}
    assert all(len(entry.split_files) in (0, 10) for entry in ENTRIES)


PYG = {"Planetoid": ("Planetoid", {}), "Coauthor": ("Coauthor", {}), "WebKB": ("WebKB", {}), "Actor": ("Actor", {}),
       "WikipediaNetwork": ("WikipediaNetwork", {"geom_gcn_preprocess": True})}  # fmt: skip


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.path.split("/")[0] in PYG], ids=lambda entry: entry.name)
def test_paths_and_addresses_are_those_of_pyg(entry, monkeypatch, tmp_path):
    family, options = PYG[entry.path.split("/")[0]]
    base = getattr(torch_geometric.datasets, family)
    asked = []

    class Recording(base):
        process = load = lambda *args: None

    module = import_module(base.__module__)
    if hasattr(module, "download_url"):
        monkeypatch.setattr(module, "download_url", lambda url, folder: asked.append(url))
    else:
        monkeypatch.setattr(module.fs, "cp", lambda url, folder: asked.append(url))
    names = () if family == "Actor" else (entry.title if family in ("Planetoid", "Coauthor") else entry.name,)
    paths = Recording(str(tmp_path / family), *names, **options).raw_paths
    expected = {Path(path).relative_to(tmp_path).as_posix(): url for path, url in zip(paths, asked, strict=True)}
    assert {path: raw_files.registry()[path].url for path in entry.raw_files} == expected


def test_argument_wins_over_environment_over_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("LATOPO_DATA", raising=False)
    monkeypatch.setenv("LATOPO_CACHE", str(tmp_path / "cache"))
    assert raw_files.resolve_data_root() == tmp_path / "cache" / "data"
    monkeypatch.setenv("LATOPO_DATA", str(tmp_path / "named"))
    assert raw_files.resolve_data_root() == tmp_path / "named"
    assert raw_files.resolve_data_root(tmp_path / "argument") == tmp_path / "argument"


def test_a_folder_needs_all_files(tmp_path):
    (tmp_path / "a").write_text("")
    assert raw_files.find_folder(("a",), tmp_path) == tmp_path
    assert raw_files.find_folder(("a", "b"), tmp_path) is None


def test_earlier_downloads_are_found(fresh_cache, tmp_path):
    raw_files.download_root().mkdir(parents=True)
    (raw_files.download_root() / "a").write_text("")
    assert raw_files.find_folder(("a",), tmp_path) == raw_files.download_root()


def test_a_known_file_passes_and_another_does_not(monkeypatch, tmp_path):
    digest = hashlib.sha256(b"").hexdigest()
    monkeypatch.setattr(raw_files, "registry", lambda: {"file": raw_files.RawFile(digest, "")})
    (tmp_path / "file").write_bytes(b"")
    assert raw_files.require_files(("file",), tmp_path) == tmp_path
    (tmp_path / "file").write_bytes(b"other")
    with pytest.raises(LatopoError, match=f"file is damaged.*{digest}.*replace the file"):
        raw_files.require_files(("file",), tmp_path)


@pytest.mark.parametrize("name", ["cora", "texas", "chameleon-filtered"])
def test_real_files_are_the_known_ones(real, name):
    assert raw_files.require_files(find_dataset(name).raw_files) == real(name)


@pytest.mark.parametrize("name", ["cora", "cs", "texas", "actor", "squirrel", "chameleon-filtered"])
def test_without_files_and_network_the_message_names_the_file(name, no_network, fresh_cache, tmp_path):
    expected = tmp_path / "root" / find_dataset(name).raw_files[0]
    with pytest.raises(LatopoError) as caught:
        load(name, tmp_path / "root")
    message = str(caught.value)
    assert str(expected) in message
    assert "Name or service not known" in message
    assert "--data-root" in message
    assert "\n" not in message
    assert files_in(fresh_cache) == []
    assert not (tmp_path / "root").exists()


def test_message_names_the_first_file_that_is_really_missing(no_network, fresh_cache, tmp_path):
    paths = find_dataset("texas").raw_files
    (tmp_path / paths[0]).parent.mkdir(parents=True)
    (tmp_path / paths[0]).write_text("")
    with pytest.raises(LatopoError, match=rf"{Path(paths[1]).name} \(and 10 more beside it\) is missing"):
        load("texas", tmp_path)


def test_missing_files_are_downloaded_into_the_root(monkeypatch, tiny_filtered, fresh_cache, tmp_path):
    asked = serve(monkeypatch, tiny_filtered)
    assert load("chameleon-filtered", tmp_path / "new").num_nodes == 12
    assert asked == ["https://nowhere.test/chameleon_filtered.npz"]
    assert files_in(tmp_path / "new") == ["filtered/chameleon_filtered.npz"]
    assert files_in(fresh_cache) == ["parsed/chameleon-filtered-v1.safetensors"]


def test_downloads_avoid_a_read_only_root(monkeypatch, tiny_filtered, fresh_cache, tmp_path):
    serve(monkeypatch, tiny_filtered)
    (tmp_path / "locked").mkdir()
    writable = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "locked" and writable(path, mode))
    load("chameleon-filtered", tmp_path / "locked")
    assert files_in(tmp_path / "locked") == []
    assert "data/filtered/chameleon_filtered.npz" in files_in(fresh_cache)


def test_damaged_download_is_not_kept(monkeypatch, tiny_filtered, fresh_cache, tmp_path):
    serve(monkeypatch, tiny_filtered, damage=b"!")
    with pytest.raises(LatopoError, match="damaged"):
        load("chameleon-filtered", tmp_path / "new")
    assert files_in(tmp_path / "new") == files_in(fresh_cache) == []


def test_only_what_is_missing_is_downloaded(monkeypatch, real, fresh_cache, tmp_path):
    source, paths = real("texas"), find_dataset("texas").raw_files
    asked = serve(monkeypatch, source / "WebKB" / "texas")
    (tmp_path / paths[0]).parent.mkdir(parents=True)
    (tmp_path / paths[0]).write_bytes((source / paths[0]).read_bytes())
    before = (tmp_path / paths[0]).stat()
    assert raw_files.require_files(paths, tmp_path) == tmp_path
    assert asked == [raw_files.registry()[path].url for path in paths[1:]]
    after = (tmp_path / paths[0]).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


class Trap:
    def __reduce__(self):
        return os.mkdir, (os.environ["LATOPO_TEST_TRAP"],)


def test_an_unknown_pickle_is_never_opened(monkeypatch, fresh_cache, tmp_path):
    monkeypatch.setenv("LATOPO_TEST_TRAP", str(tmp_path / "sprung"))
    for path in find_dataset("cora").raw_files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(LatopoError, match=r"ind\.cora\.allx is damaged or another version"):
        load("cora", tmp_path)
    assert not (tmp_path / "sprung").exists()
    pickle.loads((tmp_path / find_dataset("cora").raw_files[0]).read_bytes())
    assert (tmp_path / "sprung").exists()  # the trap does work
