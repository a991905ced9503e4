import numpy as np
import pytest
import torch

from latopo.entmax import _cpu


def test_block_bounds_share_the_entries():
    ptr = np.concatenate([[0], np.cumsum([100_000, 1, 1, 1, 50_000, 0, 0, 3])])
    bounds = _cpu._block_bounds(ptr)
    assert bounds[0] == 0
    assert bounds[-1] == 8
    assert (np.diff(bounds) >= 0).all()
    # The long rows never share a block.
    assert any(bounds[k] == 1 for k in range(len(bounds)))
    assert _cpu._block_bounds(np.array([0])).tolist() == [0]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_result_does_not_depend_on_the_blocks(monkeypatch, block):
    generator = torch.Generator().manual_seed(0)
    lengths = torch.tensor([0, 5, 1, 40, 0, 0, 3, 17, 0])
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    scores = torch.randn(66, generator=generator)
    grad = torch.randn(66, generator=generator)
    alpha = torch.linspace(1, 3, 9)
    prob = _cpu.forward(scores, ptr, alpha)
    grads = _cpu.backward(prob, grad, ptr, alpha, True)
    monkeypatch.setattr(_cpu, "_BLOCK", block)
    assert torch.equal(_cpu.forward(scores, ptr, alpha), prob)
    assert all(torch.equal(a, b) for a, b in zip(_cpu.backward(prob, grad, ptr, alpha, True), grads, strict=True))
