"""Equal rows, found once."""

import torch
from torch import Tensor

from latopo._modes import unwatched

__all__ = ["group_duplicates"]


@unwatched
@torch.no_grad()
def group_duplicates(x: Tensor, batch: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Representatives of the distinct rows of x, and for every row the number of its representative.

    Rows are equal if all entries are (0 and −0 are), and, where ``batch`` [N] has their graphs, these are. The
    representative of a group is its first row; representatives are ascending.

    Shapes:
        - **x**: [N, d]
        - **output**: representatives [U], groups [N] with values below U

    Example:
        >>> group_duplicates(torch.tensor([[1.0], [2.0], [1.0]]))
        (tensor([0, 1]), tensor([0, 1, 0]))
    """
    # Sorting 64-bit fingerprints of the rows is far cheaper than sorting the rows themselves.
    fingerprints = _fingerprints(x) if batch is None else _mix(_fingerprints(x) + batch)
    _, group = torch.unique(fingerprints, return_inverse=True)
    first = _first_members(group)
    if not (torch.equal(x, x[first[group]]) and (batch is None or torch.equal(batch, batch[first[group]]))):
        rows = x if batch is None else torch.cat([x.double(), batch[:, None].double()], dim=1)
        _, group = torch.unique(rows, dim=0, return_inverse=True)
        first = _first_members(group)
    representatives, order = first.sort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(order.numel(), device=x.device)
    return representatives, rank[group]


def _fingerprints(x: Tensor) -> Tensor:
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    bits = (x + 0.0).contiguous().view(integers).to(torch.int64)  # −0 + 0 is 0
    generator = torch.Generator().manual_seed(0)
    low, high = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
    factors = torch.randint(low, high, (x.size(1),), generator=generator).to(x.device) | 1
    mixed = bits * factors
    return (mixed ^ (mixed >> 29)).mul(factors).sum(1)


def _mix(keys: Tensor) -> Tensor:
    """Spread neighbouring numbers, so that a graph's number cannot make up for a small difference of rows."""
    mixed = keys * 0x9E3779B97F4A7C1
    return mixed ^ (mixed >> 31)


def _first_members(group: Tensor) -> Tensor:
    count = int(group.max()) + 1 if group.numel() else 0
    members = torch.arange(group.numel(), device=group.device)
    return torch.full((count,), group.numel(), device=group.device).scatter_reduce(0, group, members, "amin")
