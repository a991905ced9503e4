"""The torch path, which other devices take, against the compiled one."""

import pytest
import torch

from latopo.entmax import _cpu, _torch

ALPHAS = [1.0, 1.0 + 1e-6, 1.1, 1.5, 1.75, 2.0, 2.5, 4.0, 10.0, 100.0]
LENGTHS = torch.tensor([0, 1, 2, 5, 30, 0, 200, 60, 1, 0])
PTR = torch.cat([torch.zeros(1, dtype=torch.int64), LENGTHS.cumsum(0)])


def ragged(scale: float, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    scores = scale * torch.randn(int(PTR[-1]), generator=generator, dtype=torch.float64)
    scores[40:60] = scores[45]  # ties
    scores[[3, 70, 71]] = -torch.inf
    return scores.to(dtype), torch.randn(int(PTR[-1]), generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
def test_forward_and_backward_agree_in_float64(alpha, scale):
    scores, grad = ragged(scale, torch.float64)
    alphas = torch.tensor([alpha], dtype=torch.float64)
    prob = _cpu.forward(scores, PTR, alphas)
    torch.testing.assert_close(_torch.forward(scores, PTR, alphas), prob, rtol=0, atol=1e-13)
    expected = _cpu.backward(prob, grad, PTR, alphas, True)
    got = _torch.backward(prob, grad, PTR, alphas, True)
    torch.testing.assert_close(got, expected, rtol=1e-8, atol=1e-10)
    assert not _torch.backward(prob, grad, PTR, alphas, False)[1].any()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_float32_is_close_to_float64(alpha):
    scores, _ = ragged(1.0, torch.float32)
    single = _torch.forward(scores, PTR, torch.tensor([alpha]))
    double = _torch.forward(scores.double(), PTR, torch.tensor([alpha]).double())
    torch.testing.assert_close(single.double(), double, rtol=0, atol=2e-6)


def test_one_alpha_per_row():
    scores, grad = ragged(1.0, torch.float64)
    alphas = torch.tensor(ALPHAS, dtype=torch.float64)
    prob = _torch.forward(scores, PTR, alphas)
    torch.testing.assert_close(prob, _cpu.forward(scores, PTR, alphas), rtol=0, atol=1e-13)
    expected = _cpu.backward(prob, grad, PTR, alphas, True)
    torch.testing.assert_close(_torch.backward(prob, grad, PTR, alphas, True), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_thousand_ties_under_a_large_alpha(dtype):
    # 1000 to the power of −(α − 1) underflows in both types.
    scores = torch.zeros(1001, dtype=dtype)
    scores[-1] = -1e-3
    prob = _torch.forward(scores, torch.tensor([0, 1001]), torch.tensor([500.0], dtype=dtype))
    torch.testing.assert_close(prob[:-1], torch.full((1000,), 1e-3, dtype=dtype))
    assert prob[-1] == 0


def test_no_rows_and_rows_without_a_solution():
    alpha = torch.tensor([1.5])
    assert _torch.forward(torch.empty(0), torch.tensor([0]), alpha).shape == (0,)
    assert _torch.forward(torch.empty(0), torch.tensor([0, 0, 0]), alpha).shape == (0,)
    inf, nan = torch.inf, torch.nan
    scores = torch.tensor([-inf, -inf, nan, 0.0, inf, 0.0, 0.0, 0.0])
    prob = _torch.forward(scores, torch.tensor([0, 2, 4, 6, 8]), alpha)
    expected = torch.tensor([0.0, 0.0, nan, nan, nan, nan, 0.5, 0.5])
    torch.testing.assert_close(prob, expected, equal_nan=True)
