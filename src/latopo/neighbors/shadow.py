"""What a search in a curved space knows of it: a flat shadow of the points, and bounds of a single distance."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from latopo.neighbors import _curved
from latopo.neighbors.similarity import Cosine, Euclidean, Similarity, safe_sqrt
from latopo.neighbors.spaces import Curved, Hyperbolic, Product, Spherical

__all__ = ["Shadow", "curved_points", "flat_shadow"]

_ROUNDINGS = 64  # relative errors of a distance as torch computes it, in units of the precision, beside its coordinates
_KIND = {Euclidean: _curved.FLAT, Hyperbolic: _curved.HYPERBOLIC, Spherical: _curved.SPHERICAL}


class Shadow(NamedTuple):
    """Points [n, d'] that are nowhere farther apart, in a straight line, than those of a curved space.

    As computed, their distance may be larger by ``room``.
    """

    points: Tensor
    room: float


def flat_shadow(space: Similarity, x: Tensor) -> Shadow | None:
    """The shadow of the points x [n, d] of a space; it tells far ones apart without the distances of the space.

    Geodesics of a hyperbolic space part faster than the straight lines of its tangent space; a chord of a sphere is
    shorter than the arc. None if numbers are so small that their squares vanish, or if the space is not one of this
    library's, which take batches of points, too.

    Example:
        >>> x = torch.tensor([[1.0, 0.0, 0.0], [1.0, math.pi, 0.0]])
        >>> flat_shadow(Product([Euclidean(), Spherical()], sizes=[1, 2]), x).points.norm(dim=1).tolist()
        [1.0, 2.23606...]
    """
    factors = list(_factors(space, x))
    # Lengths say whether squares vanish.
    if not all(type(f) in _KIND and (type(f) is not Hyperbolic or bool(f._radius(part).any())) for f, part in factors):
        return None
    parts = [_flattened(factor, part) for factor, part in factors]
    points = torch.cat([part.points for part in parts], -1)
    farthest = float(points.detach().abs().amax())
    if farthest <= torch.finfo(x.dtype).tiny ** 0.25:
        return None
    # Distances are rounded by as much as coordinates are, however near the points.
    rounding = _ROUNDINGS * torch.finfo(x.dtype).eps * farthest * points.size(1)
    return Shadow(points, rounding + sum(part.room for part in parts))


def _factors(space: Similarity, x: Tensor) -> Iterator[tuple[Similarity, Tensor]]:
    """The spaces that a space is a product of, each with its columns of x; products of products are taken apart."""
    if type(space) is not Product:
        yield space, x
        return
    for factor, part in space.split(x):
        yield from _factors(factor, part)


def _flattened(space: Similarity, x: Tensor) -> Shadow:
    if isinstance(space, Spherical):
        radius, angle = 1 / space.curvature.sqrt().to(x.dtype), space._radius(x)[:, None]
        # From the origin, so that what is near it keeps its digits.
        points = torch.cat([-2 * radius * (angle / 2).sin().square(), radius * angle.sin() * Cosine.directions(x)], -1)
        # Beyond π the two terms of a squared distance cancel each other.
        widest = float(angle.detach().amax())
        lost = torch.finfo(x.dtype).eps * (1 + widest) if widest > math.pi else 0.0
        return Shadow(points, 4 * float(radius.detach()) * math.sqrt(lost))
    if isinstance(space, Hyperbolic):
        length = safe_sqrt(x.square().sum(-1)) * space.curvature.sqrt()
        return Shadow(x * (space._radius(x) / torch.where(length > 0, length, 1.0))[:, None], 0.0)
    return Shadow(x, 0.0)


@torch.no_grad()
def curved_points(space: Similarity, x: Tensor) -> _curved.CurvedPoints | None:
    """The points x [n, d] of a space that has a shadow, so that a compiled walk can tell their distances.

    None where numbers are so large or so small that it could not.

    Example:
        >>> points = curved_points(Hyperbolic(), torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
        >>> nearest, farthest = _curved.squares_between(0, 1, points, math.inf)
        >>> 3.99 < nearest < 4 < farthest < 4.01
        True
    """
    factors, roots, columns, polar, first = [], [], [], [], 0
    for factor, part in _factors(space, x):
        kind, last = _KIND[type(factor)], first + part.size(1)
        factors.append((kind, first, last))
        first = last
        if isinstance(factor, Curved):
            angle = factor._radius(part).double()
            roots.append(float(factor.curvature.sqrt()))
            columns.append(Cosine.directions(part))
            polar.append(torch.stack([angle, factor._sn(angle)], -1))
        else:
            roots.append(1.0)
            columns.append(part)
            polar.append(part.new_zeros(len(part), 2))
    limits = torch.finfo(x.dtype)
    numbers = torch.cat([part.double() for part in columns + polar], -1).numpy()
    if not (np.isfinite(numbers).all() and np.isfinite(roots).all() and min(roots) > 0):
        return None
    return _curved.CurvedPoints(
        np.array(factors), np.array(roots), numbers, (_ROUNDINGS + x.size(1)) * limits.eps,
        16 * math.sqrt(limits.tiny), limits.tiny, limits.max,
    )  # fmt: skip
