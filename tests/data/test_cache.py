import torch
from torch_geometric.data import Data

from latopo.data.cache import read_data, write_data
from latopo.data.features import csr_tensor


def _graph(x: torch.Tensor) -> Data:
    return Data(
        x=x, y=torch.tensor([1, 0]), edge_index=torch.tensor([[0], [1]]), train_mask=torch.tensor([True, False])
    )


def test_dense_round_trip(tmp_path):
    data = _graph(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t())  # not contiguous
    write_data(tmp_path / "file", data)
    back = read_data(tmp_path / "file")
    assert sorted(back.keys()) == ["edge_index", "train_mask", "x", "y"]
    assert all(torch.equal(back[key], data[key]) for key in ("x", "y", "edge_index", "train_mask"))


def test_sparse_round_trip(tmp_path):
    x = csr_tensor(torch.tensor([0, 0, 2]), torch.tensor([1, 3]), torch.tensor([5.0, 6.0]), (2, 4))
    write_data(tmp_path / "file", _graph(x))
    back = read_data(tmp_path / "file")
    assert back.x.layout == torch.sparse_csr
    assert back.x.shape == (2, 4)
    assert torch.equal(back.x.to_dense(), x.to_dense())
    assert sorted(back.keys()) == ["edge_index", "train_mask", "x", "y"]


def test_missing_or_damaged_file_is_none(tmp_path):
    assert read_data(tmp_path / "file") is None
    write_data(tmp_path / "file", _graph(torch.eye(2)))
    content = (tmp_path / "file").read_bytes()
    for damaged in (b"", content[:20], content[:-1]):
        (tmp_path / "file").write_bytes(damaged)
        assert read_data(tmp_path / "file") is None


def test_others_may_read_it(tmp_path):
    write_data(tmp_path / "file", _graph(torch.ones(2, 3)))
    (tmp_path / "plain").touch()
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode
