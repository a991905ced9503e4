"""Who trains and who judges: once with many held-out nodes, else in a committee that leaves every node out once."""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo.errors import LatopoError
from latopo.models.model import Targets

__all__ = ["Share", "shares"]


class Share(NamedTuple):
    """The nodes of one member.

    Attributes:
        train: that it learns from.
        selection: that choose its epoch and its weight decay.
        left: training nodes that it leaves out, to be judged on them.
    """

    train: Tensor
    selection: Tensor
    left: Tensor


def shares(targets: Targets, held_out: Tensor | None, members: int, enough: int) -> list[Share]:
    """One share with all training nodes if enough others are held out, else one per member.

    A member's epoch is chosen on the nodes that it leaves out, together with the held-out ones if there are any. Each
    class is dealt out in turn, in the order of the training nodes, so that parts are alike and nothing is random.

    Args:
        targets: the targets and the training nodes.
        held_out: nodes that nobody learns from; None if there are none.
        members: of a committee.
        enough: held-out nodes from which on there is no committee.
    """
    train = targets.train_index
    if held_out is not None and held_out.numel() >= enough:
        return [Share(train, held_out, train[:0])]
    count = min(members, train.numel())
    if count < 2:
        raise LatopoError(f"FusedNet: {train.numel()} training nodes, expected at least 2 to judge branches by")
    part = torch.empty_like(train)
    order = targets.target[train].argsort(stable=True) if targets.num_classes else torch.arange(train.numel())
    part[order] = torch.arange(train.numel(), device=train.device) % count
    found = []
    for number in range(count):
        left = train[part == number]
        selection = left if held_out is None else torch.cat([left, held_out])
        found.append(Share(train[part != number], selection, left))
    return found
