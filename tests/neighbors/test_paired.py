import pytest
import torch

from latopo.neighbors import Hyperbolic, get_similarity
from latopo.neighbors.paired import paired_similarity

ROW, COL = torch.tensor([0, 0, 3, 2, 1]), torch.tensor([1, 1, 0, 2, 3])


@pytest.mark.parametrize("name", ["euclidean", "squared", "inner", "cosine", "hyperbolic"])
def test_values_and_gradients_are_those_of_the_gathered_points(name):
    measure = Hyperbolic() if name == "hyperbolic" else get_similarity(name)
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(4, 3, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(2))
    weight = torch.linspace(-1, 1, 5, dtype=torch.float64)
    answers = []
    for values in (paired_similarity(x, y, ROW, COL, measure), measure.paired(x[ROW], y[COL])):
        answers.append((values.detach(), *torch.autograd.grad((weight * values).sum(), [x, y])))
    for ours, theirs in zip(*answers, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


def test_equal_points_pass_no_gradient():
    x = torch.ones(2, 3, requires_grad=True)
    paired_similarity(x, x, torch.tensor([0]), torch.tensor([1]), get_similarity("euclidean")).sum().backward()
    assert torch.equal(x.grad, torch.zeros(2, 3))
