"""Similarities between points, as the α-DGM needs them: all pairs of a block, and given pairs.

The four flat ones have a fused kernel on the CPU. Any other similarity is a :class:`Similarity` module with the same
two methods (:mod:`latopo.neighbors.spaces` has the curved ones); it runs through the blocked path of torch operations.
"""

from typing import Any

import torch
from torch import Tensor, nn

from latopo._arguments import all_finite, check_dense
from latopo.errors import LatopoError

__all__ = [
    "Cosine", "Euclidean", "Inner", "Similarity", "SquaredEuclidean", "check_distance", "check_points",
    "check_positive", "get_similarity",
]  # fmt: skip


def check_points(caller: str, name: str, points: Tensor) -> None:
    """Raise unless these are finite points [N, d]."""
    check_dense(caller, name, points)
    if points.dim() != 2 or not points.is_floating_point():
        raise LatopoError(
            f"{caller}: {name} must be a floating point matrix [points, features], "
            f"got {points.dtype} of shape {tuple(points.shape)}"
        )
    if points.size(1) == 0:
        raise LatopoError(f"{caller}: {name} has no columns, got shape {tuple(points.shape)}")
    if not all_finite(points):
        bad = ~points.isfinite().all(1)
        raise LatopoError(
            f"{caller}: {name} has NaN or infinite entries in {int(bad.sum())} rows, "
            f"first in row {int(bad.nonzero()[0])}; impute or drop them"
        )


def check_positive(caller: str, name: str, value: float | Tensor) -> None:
    """Raise unless this is one positive number."""
    number = torch.as_tensor(value).detach()
    check_dense(caller, name, number)
    if number.is_complex() or number.numel() != 1 or not bool((number > 0) & number.isfinite()):
        raise LatopoError(f"{caller}: {name} must be one finite number > 0, got {number.tolist()}")


class Similarity(nn.Module):
    r"""Base class: :math:`\mathrm{sim}(\mathbf{x}, \mathbf{y})`, larger means closer.

    Attributes:
        scale_free: multiplying every point by one factor multiplies similarities by a constant. The layer norm behind
            removes it, so the points may be rescaled beforehand, which keeps squares from over- and underflowing.
        shift_free: adding one vector to every point changes nothing, so a bias in front of it would not learn.
    """

    scale_free = False
    shift_free = False

    def __init_subclass__(cls, **options: Any) -> None:
        """What holds of a similarity need not hold of one derived from it: each says so of itself."""
        super().__init_subclass__(**options)
        if {"pairwise", "paired"} & vars(cls).keys():
            for flag in ("scale_free", "shift_free"):
                setattr(cls, flag, vars(cls).get(flag, False))

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """All pairs: ``[n, d]`` and ``[m, d]`` give ``[n, m]``. Must have finite gradients, also for equal points."""
        raise NotImplementedError(f"{type(self).__name__} must define pairwise(x, y)")

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """Row by row: ``[n, d]`` and ``[n, d]`` give ``[n]``."""
        raise NotImplementedError(f"{type(self).__name__} must define paired(x, y)")


def safe_sqrt(square: Tensor) -> Tensor:
    """Square root whose gradient at 0 is 0, where the true one is infinite (equal points)."""
    positive = square > 0
    return torch.where(positive, square, 1.0).sqrt() * positive


class Euclidean(Similarity):
    r"""Minus the Euclidean distance, :math:`-\|\mathbf{x} - \mathbf{y}\|` (the paper's choice).

    Example:
        >>> Euclidean().pairwise(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([[-5.]])
    """

    scale_free = True
    shift_free = True

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``; from differences, so that an offset of all points costs no precision."""
        return -torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        return -safe_sqrt((x - y).square().sum(-1))


class SquaredEuclidean(Similarity):
    r"""Minus the squared distance, :math:`-\|\mathbf{x} - \mathbf{y}\|^2`."""

    scale_free = True
    shift_free = True

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``."""
        return -torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").square()

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        return -(x - y).square().sum(-1)


class Inner(Similarity):
    r"""The inner product :math:`\mathbf{x}^\top\mathbf{y}`."""

    scale_free = True

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``."""
        return x @ y.t()

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        return (x * y).sum(-1)


class Cosine(Inner):
    r"""The cosine :math:`\mathbf{x}^\top\mathbf{y} / (\|\mathbf{x}\|\|\mathbf{y}\|)`; a zero vector is at 0 to all."""

    scale_free = True

    def pairwise(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [m, d] → [n, m]``."""
        return super().pairwise(self.directions(x), self.directions(y))

    def paired(self, x: Tensor, y: Tensor) -> Tensor:
        """``[n, d], [n, d] → [n]``."""
        return super().paired(self.directions(x), self.directions(y))

    @staticmethod
    def directions(x: Tensor) -> Tensor:
        """Rows divided by their length; zero rows stay zero and pass no gradient."""
        length = safe_sqrt(x.square().sum(-1, keepdim=True))
        return x / torch.where(length > 0, length, 1.0) * (length > 0)


_FLAT: dict[str, type[Similarity]] = {
    "euclidean": Euclidean,
    "squared": SquaredEuclidean,
    "cosine": Cosine,
    "inner": Inner,
}


def get_similarity(similarity: Any) -> Similarity:
    """The similarity named by a string, or the module itself.

    Example:
        >>> get_similarity("cosine")
        Cosine()
    """
    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, str) and similarity in _FLAT:
        return _FLAT[similarity]()
    raise LatopoError(f"similarity: expected one of {', '.join(_FLAT)} or a Similarity module, got {similarity!r}")


def check_distance(caller: str, similarity: Similarity) -> None:
    """Raise for inner product and cosine, which are not minus a distance: their square grows with both signs.

    Example:
        >>> check_distance("topk_neighbors", Cosine())
        Traceback (most recent call last):
        latopo.errors.LatopoError: topk_neighbors: expected minus a distance, such as euclidean, got Cosine
    """
    if isinstance(similarity, Inner):
        name = type(similarity).__name__
        raise LatopoError(f"{caller}: expected minus a distance, such as euclidean, got {name}")
