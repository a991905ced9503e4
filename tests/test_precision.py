import pytest
import torch

from latopo._precision import full_precision, widen


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_keeps_small_terms_of_a_large_sum(dtype):
    x = torch.full((2000,), 0.5, dtype=dtype)
    assert float(widen(x).cumsum(0)[-1]) == 1000.0
    assert widen(x).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_anything_wider_is_the_same_tensor(dtype):
    x = torch.ones(2, dtype=dtype)
    assert widen(x) is x


class Careful(torch.nn.Linear):
    @full_precision
    def forward(self, x):
        return super().forward(x)


def test_autocast_stays_outside():
    layer = Careful(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.nn.Linear(3, 3)(torch.ones(2, 3)).dtype == torch.bfloat16
        assert layer(torch.ones(2, 3, dtype=torch.bfloat16)).dtype == torch.float32
        assert layer.double()(torch.ones(2, 3)).dtype == torch.float64
    assert layer.bfloat16()(torch.ones(2, 3, dtype=torch.bfloat16)).dtype == torch.bfloat16
