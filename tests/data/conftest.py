"""Every test of this folder writes to a temporary cache; real graphs are used where the data root has them."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from latopo.data import find_dataset
from latopo.data.raw_files import RawFile, find_folder


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(session_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One cache per session, so that each real graph is parsed once."""
    monkeypatch.setenv("LATOPO_CACHE", str(session_cache))
    return session_cache


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "fresh-cache"
    monkeypatch.setenv("LATOPO_CACHE", str(folder))
    return folder


@pytest.fixture
def real() -> Callable[[str], Path]:
    """Call with a name: the folder that holds the real raw files, or a skipped test."""

    def folder_of(name: str) -> Path:
        folder = find_folder(find_dataset(name).raw_files)
        if folder is None:
            pytest.skip(f"no raw files of {name} under the data root; set LATOPO_DATA")
        return folder

    return folder_of


@pytest.fixture
def tiny_filtered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root whose "chameleon-filtered" is a graph of 12 nodes, with its checksum known to latopo."""
    path = tmp_path / "root" / find_dataset("chameleon-filtered").raw_files[0]
    path.parent.mkdir(parents=True)
    masks = np.arange(12) % 3 == np.arange(3)[:, None]
    np.savez(
        path,
        node_features=np.eye(12, 5, dtype=np.float32),
        node_labels=np.arange(12) % 2,
        edges=np.array([[0, 1], [1, 2], [2, 1], [3, 3]]),
        train_masks=np.stack([masks[0]] * 10),
        val_masks=np.stack([masks[1]] * 10),
        test_masks=np.stack([masks[2]] * 10),
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = {"filtered/chameleon_filtered.npz": RawFile(digest, "https://nowhere.test/chameleon_filtered.npz")}
    monkeypatch.setattr("latopo.data.raw_files.registry", lambda: known)
    return tmp_path / "root"
