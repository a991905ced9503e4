import torch
from torch_geometric.data import Data

from latopo.data import from_graphs
from latopo.models.graph_settings import ChosenRings
from latopo.models.ring_choice import RingChoice


def fused_rings():
    """A square, a pentagon and a hexagon in a row, each sharing an edge with the next."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (5, 6), (6, 3), (4, 7), (7, 8), (8, 9), (9, 10), (10, 5)]
    return torch.tensor(edges).t()


def batch(count=10):
    draw = torch.Generator().manual_seed(0)
    graphs = [Data(x=torch.randn(11, 4, generator=draw), edge_index=fused_rings(), y=i % 2) for i in range(count)]
    return from_graphs(graphs)[0].batch(torch.arange(count))


def test_the_best_ring_of_every_graph_has_weight_one():
    cells = batch()
    torch.manual_seed(0)
    weight = RingChoice(4, ChosenRings(ring_gain=3.0), 6)(cells.x, cells)
    assert weight.shape == cells.ring_length.shape == (30,)
    best = weight.new_zeros(10).scatter_reduce(0, cells.ring_graph, weight, "amax")
    torch.testing.assert_close(best, torch.ones(10))
    assert 0 < int((weight == 0).sum()) < 20


def test_every_length_is_chosen_though_longer_rings_score_lower():
    cells = batch(40)
    torch.manual_seed(0)
    weight = RingChoice(4, ChosenRings(ring_gain=6.0), 6)(cells.x, cells)
    shares = [float((weight[cells.ring_length == length] > 0).double().mean()) for length in (4, 5, 6)]
    assert min(shares) > 0.2
    assert max(shares) < 0.8


def test_scores_of_one_length_are_standardised():
    cells = batch(40)
    choice = RingChoice(4, ChosenRings(), 6)
    choice(cells.x, cells)
    means = {length: norm.running_mean.item() for length, norm in choice.norms.items()}
    assert means["3"] == 0.0
    assert all(means[length] < 0 for length in "456")


def test_a_single_ring_takes_the_running_statistics():
    ring = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5])
    graphs, _ = from_graphs([Data(x=torch.ones(5, 4), edge_index=ring, y=i % 2) for i in range(10)])
    choice = RingChoice(4, ChosenRings(), 6)
    alone = graphs.batch(torch.tensor([0]))
    assert choice(alone.x, alone).tolist() == [1.0]
    assert choice.norms["5"].training


def test_the_weights_have_a_gradient_to_everything_that_chooses():
    cells = batch()
    torch.manual_seed(0)
    choice = RingChoice(4, ChosenRings(), 6)
    choice(cells.x, cells).square().sum().backward()
    assert [key for key, weight in choice.named_parameters() if not weight.grad.any()] == []
