"""A learnable α that stays where α-entmax is well behaved."""

import math

import torch
from torch import Tensor, nn

from latopo._arguments import checked
from latopo.errors import LatopoError

__all__ = ["LearnableAlpha"]


class LearnableAlpha(nn.Module):
    r"""The α of an entmax as a parameter that cannot leave [1.1, 4].

    .. math::
        \alpha = 1.1 + (4 - 1.1) \, \mathrm{sigmoid}(a), \qquad a \in \mathbb{R}

    Below 1.1 rows are nearly dense, above 4 nearly one-hot, and the gradient to the scores dies or explodes.

    Args:
        initial: the first value of α, strictly between 1.1 and 4.

    Shapes:
        - output: ``[]``

    Example:
        >>> LearnableAlpha(1.5)()
        tensor(1.5000, grad_fn=...)
    """

    low = 1.1
    high = 4.0

    @checked
    def __init__(self, initial: float = 1.5) -> None:
        super().__init__()
        if not self.low < initial < self.high:
            raise LatopoError(
                f"LearnableAlpha: initial must lie strictly between {self.low} and {self.high}, got {initial}; "
                "a fixed alpha may be any number from 1 on"
            )
        self.initial = initial
        self.raw = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set α back to its initial value."""
        share = (self.initial - self.low) / (self.high - self.low)
        nn.init.constant_(self.raw, math.log(share) - math.log1p(-share))

    def forward(self) -> Tensor:
        """Return α, at least in float32: half precision would round past the ends of the interval."""
        raw = self.raw if self.raw.dtype == torch.float64 else self.raw.float()
        # The clamp only undoes the rounding of a saturated sigmoid.
        return (self.low + (self.high - self.low) * raw.sigmoid()).clamp(self.low, self.high)

    def extra_repr(self) -> str:
        """The initial value and the interval."""
        return f"initial={self.initial}, low={self.low}, high={self.high}"
