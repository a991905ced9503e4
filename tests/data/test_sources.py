import os
import pickle
import shutil
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix, random_array
from torch_geometric.io import read_npz

from latopo.data import find_dataset, load
from latopo.data.sources import fetch, read_coauthor
from latopo.errors import LatopoError


@pytest.fixture
def no_network(monkeypatch):
    def fail(*args, **kwargs):
        raise URLError("Name or service not known")

    monkeypatch.setattr("latopo.data.sources.download_url", fail)
    for module in ("webkb", "actor", "wikipedia_network", "coauthor"):
        monkeypatch.setattr(f"torch_geometric.datasets.{module}.download_url", fail)
    monkeypatch.setattr("torch_geometric.datasets.planetoid.fs.cp", fail)


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
    assert not [path for path in fresh_cache.rglob("*") if path.is_file()]
    assert not (tmp_path / "root").exists()


def test_message_names_the_first_file_that_is_really_missing(no_network, fresh_cache, tmp_path):
    files = find_dataset("texas").raw_files
    (tmp_path / files[0]).parent.mkdir(parents=True)
    (tmp_path / files[0]).write_text("")
    with pytest.raises(LatopoError, match=r"out1_graph_edges\.txt and 10 more"):
        load("texas", tmp_path)


def _download_from(source: Path, damage: bytes = b""):
    def download(url: str, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        content = next(source.rglob(url.rpartition("/")[2])).read_bytes()
        Path(folder, url.rpartition("/")[2]).write_bytes(content + damage)

    return download


def test_missing_files_are_downloaded_into_the_root(monkeypatch, tiny_filtered, fresh_cache, tmp_path):
    monkeypatch.setattr("latopo.data.sources.download_url", _download_from(tiny_filtered))
    data = load("chameleon-filtered", tmp_path / "new")
    assert data.num_nodes == 12
    stored = [path.relative_to(tmp_path / "new") for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert stored == [Path("filtered/chameleon_filtered.npz")]
    assert sorted(path.name for path in fresh_cache.iterdir()) == ["parsed"]


def test_damaged_download_is_not_kept(monkeypatch, tiny_filtered, fresh_cache, tmp_path):
    monkeypatch.setattr("latopo.data.sources.download_url", _download_from(tiny_filtered, damage=b"!"))
    with pytest.raises(LatopoError, match="damaged"):
        load("chameleon-filtered", tmp_path / "new")
    assert not [path for path in (*tmp_path.glob("new/**/*"), *fresh_cache.rglob("*")) if path.is_file()]


def test_fetch_does_not_replace_files_of_the_user(monkeypatch, tiny_filtered, fresh_cache):
    entry = find_dataset("chameleon-filtered")
    before = (tiny_filtered / entry.raw_files[0]).stat()
    monkeypatch.setattr("latopo.data.sources.download_url", _download_from(tiny_filtered))
    assert fetch(entry, entry.raw_files, tiny_filtered) == tiny_filtered
    after = (tiny_filtered / entry.raw_files[0]).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


class _Trap:
    def __reduce__(self):
        return os.mkdir, (os.environ["LATOPO_TEST_TRAP"],)


def test_an_unknown_pickle_is_never_opened(monkeypatch, fresh_cache, tmp_path):
    monkeypatch.setenv("LATOPO_TEST_TRAP", str(tmp_path / "sprung"))
    for raw_file in find_dataset("cora").raw_files:
        (tmp_path / raw_file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / raw_file).write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(LatopoError, match=r"ind\.cora\.x is damaged or another version"):
        load("cora", tmp_path)
    assert not (tmp_path / "sprung").exists()
    pickle.loads((tmp_path / find_dataset("cora").raw_files[0]).read_bytes())
    assert (tmp_path / "sprung").exists()  # the trap does work


def test_truncated_text_is_refused_although_the_cache_knows_the_graph(real, tmp_path):
    load("texas", real("texas"))
    copy = tmp_path / "root" / "WebKB"
    shutil.copytree(real("texas") / "WebKB" / "texas", copy / "texas", copy_function=shutil.copyfile)
    file = copy / "texas" / "raw" / "out1_graph_edges.txt"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(LatopoError, match=r"out1_graph_edges\.txt is damaged"):
        load("texas", tmp_path / "root")


def test_the_data_root_is_not_written_to(real, fresh_cache, tmp_path):
    shutil.copytree(real("texas") / "WebKB" / "texas", tmp_path / "WebKB" / "texas", copy_function=shutil.copyfile)
    before = sorted((tmp_path / "WebKB").rglob("*"))
    load("texas", tmp_path)
    assert sorted((tmp_path / "WebKB").rglob("*")) == before
    assert [path.name for path in fresh_cache.rglob("*") if path.is_file()] == ["texas-v1.safetensors"]


def _write_coauthor(path: Path, words: csr_matrix, adjacency: csr_matrix, labels: np.ndarray) -> None:
    arrays = {"labels": labels}
    for part, matrix in (("attr", words), ("adj", adjacency)):
        arrays |= {f"{part}_{key}": getattr(matrix, key) for key in ("data", "indices", "indptr", "shape")}
    np.savez(path, **arrays)


def _assert_same_as_pyg(path: Path) -> None:
    ours, theirs = read_coauthor(path), read_npz(str(path))
    reference = theirs.x.to_sparse_csr()
    assert ours.x.shape == theirs.x.shape
    assert torch.equal(ours.x.crow_indices(), reference.crow_indices())
    assert torch.equal(ours.x.col_indices(), reference.col_indices())
    assert torch.equal(ours.x.values(), reference.values())
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.y, theirs.y)


def test_coauthor_counts_become_ones_as_in_pyg(tmp_path):
    words = csr_matrix(np.ceil(3 * random_array((20, 9), density=0.3, rng=0).toarray()).astype(np.float32))
    adjacency = csr_matrix(np.ceil(random_array((20, 20), density=0.2, rng=1).toarray()) + np.eye(20))
    assert words.max() > 1
    _write_coauthor(tmp_path / "file.npz", words, adjacency, np.arange(20) % 3)
    _assert_same_as_pyg(tmp_path / "file.npz")


def test_coauthor_cs_equals_pyg(real):
    _assert_same_as_pyg(real("cs") / find_dataset("cs").raw_files[0])
