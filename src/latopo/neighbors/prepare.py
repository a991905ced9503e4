"""Points as the kernels want them: wide enough, of size about 1, centred."""

import math

import torch
from torch import Tensor

from latopo._precision import widen
from latopo.neighbors.similarity import Cosine, Inner, Similarity

__all__ = ["prepare_clouds", "prepare_points"]


def prepare_points(
    x: Tensor, anchors: Tensor | None, measure: Similarity
) -> tuple[Tensor, Tensor | None, Similarity]:  # fmt: skip
    """Points in at least single precision, and of size about 1 where the scale is free; similarities are kept.

    With anchors, size and centre are theirs alone: a query's row must not depend on the other queries. The cosine is
    the inner product of directions, and goes on as such.
    """
    x, anchors = widen(x), None if anchors is None else widen(anchors)
    if type(measure) is Cosine:
        x, anchors = _unit_size(x), None if anchors is None else _unit_size(anchors)
        return Cosine.directions(x), None if anchors is None else Cosine.directions(anchors), Inner()
    if measure.scale_free:
        factor = _size(x if anchors is None else anchors)
        if anchors is not None and type(measure) is Inner:
            x, anchors = _unit_size(x), anchors / factor  # σ_i removes what a query is multiplied by
        elif anchors is not None:
            # So far away all anchors look alike, and the square of a distance must stay finite.
            far = torch.finfo(x.dtype).max ** 0.25
            x, anchors = (x / factor).clamp(-far, far), anchors / factor
        else:
            x = x / factor
    if measure.shift_free and x.numel():
        # Only differences count; centred, the sums of the backward pass keep their digits.
        centre = (x if anchors is None else anchors).detach().mean(0)
        x, anchors = x - centre, None if anchors is None else anchors - centre
    return x, anchors, measure


def prepare_clouds(x: Tensor, ptr: Tensor, measure: Similarity) -> tuple[Tensor, Similarity]:
    """:func:`prepare_points` of several point clouds, each for itself; ``ptr`` [G + 1] says where they start."""
    x, sizes = widen(x), ptr.diff()
    if type(measure) is Cosine:
        return Cosine.directions(_unit_size(x)), Inner()
    cloud = torch.repeat_interleave(sizes, output_size=x.size(0))
    if measure.scale_free:
        largest = x.detach().abs().amax(1) if x.size(1) else x.new_zeros(x.size(0))
        largest = largest.new_zeros(sizes.numel()).scatter_reduce(0, cloud, largest, "amax")
        x = x / _power_of_two(largest).index_select(0, cloud)[:, None]
    if measure.shift_free:
        total = x.new_zeros(sizes.numel(), x.size(1)).index_add(0, cloud, x.detach())
        x = x - (total / sizes.clamp(min=1)[:, None]).index_select(0, cloud)
    return x, measure


def _unit_size(x: Tensor) -> Tensor:
    """Each row divided by a power of two near its largest entry."""
    return x / _size(x, dim=1)


def _size(x: Tensor, dim: int | None = None) -> Tensor:
    """The power of two next to the largest entry (1 if all are 0)."""
    return _power_of_two(x.detach().abs().amax() if dim is None else x.detach().abs().amax(dim, keepdim=True))


def _power_of_two(largest: Tensor) -> Tensor:
    """The power of two next to each number (1 for 0): dividing by it is exact."""
    smallest = math.frexp(torch.finfo(largest.dtype).tiny)[1]
    exponent = (torch.frexp(largest).exponent - 1).clamp(min=smallest)
    return torch.where(largest > 0, torch.ldexp(torch.ones_like(largest), exponent), 1.0)
