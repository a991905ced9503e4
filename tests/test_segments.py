"""Groups of numbers."""

import torch

from latopo._segments import Segments


def test_sorted_within_groups():
    values = torch.tensor([3.0, 1.0, 2.0, -1.0, 2.0])
    assert Segments().sorted(values)[0].tolist() == [3.0, 2.0, 2.0, 1.0, -1.0]
    ordered, groups = Segments(torch.tensor([1, 0, 1, 0, 0]), 2).sorted(values)
    assert ordered.tolist() == [2.0, 1.0, -1.0, 3.0, 2.0]
    assert groups.number.tolist() == [0, 0, 0, 1, 1]
    assert values.tolist() == [3.0, 1.0, 2.0, -1.0, 2.0]


def test_bfloat16_is_sorted_too():
    values = torch.tensor([1.0, 3.0, 2.0], dtype=torch.bfloat16)
    assert Segments().sorted(values)[0].tolist() == [3.0, 2.0, 1.0]
    assert Segments().sorted(values)[0].dtype == torch.bfloat16
