import pytest
import torch
from torch_geometric.data import Data

from latopo import induced_cycles
from latopo.data import from_graphs
from latopo.errors import LatopoError
from latopo.models.graph_settings import LatentEdges
from latopo.models.latent_edges import EdgeInference


def graphs(position=False):
    draw = torch.Generator().manual_seed(0)
    made = []
    for number in range(10):
        size = 6 + number
        around = torch.arange(size)
        edges = torch.stack([around, (around + 1) % size])
        pos = {"pos": torch.randn(size, 3, generator=draw)} if position else {}
        made.append(Data(x=torch.randn(size, 4, generator=draw), edge_index=edges, y=number % 2, **pos))
    return from_graphs(made)[0].batch(torch.arange(10))


def infer(batch, **settings):
    torch.manual_seed(0)
    return EdgeInference(4, LatentEdges(**settings), 6)(batch.x, batch)


def test_given_edges_stay_and_new_ones_have_a_probability():
    batch = graphs()
    found, weight = infer(batch)
    count = len(batch.x)
    given = batch.edge_index[0] * count + batch.edge_index[1]
    every = found.edge_index[0] * count + found.edge_index[1]
    assert torch.equal(every, every.unique())
    is_given = torch.isin(every, given)
    assert int(is_given.sum()) == given.numel()
    assert bool((weight[is_given] == 1).all())
    assert bool((weight[~is_given] > 0).all())
    assert int((~is_given).sum()) > 10
    assert torch.equal(found.edge_attr.flatten() == 1, is_given)


def test_no_edge_joins_two_graphs():
    batch = graphs()
    for keep in (True, False):
        found, _ = infer(graphs(position=True), keep_given=keep)
        ends = batch.node_graph[found.edge_index]
        assert torch.equal(ends[0], ends[1])


def test_rings_are_those_of_all_edges():
    found, _ = infer(graphs())
    expected = induced_cycles(found.edge_index, len(found.x), 6)
    assert found.ring_length.bincount(minlength=7)[3:].tolist() == [len(expected[length]) for length in (3, 4, 5, 6)]
    assert torch.equal(found.ring_length, found.side_ring.bincount())
    assert bool((found.ring_graph.diff() >= 0).all())


def test_clouds_have_no_given_edges_and_lengths_as_features():
    batch = graphs(position=True)
    found, weight = infer(batch, keep_given=False)
    ends = batch.position[found.edge_index]
    torch.testing.assert_close(found.edge_attr.flatten(), (ends[0] - ends[1]).norm(dim=1))
    assert bool((weight < 1).any())
    with pytest.raises(LatopoError, match="need coordinates"):
        infer(graphs(), keep_given=False)


def test_the_degree_sets_how_many_edges_are_added():
    batch = graphs(position=True)
    few, many = (infer(batch, keep_given=False, degree=degree).weight.numel() for degree in (1.0, 3.0))
    # A node chooses about that many on average; an edge was chosen by one of its ends, or by both.
    assert 0.5 * len(batch.x) < few < 1.5 * len(batch.x) < many
