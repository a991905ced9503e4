from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from latopo import CellComplex
from latopo.errors import LatopoError


def test_a_saved_complex_comes_back(house: CellComplex, tmp_path: Path) -> None:
    path = tmp_path / "house.safetensors"
    house.save(path)
    loaded = CellComplex.load(str(path))
    assert loaded == house
    assert list(loaded.polygons) == [3, 4]
    assert torch.equal(loaded.edge_prob, house.edge_prob)
    assert torch.equal(loaded.polygon_prob, house.polygon_prob)
    assert [file.name for file in tmp_path.iterdir()] == ["house.safetensors"]


def test_degenerate_complexes_and_gradients(house: CellComplex, empty: CellComplex, tmp_path: Path) -> None:
    path = tmp_path / "complex.safetensors"
    learned = CellComplex(6, house.edge_index, edge_prob=torch.full((6,), 0.5, requires_grad=True))
    for complex in (empty, CellComplex(3, torch.zeros(2, 0, dtype=torch.int64)), learned):
        complex.save(path)
        loaded = CellComplex.load(path)
        assert loaded == complex
        assert (loaded.edge_prob is None) == (complex.edge_prob is None)
        assert loaded.polygon_prob is None


def test_slices_of_one_tensor_can_be_saved(house: CellComplex, tmp_path: Path) -> None:
    probs = torch.rand(8)
    complex = CellComplex.from_canonical(6, house.edge_index, house.polygons, probs[:6], probs[6:])
    complex.save(tmp_path / "c")
    assert torch.equal(CellComplex.load(tmp_path / "c").polygon_prob, probs[6:])


def test_chords_raise_the_format_and_come_back(house: CellComplex, tmp_path: Path) -> None:
    def version(complex: CellComplex) -> str:
        complex.save(tmp_path / "c")
        with safe_open(tmp_path / "c", framework="pt") as file:
            return file.metadata()["version"]

    chords = CellComplex(4, [[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]], [[0, 1, 2, 3]], induced=False)
    assert version(house) == "1"  # which an older latopo reads
    assert version(chords) == "2"
    loaded = CellComplex.load(tmp_path / "c")
    assert loaded == chords
    assert loaded.induced is False


@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
def test_a_failed_save_leaves_the_old_file(
    house: CellComplex, empty: CellComplex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "complex"
    house.save(path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="disk full"):
        empty.save(path)
    assert CellComplex.load(path) == house
    assert [file.name for file in tmp_path.iterdir()] == ["complex"]


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_truncated_files(house: CellComplex, tmp_path: Path, size: int) -> None:
    path = tmp_path / "complex"
    house.save(path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(LatopoError, match=r"CellComplex.load: .*complex is no complete safetensors file"):
        CellComplex.load(path)


def _metadata(**changes: str) -> dict[str, str]:
    return {"format": "latopo.CellComplex", "version": "1", "num_nodes": "2"} | changes


EDGE = {"edge_index": torch.tensor([[0], [1]])}


@pytest.mark.parametrize(
    ("tensors", "metadata", "message"),
    [
        ({"weight": torch.zeros(2)}, None, "holds no complex saved by latopo"),
        (EDGE, _metadata(format="other"), "holds no complex saved by latopo"),
        (EDGE, _metadata(version="4"), "has format version 4, this latopo reads up to 3; upgrade latopo"),
        (EDGE, _metadata(num_nodes="many"), "damaged metadata"),
        ({}, _metadata(), "missing or unknown tensors"),
        (EDGE | {"extra": torch.zeros(1)}, _metadata(), "missing or unknown tensors"),
        (EDGE | {"polygons.x": torch.zeros(1)}, _metadata(), "missing or unknown tensors"),
        (EDGE, _metadata(num_nodes="1"), r"edge 0 \(0, 1\) has a vertex outside"),
    ],
)
def test_wrong_files(
    tensors: dict[str, torch.Tensor], metadata: dict[str, str] | None, message: str, tmp_path: Path
) -> None:
    save_file(tensors, tmp_path / "file", metadata)
    with pytest.raises(LatopoError, match=message):
        CellComplex.load(tmp_path / "file")


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CellComplex.load(tmp_path / "nothing")
