import pytest
import torch
from torch.nn import functional

from latopo.models.late_fusion import fit_fusion


def said(sure, y, classes=3, noise=0.5, seed=0):
    """Log-probabilities that are right as often as ``sure`` says."""
    generator = torch.Generator().manual_seed(seed)
    logits = noise * torch.randn(len(y), classes, generator=generator)
    right = torch.rand(len(y), generator=generator) < sure
    shown = torch.where(right, y, (y + 1) % classes)
    return (logits + 2 * functional.one_hot(shown, classes)).log_softmax(1)


def test_the_better_branch_weighs_more_and_more_with_more_nodes():
    weights = []
    for count in (6, 300):
        y = torch.arange(count) % 3
        fusion = fit_fusion(torch.stack([said(0.9, y), said(0.5, y, seed=1)]), y, 3)
        weights.append(float(fusion.weight[0]))
    assert 0.5 < weights[0] < weights[1]


def test_equal_branches_weigh_alike_and_a_timid_one_is_made_surer():
    y = torch.arange(200) % 3
    answer = said(0.95, y)
    fusion = fit_fusion(torch.stack([0.2 * answer, 0.2 * answer]), y, 3)
    torch.testing.assert_close(fusion.weight, torch.tensor([0.5, 0.5], dtype=torch.float64))
    assert fusion.temperature > 1.5


def test_no_weights_near_the_found_ones_are_likelier():
    y = torch.arange(60) % 3
    answers = torch.stack([said(0.8, y), said(0.7, y, seed=1), said(0.5, y, seed=2)]).double()
    pull = 1.0

    def loss(score, heat):
        fused = torch.einsum("b,bnk->nk", score.softmax(0), answers)
        fit = functional.cross_entropy(heat.exp() * fused, y)
        return fit + pull / 60 * (score.square().sum() + heat.square())

    found = fit_fusion(answers, y, 3, pull)
    # The scores are known up to a shift, and the pull chooses the one of smallest length: their mean is 0.
    score = found.weight.log() - found.weight.log().mean()
    heat = torch.tensor(found.temperature, dtype=torch.float64).log()
    best = loss(score, heat)
    for step in torch.eye(4, dtype=torch.float64) * 0.05:
        for sign in (-1, 1):
            assert loss(score + sign * step[:3], heat + sign * step[3]) >= best - 1e-6


def test_values():
    value = torch.linspace(-1, 1, 50)
    answers = torch.stack([value + 0.1 * value.sign(), -value])[:, :, None]
    fusion = fit_fusion(answers, value, 0)
    assert fusion.weight[0] > 0.9
    assert fusion(answers).shape == (50, 1)
    assert fusion(answers)[:, 0].dtype == torch.float32


def test_one_branch_of_values_is_taken_as_it_is():
    answer = torch.tensor([[[2.0], [3.0]]])
    assert fit_fusion(answer, torch.tensor([0.0, 1.0]), 0)(answer).tolist() == [[2.0], [3.0]]


@pytest.mark.parametrize("count", [1, 2])
def test_few_judged_nodes_are_enough(count):
    y = torch.zeros(count, dtype=torch.int64)
    assert torch.isfinite(fit_fusion(torch.stack([said(1.0, y), said(0.0, y)]), y, 3).weight).all()
