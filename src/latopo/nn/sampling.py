"""Random choices of cells under a budget, and their deterministic counterparts."""

import torch
from torch import Generator, Tensor

from latopo._precision import widen
from latopo.errors import LatopoError

__all__ = ["gumbel", "inclusion_probabilities", "sample_budget"]


def gumbel(like: Tensor, generator: Generator | None = None) -> Tensor:
    """Gumbel(0, 1) noise of the same shape."""
    return -torch.empty_like(like).exponential_(generator=generator).log()


@torch.no_grad()
def inclusion_probabilities(prob: Tensor, budget: float) -> Tensor:
    r"""Inclusion probabilities :math:`\pi_c = \min(1, \lambda p_c)` that sum to ``budget``; all 1 if there are fewer.

    Shapes:
        - **prob**: [C], positive
        - **output**: [C], at least single precision

    Example:
        >>> inclusion_probabilities(torch.tensor([0.9, 0.1, 0.2]), budget=2.0)
        tensor([1.0000, 0.3333, 0.6667])
    """
    if not budget > 0:
        raise LatopoError(f"inclusion_probabilities: the budget must be > 0, got {budget}")
    if budget >= prob.numel():
        return torch.ones_like(widen(prob))
    # With the m largest at 1, the others share what is left: m grows until none of them passes 1.
    ordered = prob.double().sort(descending=True).values
    rest = ordered.flip(0).cumsum(0).flip(0)
    left = budget - torch.arange(prob.numel(), device=prob.device)
    factor = left / rest
    chosen = factor[int((factor * ordered <= 1).int().argmax())]
    return (chosen * widen(prob)).clamp(max=1.0)


@torch.no_grad()
def sample_budget(prob: Tensor, budget: float, random: bool, generator: Generator | None = None) -> Tensor:
    """A mask [C] of cells: each included with its inclusion probability, or the ``budget`` most probable ones.

    Example:
        >>> sample_budget(torch.tensor([0.9, 0.1, 0.2]), budget=2, random=False)
        tensor([ True, False,  True])
    """
    if random:
        chance = inclusion_probabilities(prob, budget)
        # Uniform numbers of half precision are too coarse for small chances.
        return torch.rand(chance.shape, generator=generator, device=prob.device, dtype=chance.dtype) < chance
    mask = torch.zeros_like(prob, dtype=torch.bool)
    mask[prob.sort(descending=True, stable=True).indices[: round(budget)]] = True
    return mask
