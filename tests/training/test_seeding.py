from itertools import product
from threading import Event, Thread

import pytest
import torch
from torch import nn
from torch.nn import functional

from latopo.training.seeding import RandomStream, plain_torch, seeded


def test_the_callers_random_state_is_untouched():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with seeded(1):
        first = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    with seeded(1):
        assert torch.equal(torch.rand(3), first)


def test_streams_take_turns():
    with seeded(3):
        whole = torch.rand(4)
    one, two = RandomStream(3), RandomStream(4)
    parts = []
    for _ in range(4):
        with one:
            parts.append(torch.rand(1))
        with two:
            torch.rand(7)
    assert torch.equal(torch.cat(parts), whole)


def draw_everything():
    torch_layers = nn.Linear(5, 3), nn.GRU(4, 4)
    x = torch.linspace(-1, 1, 350).view(50, 7)
    kept = functional.dropout(x.clone(), 0.2, True, True)
    return [
        *(parameter for layer in torch_layers for parameter in layer.parameters()),
        *(torch.rand(3), torch.randn(2), torch.randint(9, (4,)), torch.randperm(5), torch.rand_like(x)),
        *(torch.bernoulli(x.abs()), torch.multinomial(x[0].abs(), 2), torch.empty(3).exponential_(), kept),
        *(functional.dropout(x, 0.3), nn.Dropout(0.5)(x), functional.alpha_dropout(x, 0.4, True)),
        *(nn.init.orthogonal_(torch.empty(3, 3)), functional.gumbel_softmax(x), functional.dropout(x, 0.3, False)),
    ]


def test_numbers_are_those_of_the_global_generator_with_the_same_seed():
    torch.manual_seed(3)
    expected = draw_everything()
    state = torch.get_rng_state()
    with seeded(3):
        found = draw_everything()
    assert torch.equal(torch.get_rng_state(), state)
    for mine, theirs in zip(found, expected, strict=True):
        assert torch.equal(mine, theirs)


def test_a_generator_that_is_given_is_used():
    with seeded(0):
        assert torch.equal(
            torch.rand(3, generator=torch.Generator().manual_seed(7)),
            torch.rand(3, generator=torch.Generator().manual_seed(7)),
        )


def test_other_threads_neither_disturb_nor_are_disturbed():
    stop = Event()

    def draw():
        while not stop.is_set():
            torch.rand(1)
            with seeded(9):
                torch.rand(1)

    with seeded(5):
        expected = [torch.rand(2) for _ in range(300)]
    thread = Thread(target=draw)
    thread.start()
    try:
        with seeded(5):
            found = [torch.rand(2) for _ in range(300)]
    finally:
        stop.set()
        thread.join()
    assert torch.equal(torch.cat(found), torch.cat(expected))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)])
def test_modes_of_the_caller_end_at_the_block(mode):
    weight = nn.Parameter(torch.ones(3, 3))
    with mode():
        with plain_torch():
            result = torch.ones(2, 3) @ weight
            assert result.dtype == torch.float32
            result.sum().backward()
        assert torch.is_inference_mode_enabled() == (mode is torch.inference_mode)
    assert weight.grad is not None


def test_the_default_dtype_comes_back_when_the_last_block_ends():
    torch.set_default_dtype(torch.float64)
    try:
        first, second = plain_torch(), plain_torch()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert torch.tensor(0.5).dtype == torch.float32
        second.__exit__(None, None, None)
        assert torch.tensor(0.5).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_dropout_never_borrows_the_global_generator(monkeypatch):
    # While it is borrowed, a stranger's thread may draw from it.
    monkeypatch.setattr(RandomStream, "_lend", lambda *args: pytest.fail("the global generator was borrowed"))
    x = torch.ones(4, 3)
    with RandomStream(0):
        for training, inplace, p in product([False, True], [False, True], [0.0, 0.4, 1.0]):
            functional.dropout(x.clone(), p, training, inplace)
