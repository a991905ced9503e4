import networkx as nx
import pytest
import torch
from torch_geometric.data import Batch, Data

from latopo import induced_cycles
from latopo.data import from_graphs
from latopo.data.graph_set import find_rings


def random_graphs(count=14, seed=0):
    graphs = []
    for number in range(count):
        graph = nx.gnp_random_graph(3 + number % 9, 0.4, seed=seed + number)
        pairs = torch.tensor(list(graph.edges), dtype=torch.int64).view(-1, 2).t()
        edges = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = torch.randn(graph.number_of_nodes(), 3, generator=torch.Generator().manual_seed(number))
        attr = (edges.sum(0) % 4).float()[:, None]
        graphs.append(Data(x=x, edge_index=edges, edge_attr=attr, y=torch.tensor([number % 2])))
    return graphs


def rings_of(batch):
    """Graph and set of edges, each by its two nodes, of every ring."""
    found = []
    for ring in range(batch.ring_length.numel()):
        sides = batch.side_edge[batch.side_ring == ring]
        found.append((int(batch.ring_graph[ring]), frozenset(map(tuple, batch.edge_index[:, sides].t().tolist()))))
    return sorted(found, key=str)


@pytest.mark.parametrize("index", [[3], [5, 0, 13], list(range(14)), [2, 2]])
def test_a_batch_is_what_pyg_makes_of_the_same_graphs(index):
    graphs = random_graphs()
    batch = from_graphs(graphs)[0].batch(torch.tensor(index))
    expected = Batch.from_data_list([graphs[number] for number in index])
    assert torch.equal(batch.x, expected.x)
    assert torch.equal(batch.node_graph, expected.batch)
    once = expected.edge_index[0] < expected.edge_index[1]
    pairs, attr = expected.edge_index[:, once], expected.edge_attr[once]
    order = torch.argsort(pairs[0] * len(expected.x) + pairs[1])
    assert torch.equal(batch.edge_index, pairs[:, order])
    assert torch.equal(batch.edge_attr, attr[order])
    assert batch.num_graphs == len(index)


@pytest.mark.parametrize("index", [[8], [5, 0, 13], list(range(14))])
def test_the_rings_of_a_batch_are_the_induced_cycles_of_its_graphs(index):
    batch = from_graphs(random_graphs())[0].batch(torch.tensor(index))
    expected = []
    for rows in induced_cycles(batch.edge_index, len(batch.x), 6).values():
        for row in rows.tolist():
            sides = zip(row, row[1:] + row[:1], strict=True)
            edges = frozenset(tuple(sorted(side)) for side in sides)
            expected.append((int(batch.node_graph[row[0]]), edges))
    assert rings_of(batch) == sorted(expected, key=str)
    assert batch.ring_length.sum() == batch.side_edge.numel()


def test_sides_follow_each_other_around_the_ring():
    batch = from_graphs(random_graphs())[0].batch(torch.arange(14))
    assert batch.ring_length.numel() > 10
    for ring in range(batch.ring_length.numel()):
        ends = batch.edge_index[:, batch.side_edge[batch.side_ring == ring]].t().tolist()
        around = zip(ends, ends[1:] + ends[:1], strict=True)
        assert all(set(one) & set(other) for one, other in around)


def test_a_set_without_rings_has_empty_ones():
    path = torch.tensor([[0, 1], [1, 2]])
    lengths, graphs, sides = find_rings(path, torch.zeros(3, dtype=torch.int64))
    assert lengths.numel() == graphs.numel() == sides.numel() == 0
    graphs, _ = from_graphs([Data(x=torch.ones(3, 1), edge_index=path, y=number % 2) for number in range(10)])
    assert graphs.batch(torch.tensor([1, 2])).ring_length.numel() == 0


def test_moving_keeps_everything():
    graphs, _ = from_graphs(random_graphs())
    moved = graphs.to("cpu")
    assert (len(moved), moved.num_classes) == (len(graphs), 2)
    assert torch.equal(moved.batch(torch.tensor([4])).x, graphs.batch(torch.tensor([4])).x)
