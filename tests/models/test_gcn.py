import pytest
import torch
from torch_geometric.nn import GCNConv

from latopo.errors import LatopoError
from latopo.models import GCN

EDGES = torch.tensor([[0, 1, 2], [1, 2, 3]])


def test_it_is_pygs():
    model, x = GCN(4, 3, hidden_channels=5).eval(), torch.randn(6, 4)
    first, second = GCNConv(4, 5), GCNConv(5, 3)
    with torch.no_grad():
        # Ours adds the first bias before the average, as part of the linear map.
        first.lin.weight.copy_(model.first.weight)
        model.first.bias.zero_()
        second.lin.weight.copy_(model.head.weight.t())
        second.bias.copy_(model.head.bias)
    both = torch.cat([EDGES, EDGES.flip(0)], dim=1)
    torch.testing.assert_close(model(x, EDGES).prediction, second(first(x, both).relu(), both))


def test_queries_have_no_edges():
    model, x = GCN(4, 3).eval(), torch.randn(6, 4)
    alone = model(x, torch.zeros(2, 0, dtype=torch.int64)).prediction
    torch.testing.assert_close(model.join(x, None).prediction, alone)


def test_it_cannot_do_without_a_graph():
    with pytest.raises(LatopoError, match="GCN: edge_index is None, expected a graph"):
        GCN(6, 3)(torch.ones(4, 6))
