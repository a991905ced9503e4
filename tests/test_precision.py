import pytest
import torch

from latopo._precision import widen


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_keeps_small_terms_of_a_large_sum(dtype):
    x = torch.full((2000,), 0.5, dtype=dtype)
    assert float(widen(x).cumsum(0)[-1]) == 1000.0
    assert widen(x).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_anything_wider_is_the_same_tensor(dtype):
    x = torch.ones(2, dtype=dtype)
    assert widen(x) is x
