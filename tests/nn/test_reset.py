import torch
from torch import nn

from latopo.nn.reset import reset


def test_resets_nested_parts_and_skips_the_rest():
    inner, outer = nn.Linear(3, 3), nn.Linear(3, 3)
    parts = nn.ModuleList([nn.Sequential(inner, nn.ReLU()), outer])
    before = [inner.weight.detach().clone(), outer.weight.detach().clone()]
    reset(parts, None, 1.5, "text")
    assert not torch.equal(before[0], inner.weight)
    assert not torch.equal(before[1], outer.weight)
