r"""Curved spaces for DGM-M: hyperbolic, spherical and products of them, with curvatures that can be learned.

A point is given by its tangent vector :math:`\mathbf{v}` at the origin, as any encoder produces it, and stands for
:math:`\exp_0(\mathbf{v})`. With :math:`a = \sqrt{k}\|\mathbf{v}\|`, :math:`b = \sqrt{k}\|\mathbf{w}\|` and the unit
directions :math:`\hat{\mathbf{v}}, \hat{\mathbf{w}}`, the geodesic distance obeys the half-angle form of the law of
cosines,

.. math::
    \mathrm{sn}^2\!\left(\tfrac{\sqrt{k}\, d}{2}\right) = \mathrm{sn}^2\!\left(\tfrac{a - b}{2}\right)
    + \mathrm{sn}(a)\,\mathrm{sn}(b)\,\tfrac14\|\hat{\mathbf{v}} - \hat{\mathbf{w}}\|^2,

where sn is sinh (curvature −k) or sin (curvature +k). Unlike arcosh or arccos of a product of cosines it loses no
digits for close points, and nothing is ever mapped to the manifold.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from latopo._arguments import Positive, checked
from latopo.errors import LatopoError
from latopo.neighbors.similarity import Cosine, Euclidean, Similarity, safe_sqrt

__all__ = ["Curved", "Hyperbolic", "Product", "Spherical"]


class Curved(Similarity):
    """Minus the geodesic distance in a space of constant curvature; subclasses say which ``sn``."""

    @checked
    def __init__(self, curvature: Positive = 1.0, learnable: bool = True) -> None:
        super().__init__()
        self.initial = float(curvature)
        # The logarithm is what is learned, so that the magnitude stays positive.
        self.log_curvature = nn.Parameter(torch.empty(()), requires_grad=learnable)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the curvature back to its start."""
        with torch.no_grad():
            self.log_curvature.fill_(self.initial).log_()

    @property
    def curvature(self) -> Tensor:
        """The magnitude k > 0 of the curvature."""
        return self.log_curvature.exp()

    def extra_repr(self) -> str:
        """Show the start value."""
        return f"curvature={self.initial}, learnable={self.log_curvature.requires_grad}"

    @staticmethod
    def _sn(angle: Tensor) -> Tensor:
        raise NotImplementedError

    @staticmethod
    def _inverse_sn(value: Tensor) -> Tensor:
        raise NotImplementedError

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``, or batches of these."""
        chord = torch.cdist(Cosine.directions(x), Cosine.directions(y), compute_mode="donot_use_mm_for_euclid_dist")
        return self._from_chord(self._radius(x)[..., :, None], self._radius(y)[..., None, :], chord.square())

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        chord = Cosine.directions(x) - Cosine.directions(y)
        return self._from_chord(self._radius(x), self._radius(y), chord.square().sum(-1))

    def _radius(self, x: Tensor) -> Tensor:
        return self.curvature.sqrt() * safe_sqrt(x.square().sum(-1))

    def _from_chord(self, a: Tensor, b: Tensor, chord: Tensor) -> Tensor:
        square = self._sn((a - b) / 2).square() + self._sn(a) * self._sn(b) * chord / 4
        return -2 * self._inverse_sn(safe_sqrt(square)) / self.curvature.sqrt()


class Hyperbolic(Curved):
    r"""Minus the geodesic distance in hyperbolic space of curvature :math:`-k`.

    Points farther from the origin than :math:`39/\sqrt{k}` (in double precision :math:`319/\sqrt{k}`) count as being
    there: sinh² would soon be infinite.

    Args:
        curvature: the magnitude k > 0.
        learnable: whether k is trained.

    Example:
        >>> space = Hyperbolic(curvature=1.0)
        >>> space.paired(torch.tensor([[1.0, 0.0]]), torch.tensor([[-1.0, 0.0]])).item()  # along a geodesic
        -2.0...
    """

    def _radius(self, x: Tensor) -> Tensor:
        return super()._radius(x).clamp(max=0.45 * math.log(torch.finfo(x.dtype).max))

    @staticmethod
    def _sn(angle: Tensor) -> Tensor:
        return angle.sinh()

    @staticmethod
    def _inverse_sn(value: Tensor) -> Tensor:
        return value.asinh()


class Spherical(Curved):
    r"""Minus the geodesic distance on the sphere of curvature :math:`+k`.

    Tangent vectors longer than :math:`\pi/\sqrt{k}` wrap around.

    Args:
        curvature: k > 0; the radius is :math:`1/\sqrt{k}`.
        learnable: whether k is trained.
    """

    @staticmethod
    def _sn(angle: Tensor) -> Tensor:
        return angle.sin()

    @staticmethod
    def _inverse_sn(value: Tensor) -> Tensor:
        # The derivative of arcsin is infinite at 1 (antipodes): stay a rounding error below.
        return value.clamp(max=1 - torch.finfo(value.dtype).eps).asin()


class Product(Similarity):
    r"""Minus the distance of a product of spaces, :math:`-\sqrt{\sum_s d_s^2}`, coordinates cut into consecutive parts.

    Args:
        factors: similarities that are minus a distance (:class:`Hyperbolic`, :class:`Spherical`, :class:`Euclidean`).
        sizes: how many coordinates each factor takes.

    Example:
        >>> space = Product([Euclidean(), Euclidean()], sizes=[1, 1])
        >>> space.paired(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([-5.])
    """

    def __init__(self, factors: Sequence[Similarity], sizes: Sequence[int]) -> None:
        super().__init__()
        if len(factors) != len(sizes) or not factors or min(sizes) < 1:
            raise LatopoError(f"Product: expected one positive size per factor, got {len(factors)} and {list(sizes)}")
        for factor in factors:
            if not isinstance(factor, Curved | Euclidean | Product):
                raise LatopoError(f"Product: {type(factor).__name__} is not minus a distance")
        self.factors = nn.ModuleList(factors)
        self.sizes = list(sizes)

    def reset_parameters(self) -> None:
        """Set every factor's curvature back to its start."""
        for factor in self.factors:
            if isinstance(factor, Curved | Product):
                factor.reset_parameters()

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``."""
        return self._combine("pairwise", x, y)

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        return self._combine("paired", x, y)

    def split(self, x: Tensor) -> list[tuple[Any, Tensor]]:
        """Each factor with its columns of x."""
        if x.size(-1) != sum(self.sizes):
            raise LatopoError(f"Product: x has {x.size(-1)} columns, expected {sum(self.sizes)} (the sum of sizes)")
        return list(zip(self.factors, x.split(self.sizes, -1), strict=True))

    def _combine(self, method: str, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.split(x), y.split(self.sizes, -1), strict=True)
        squares = [getattr(factor, method)(a, b).square() for (factor, a), b in parts]
        return -safe_sqrt(torch.stack(squares).sum(0))
