import pytest
import torch

from latopo.errors import LatopoError
from latopo.models.committee import shares


def parts(targets, y, held_out=None, members=3, enough=10):
    return shares(targets(torch.tensor(y)), held_out, members, enough)


def test_every_training_node_is_left_out_once(targets):
    found = parts(targets, [0, 1] * 7)
    assert len(found) == 3
    assert torch.cat([part.left for part in found]).sort().values.tolist() == list(range(14))
    for part in found:
        assert sorted([*part.train.tolist(), *part.left.tolist()]) == list(range(14))
        assert part.selection.tolist() == part.left.tolist()


def test_classes_are_dealt_out_evenly(targets):
    y = [0] * 9 + [1] * 3
    for part in parts(targets, y):
        assert sorted(y[node] for node in part.left.tolist()) == [0, 0, 0, 1]


def test_held_out_nodes_choose_too_or_alone_if_there_are_enough(targets):
    held_out = torch.arange(100, 109)
    assert all(set(held_out.tolist()) < set(part.selection.tolist()) for part in parts(targets, [0, 1] * 4, held_out))
    (alone,) = parts(targets, [0, 1] * 4, held_out, enough=9)
    assert alone.selection is held_out
    assert alone.left.numel() == 0
    assert alone.train.tolist() == list(range(8))


def test_no_more_members_than_nodes_and_at_least_two(targets):
    assert len(parts(targets, [0, 1])) == 2
    with pytest.raises(LatopoError, match="1 training nodes, expected at least 2"):
        parts(targets, [0])
