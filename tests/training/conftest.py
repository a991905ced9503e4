from collections.abc import Iterator
from typing import NamedTuple

import pytest
import torch
from torch import Tensor


class Problem(NamedTuple):
    x: Tensor
    y: Tensor
    ring: Tensor
    train: Tensor
    selection: Tensor


@pytest.fixture
def blobs() -> Problem:
    """Forty points in three overlapping blobs, labels by blob, a ring through all, nodes 30 to 39 for the test."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(40) % 3
    x = 1.5 * torch.randn(3, 6, generator=generator)[y] + torch.randn(40, 6, generator=generator)
    ring = torch.stack([torch.arange(40), torch.arange(1, 41) % 40])
    return Problem(x, y, ring, torch.arange(20), torch.arange(20, 30))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine cost more than these few nodes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
