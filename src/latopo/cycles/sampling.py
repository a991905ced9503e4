"""Uniform samples of ranks, in memory that grows with the sample and not with what it is drawn from."""

import torch
from torch import Generator, Tensor


def sample_ranks(total: int, size: int, generator: Generator | None = None) -> Tensor:
    """A uniformly drawn set of ``size`` different numbers below ``total``, ascending, in O(size) memory.

    Numbers are drawn with replacement until enough are different, then the surplus is dropped at random. No step
    prefers one number, so all sets are equally likely. Above half of ``total`` the numbers left out are drawn instead.

    Shapes:
        - output: [size], int64, on the CPU

    Example:
        >>> ranks = sample_ranks(10**12, 3, torch.Generator().manual_seed(0))
        >>> ranks.shape, bool((ranks[1:] > ranks[:-1]).all()), sample_ranks(3, 3).tolist()
        (torch.Size([3]), True, [0, 1, 2])
    """
    if 2 * size > total:
        kept = torch.ones(total, dtype=torch.bool)
        kept[sample_ranks(total, total - size, generator)] = False
        return kept.nonzero().flatten()
    device = generator.device if generator is not None else torch.device("cpu")
    ranks = torch.empty(0, dtype=torch.int64, device=device)
    while ranks.numel() < size:
        drawn = torch.randint(total, (size,), generator=generator, device=device)
        ranks = torch.cat([ranks, drawn]).unique()
    surplus_last = torch.randperm(ranks.numel(), generator=generator, device=device)
    return ranks[surplus_last[:size].sort().values].cpu()
