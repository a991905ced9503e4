import pytest
import torch

from latopo.errors import LatopoError
from latopo.nn.batch import split_batch


def split(x, edge_index, batch):
    return list(split_batch("DCM", x, edge_index, batch))


def test_rows_and_edges_go_to_their_graph():
    x = torch.arange(12.0).view(6, 2)
    edge_index = torch.tensor([[4, 0, 5, 1, 2], [3, 1, 4, 0, 2]], dtype=torch.int32)
    parts = split(x, edge_index, torch.tensor([0, 0, 2, 7, 7, 7]))
    assert [part.tolist() for part, _ in parts] == [x[:2].tolist(), x[2:3].tolist(), x[3:].tolist()]
    assert [edges.tolist() for _, edges in parts] == [[[0, 1], [1, 0]], [[0], [0]], [[1, 2], [0, 1]]]


def test_without_edges_or_points():
    x = torch.zeros(3, 2)
    assert [(part.size(0), edges) for part, edges in split(x, None, torch.tensor([1, 1, 4]))] == [(2, None), (1, None)]
    none = torch.zeros(0, dtype=torch.int64)
    assert [part.shape for part, _ in split(x[:0], None, none)] == [(0, 2)]
    ((_, edges),) = split(x[:0], none.view(2, 0), none)
    assert edges.shape == (2, 0)


def test_clear_errors():
    x = torch.zeros(3, 2)
    with pytest.raises(LatopoError, match=r"DCM: batch .* int64 of shape \[3\], got torch.int64 of shape \[2\]"):
        split(x, None, torch.tensor([0, 0]))
    with pytest.raises(LatopoError, match=r"got torch.float32 of shape \[3\]"):
        split(x, None, torch.zeros(3))
    with pytest.raises(LatopoError, match="DCM: batch must ascend"):
        split(x, None, torch.tensor([0, 1, 0]))
    with pytest.raises(LatopoError, match=r"DCM: edge \(1, 2\) runs between two graphs"):
        split(x, torch.tensor([[0, 1], [1, 2]]), torch.tensor([0, 0, 1]))
    with pytest.raises(LatopoError, match="DCM: edge_index holds vertex 3"):
        split(x, torch.tensor([[0], [3]]), torch.tensor([0, 0, 1]))
