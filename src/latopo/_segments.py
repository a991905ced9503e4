"""Numbers that fall into groups: sums, spread and order within each."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

__all__ = ["Segments", "Standardized", "standardize"]


@dataclass(frozen=True)
class Segments:
    """Which group each of P values belongs to.

    Attributes:
        number: [P] int64; None if there is one group, whose sums are then plain sums.
        count: how many groups there are.
    """

    number: Tensor | None = None
    count: int = 1

    def sum(self, values: Tensor) -> Tensor:
        """The sum of each group, [count]; without dimensions if there is one group.

        Example:
            >>> Segments(torch.tensor([1, 0, 1]), 2).sum(torch.tensor([1.0, 2.0, 3.0]))
            tensor([2., 4.])
        """
        return values.sum() if self.number is None else values.new_zeros(self.count).index_add(0, self.number, values)

    def largest(self, values: Tensor) -> Tensor:
        """The largest value of each group, [count]; −inf where there is none."""
        if self.number is None:
            return values.max()
        lowest = values.new_full((self.count,), -torch.inf)
        return lowest.scatter_reduce(0, self.number, values, "amax")

    def spread(self, per_group: Tensor) -> Tensor:
        """For each value what belongs to its group, [P]; without dimensions if there is one group."""
        return per_group if self.number is None else per_group.index_select(0, self.number)

    def sizes(self, values: Tensor) -> Tensor:
        """How many values each group has, [count]."""
        if self.number is None:
            return torch.tensor([values.numel()], device=values.device)
        return torch.bincount(self.number, minlength=self.count)

    def sorted(self, values: Tensor) -> tuple[Tensor, "Segments"]:
        """The values by group, then descending, and their groups; without gradient."""
        if self.number is None and values.device.type == "cpu" and values.dtype != torch.bfloat16:  # not in NumPy
            return torch.from_numpy(np.sort(-values.detach().numpy())).neg(), self  # many times faster than torch's
        values, order = values.detach().sort(descending=True)
        if self.number is None:
            return values, self
        number, regrouped = self.number[order].sort(stable=True)
        return values[regrouped], Segments(number, self.count)


class Standardized(NamedTuple):
    """Values less their group's mean, over its deviation [P]; mean and deviation, [count] or without dimensions."""

    values: Tensor
    mean: Tensor
    deviation: Tensor


def standardize(values: Tensor, segments: Segments) -> Standardized:
    """Bring each group to mean 0 and standard deviation 1; one whose values differ by rounding alone becomes 0.

    Example:
        >>> standardize(torch.tensor([1.0, 5.0, 3.0, 5.0]), Segments(torch.tensor([0, 1, 0, 1]), 2)).values
        tensor([-1.,  0.,  1.,  0.])
    """
    limit = 16 * torch.finfo(values.dtype).eps * segments.largest(values.detach().abs())
    if segments.number is None:
        mean, deviation = values.mean(), values.std(correction=0)
        flat = deviation.detach() <= limit
    else:
        size = segments.sizes(values).clamp(min=1)
        mean = segments.sum(values) / size
        variance = segments.sum((values - segments.spread(mean)).square()) / size
        flat = (variance.detach().sqrt() <= limit) | (limit < 0)
        deviation = torch.where(flat, 1.0, variance).sqrt()  # the root has no gradient at 0
    scaled = (values - segments.spread(mean)) / segments.spread(torch.where(flat, 1.0, deviation))
    return Standardized(torch.where(segments.spread(flat), 0.0, scaled), mean, torch.where(flat, 0.0, deviation))
