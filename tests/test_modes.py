"""What function modes see."""

import torch
from torch.overrides import TorchFunctionMode

from latopo import entmax_neighbors
from latopo._modes import unwatched
from latopo.neighbors import Euclidean


class Counting(TorchFunctionMode):
    count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


class Own(Euclidean):
    """A similarity of somebody's own, which may draw random numbers."""


def calls(function, *args, **kwargs):
    with Counting() as mode:
        function(*args, **kwargs)
    return mode.count


def test_modes_see_what_is_watched_only():
    x = torch.ones(3)
    assert calls(torch.exp, x) == 1
    assert calls(unwatched(torch.exp), x) == 0


def test_a_similarity_of_the_users_is_watched():
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    assert calls(entmax_neighbors, x) < calls(entmax_neighbors, x, similarity=Own()) - 20


def test_gradients_are_the_same():
    x = torch.randn(4, requires_grad=True)
    unwatched(torch.exp)(x).sum().backward()
    assert torch.equal(x.grad, x.detach().exp())
