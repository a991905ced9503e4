import torch

from latopo.bench.search import clusters, ours
from latopo.neighbors import NeighborSearch


def test_clusters_are_the_same_in_every_process_and_lie_apart():
    x = clusters(3000, width=8)
    assert torch.equal(x, clusters(3000, width=8))
    near = torch.cdist(x[:50], x).topk(2, largest=False).values[:, 1]
    assert near.median() < 0.5 * torch.cdist(x[:50], x).median()


def test_the_certified_gradient_is_the_exact_one():
    x = clusters(600, width=8)
    found, expected = (ours(x, 30.0, NeighborSearch(method))[2] for method in ("certified", "exact"))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
    assert found.abs().max() > 0.01
