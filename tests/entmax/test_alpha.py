import pytest
import torch

from latopo.entmax import LearnableAlpha
from latopo.errors import LatopoError


@pytest.mark.parametrize("initial", [1.5, 1.1001, 2.0, 3.999])
def test_initial_value(initial):
    assert LearnableAlpha(initial)().item() == pytest.approx(initial, abs=1e-6)
    assert LearnableAlpha(initial)().shape == ()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("raw", [-1e4, -30.0, 0.0, 30.0, 1e4])
def test_cannot_leave_the_interval(dtype, raw):
    alpha = LearnableAlpha().to(dtype)
    torch.nn.init.constant_(alpha.raw, raw)
    value = alpha()
    assert torch.tensor(1.1, dtype=value.dtype) <= value <= torch.tensor(4.0, dtype=value.dtype)


def test_learns_and_resets():
    alpha = LearnableAlpha(1.5)
    for _ in range(20):
        (slope,) = torch.autograd.grad(alpha(), alpha.raw)
        torch.nn.init.constant_(alpha.raw, float(alpha.raw.detach() + 10 * slope))
    assert 3.9 < alpha().item() < 4
    alpha.reset_parameters()
    assert alpha().item() == pytest.approx(1.5, abs=1e-6)


def test_gradient():
    alpha = LearnableAlpha(2.0).double()
    torch.autograd.gradcheck(lambda raw: torch.func.functional_call(alpha, {"raw": raw}, ()), (alpha.raw,))


@pytest.mark.parametrize("initial", [1.0, 1.1, 4.0, 5.0, float("nan")])
def test_bad_initial_value(initial):
    with pytest.raises(LatopoError, match=r"LearnableAlpha: initial must lie strictly between 1\.1 and 4\.0, got"):
        LearnableAlpha(initial)


def test_repr():
    assert repr(LearnableAlpha()) == "LearnableAlpha(initial=1.5, low=1.1, high=4.0)"
