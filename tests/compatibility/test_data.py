import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader, RandomNodeLoader
from torch_geometric.nn import GCNConv
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from torch_geometric.utils import is_undirected, k_hop_subgraph, to_undirected

from latopo import CellComplex


def test_a_loader_of_graphs(net):
    graphs = [Data(x=torch.randn(n, 8), edge_index=torch.randint(n, (2, 2 * n))) for n in (9, 14, 11)]
    (batch,) = DataLoader(graphs, batch_size=3)
    together = net.eval()(batch.x, batch.edge_index, batch.batch)
    apart = torch.cat([net(graph.x, graph.edge_index) for graph in graphs])
    assert torch.allclose(together, apart, atol=1e-5)


def test_complexes_batch_like_data(net, x):
    net.eval()(x)
    cells = net.cells.detach()
    batch = Batch.from_data_list([cells.to_data(), cells.to_data()])
    assert CellComplex.from_data(batch) == CellComplex.disjoint_union([cells, cells])


def test_latent_edges_in_the_form_of_pyg(net, x):
    net(x)
    edge_index, edge_weight = net.cells.to_edge_index()
    assert is_undirected(edge_index, edge_weight)
    expected, weight = to_undirected(net.cells.edge_index, net.cells.edge_prob)
    order = (edge_index[0] * 40 + edge_index[1]).argsort()
    assert torch.equal(edge_index[:, order], expected)
    assert torch.equal(edge_weight[order], weight)
    GCNConv(8, 2)(x, edge_index, edge_weight).sum().backward()
    assert net.dcm.topology.graph.sampler.gain.shift.grad != 0  # the gradient reaches the topology


def test_latent_edges_without_probabilities_weigh_one():
    edge_index, edge_weight = CellComplex(3, [[0, 1], [1, 2]]).to_edge_index()
    assert edge_index.tolist() == [[0, 1, 1, 2], [1, 2, 0, 1]]
    assert edge_weight.tolist() == [1, 1, 1, 1]


def test_parts_of_a_graph(net, x, edge_index):
    parts = [net(part.x, part.edge_index).size(0) for part in RandomNodeLoader(Data(x, edge_index), num_parts=4)]
    assert sum(parts) == 40


def test_neighbourhoods_of_seed_nodes(net, x, edge_index):
    """What NeighborLoader hands out, made by hand: the seeds are the first rows, edges are numbered within."""
    seeds = torch.arange(5)
    near, _, _, _ = k_hop_subgraph(seeds, 2, edge_index)
    nodes = torch.cat([seeds, near[near >= 5]])
    number = torch.full((40,), -1)
    number[nodes] = torch.arange(nodes.numel())
    inside = (number[edge_index] >= 0).all(0)
    prediction = net(x[nodes], number[edge_index[:, inside]])[:5]
    prediction.sum().backward()
    assert prediction.shape == (5, 3)
    assert net.cells.num_nodes == nodes.numel()


@pytest.mark.skipif(not (WITH_PYG_LIB or WITH_TORCH_SPARSE), reason="NeighborLoader needs pyg-lib or torch-sparse")
def test_neighbor_loader(net, x, edge_index):
    from torch_geometric.loader import NeighborLoader

    for batch in NeighborLoader(Data(x, edge_index), [4, 4], batch_size=10):
        assert net(batch.x, batch.edge_index)[: batch.batch_size].shape == (batch.batch_size, 3)
