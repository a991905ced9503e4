import torch

from latopo.models.branches import LatentBranch, SeparateGivenBranch, SharedGivenBranch, View, manifold
from latopo.models.settings import Latent
from latopo.nn.node_conv import graph_product

X = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
EDGES = torch.tensor([[0, 1, 2], [1, 2, 3]])


def view(edges):
    return View(X, X, X, edges)


def test_the_shared_branch_convolves_the_hidden_features():
    branch = SharedGivenBranch(4)
    expected = (graph_product(X @ branch.conv.weight, EDGES) + branch.conv.bias).relu()
    torch.testing.assert_close(branch(view(EDGES)), expected)
    torch.testing.assert_close(branch(view(None)), (X @ branch.conv.weight + branch.conv.bias).relu())


def test_the_separate_branch_is_a_gcn_up_to_its_last_matrix():
    branch = SeparateGivenBranch(4, 5, dropout=0.0)
    expected = graph_product(graph_product(branch.first(X), EDGES).relu(), EDGES)
    torch.testing.assert_close(branch(view(EDGES)), expected)
    torch.testing.assert_close(branch(view(None)), branch.first(X).relu())


def test_the_latent_branch_infers_before_dropout_and_passes_messages_after_it():
    branch = LatentBranch(4, 0.0, Latent()).eval()
    seen = View(X, X, torch.zeros(6, 4), None)
    features, topology = branch(seen)
    assert torch.equal(topology.complex.edge_index, branch(view(None))[1].complex.edge_index)
    assert not torch.equal(features, branch(view(None))[0])
    assert features.size(1) == LatentBranch.channels(4, Latent()) == 8


def test_manifold_uses_every_coordinate():
    for channels in (3, 8, 32):
        assert sum(manifold(channels).sizes) == channels
