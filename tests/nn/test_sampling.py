import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.nn.sampling import gumbel, inclusion_probabilities, sample_budget


def test_gumbel_moments():
    noise = gumbel(torch.empty(200_000, dtype=torch.float64), torch.Generator().manual_seed(0))
    assert abs(noise.mean().item() - 0.5772) < 0.01
    assert abs(noise.var().item() - torch.pi**2 / 6) < 0.02


@settings(deadline=None)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30), st.floats(0.1, 35.0))
def test_inclusion_probabilities(values, budget):
    prob = torch.tensor(values, dtype=torch.float64)
    chance = inclusion_probabilities(prob, budget)
    assert chance.sum().item() == pytest.approx(min(budget, len(values)))
    assert ((chance > 0) & (chance <= 1)).all()
    # Below 1 they are proportional to the probabilities, and those at 1 belong to larger ones.
    inner = chance < 1 - 1e-12
    rate = chance[inner] / prob[inner]
    if rate.numel():
        torch.testing.assert_close(rate, rate[:1].expand_as(rate))
        assert (prob[~inner] * rate[0] >= 1 - 1e-9).all()


def test_inclusion_survives_rounding():
    # The second entry is lost in the sum, so the first must fit exactly: 1 / v · v never rounds to more than 1.
    for v in torch.linspace(0.01, 1, 100, dtype=torch.float64).tolist():
        assert inclusion_probabilities(torch.tensor([v, 1e-30], dtype=torch.float64), 1.0)[0] == pytest.approx(1.0)


def test_random_sample_has_the_expected_size():
    prob = torch.rand(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64) ** 3
    chance = inclusion_probabilities(prob, 100.0)
    generator = torch.Generator().manual_seed(1)
    masks = torch.stack([sample_budget(prob, 100.0, True, generator) for _ in range(400)]).double()
    deviation = (chance * (1 - chance)).sum().sqrt().item() / 20
    assert abs(masks.sum(1).mean().item() - 100) < 4 * deviation
    assert (masks.mean(0) - chance).abs().max().item() < 0.12


def test_deterministic_sample_takes_the_most_probable():
    prob = torch.tensor([0.2, 0.5, 0.2, 0.1])
    assert sample_budget(prob, 2, False).tolist() == [True, True, False, False]
    assert sample_budget(prob, 9, False).all()
    assert sample_budget(prob[:0], 2, False).numel() == 0
    assert sample_budget(prob[:0], 2, True).numel() == 0


def test_bad_budget():
    with pytest.raises(LatopoError, match="the budget must be > 0, got 0"):
        inclusion_probabilities(torch.ones(2), 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_to_the_budget(dtype):
    prob = torch.full((100_000,), 1e-3, dtype=dtype)
    kept = int(sample_budget(prob, 100, random=True, generator=torch.Generator().manual_seed(0)).sum())
    assert 60 < kept < 140
