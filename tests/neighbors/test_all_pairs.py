import pytest
import torch

from latopo.neighbors import get_similarity
from latopo.neighbors.all_pairs import sampled_statistics


def points(n, d=6, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("name", ["euclidean", "inner"])
def test_statistics_of_the_sampled_columns(anchored, name):
    x, others = points(30).requires_grad_(), points(40, seed=1).requires_grad_() if anchored else None
    sample = torch.tensor([0, 4, 5, 9, 20, 29])
    columns = (x if others is None else others)[sample]
    z = get_similarity(name).pairwise(x, columns)
    weight = torch.ones_like(z)
    if not anchored:
        weight[sample, torch.arange(6)] = 0
    mean = (z * weight).sum(1) / weight.sum(1)
    deviation = (((z - mean[:, None]).square() * weight).sum(1) / weight.sum(1)).sqrt()
    found = sampled_statistics(x, others, get_similarity(name), sample)
    leaves = [x] if others is None else [x, others]
    for ours, theirs in zip(found, (mean, deviation), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
        outer = points(30, 1, seed=2)[:, 0]
        gradients = [torch.autograd.grad((part * outer).sum(), leaves, retain_graph=True) for part in (ours, theirs)]
        torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-10)


def test_error_of_the_deviation_is_what_the_documentation_says():
    x = points(6000, 32).float()
    exact = -torch.cdist(x, x)[~torch.eye(6000, dtype=torch.bool)].view(6000, 5999)
    deviation, kurtosis = exact.std(1, correction=0), ((exact - exact.mean(1, True)) ** 4).mean(1) / exact.var(1) ** 2
    sample = torch.randperm(6000, generator=torch.Generator().manual_seed(0))[:2048].sort().values
    found = sampled_statistics(x, None, get_similarity("euclidean"), sample)[1]
    error = (found / deviation - 1).square().mean().sqrt()
    stated = ((kurtosis.mean() - 1) / (4 * 2048)).sqrt()
    assert stated == pytest.approx(0.016, rel=0.1)
    assert 0.3 * stated < error < 1.5 * stated
