import torch

from latopo.training.seeding import RandomStream, seeded


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
    one, two = RandomStream(3, torch.device("cpu")), RandomStream(4, torch.device("cpu"))
    parts = []
    for _ in range(4):
        with one:
            parts.append(torch.rand(1))
        with two:
            torch.rand(7)
    assert torch.equal(torch.cat(parts), whole)
