import pytest
import torch
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from latopo.errors import LatopoError
from latopo.nn import NodeConv
from latopo.nn.node_conv import graph_product


def test_two_nodes_by_hand():
    x = torch.tensor([[1.0, 0.0], [3.0, 2.0], [5.0, 4.0]])
    weight = torch.tensor([0.5])
    # Degrees 1.5, 1.5 and 1: node 0 gets (1 · x_0 + 0.5 · x_1) / 1.5; node 2 is alone.
    expected = torch.tensor([[2.5 / 1.5, 1.0 / 1.5], [3.5 / 1.5, 2.0 / 1.5], [5.0, 4.0]])
    torch.testing.assert_close(graph_product(x, torch.tensor([[0], [1]]), weight), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_gcn_of_pyg(house, points, weighted):
    x = points[:7]
    ours, theirs = NodeConv(6, 3).double(), GCNConv(6, 3).double()
    with torch.no_grad():
        ours.bias.uniform_()
        theirs.lin.weight.copy_(ours.weight.t())
        theirs.bias.copy_(ours.bias)
    weight = house.edge_prob if weighted else None
    both, both_weight = to_undirected(house.edge_index, weight)
    torch.testing.assert_close(ours(x, house.edge_index, weight), theirs(x, both, both_weight))


def test_without_graph_it_is_linear(points):
    conv = NodeConv(6, 3, bias=False).double()
    torch.testing.assert_close(conv(points), points @ conv.weight)
    assert conv.bias is None


def test_gradcheck(house):
    x = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    weight = house.edge_prob.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x, weight: graph_product(x, house.edge_index, weight), (x, weight))


def test_edge_fades_out(house, points):
    conv, x = NodeConv(6, 3).double(), points[:7]
    for gone in range(house.num_edges):
        faint = house.edge_prob.clone()
        faint[gone] = 1e-9
        rest = torch.arange(house.num_edges) != gone
        without = conv(x, house.edge_index[:, rest], house.edge_prob[rest])
        torch.testing.assert_close(conv(x, house.edge_index, faint), without, atol=1e-6, rtol=0)


def test_weight_of_an_only_edge_learns():
    x = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    weight = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    graph_product(x, torch.tensor([[0], [1]]), weight)[0, 0].backward()
    # (x_0 + w x_1) / (1 + w) has the derivative (x_1 − x_0) / (1 + w)².
    torch.testing.assert_close(weight.grad, torch.tensor([2 / 1.5**2], dtype=torch.float64))


def test_no_edges_and_no_nodes():
    none = torch.zeros(2, 0, dtype=torch.int64)
    x = torch.randn(3, 2)
    torch.testing.assert_close(graph_product(x, none), x)
    assert NodeConv(2, 4)(x[:0], none).shape == (0, 4)


def test_reset_and_repr():
    conv = NodeConv(2, 3)
    before = conv.weight.detach().clone()
    with torch.no_grad():
        conv.bias.fill_(5.0)
    conv.reset_parameters()
    assert not torch.equal(before, conv.weight)
    assert torch.equal(conv.bias, torch.zeros(3))
    assert repr(conv) == "NodeConv(2, 3, bias=True)"
    assert repr(NodeConv(2, 3, bias=False)) == "NodeConv(2, 3, bias=False)"


def test_wrong_width():
    with pytest.raises(LatopoError, match=r"NodeConv: x has shape \[5, 3\], expected \[N, in_channels=2\]"):
        NodeConv(2, 3)(torch.ones(5, 3))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_hub_in_half_precision(dtype):
    star = torch.stack([torch.zeros(2999, dtype=torch.int64), torch.arange(1, 3000)])
    x = torch.ones(3000, 1)
    found = graph_product(x.to(dtype), star)
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), graph_product(x, star), rtol=0.01, atol=0)


def test_edges_in_both_directions_are_refused():
    conv, x = NodeConv(2, 2), torch.ones(3, 2)
    path = torch.tensor([[1, 1], [0, 2]])
    assert torch.equal(conv(x, path), conv(x, torch.tensor([[0, 1], [1, 2]])))
    for wrong in (torch.cat([path, path.flip(0)], dim=1), torch.tensor([[0, 1], [1, 1]])):
        with pytest.raises(LatopoError, match="NodeConv: edge_index must list each undirected edge once"):
            conv(x, wrong)
