r"""Mean and deviation of a row of similarities without its pairs, in O(N d²), with gradients by autograd.

Minus the squared distance and the inner product (hence the cosine, of directions) are linear in features of the column,

.. math::
    z_{ij} = a_i + \mathbf{w}_i^\top \boldsymbol{\phi}_j, \qquad
    \begin{array}{llll}
    \text{inner:} & a_i = 0, & \mathbf{w}_i = \mathbf{x}_i, & \boldsymbol{\phi}_j = \mathbf{y}_j, \\
    \text{squared:} & a_i = -\|\mathbf{x}_i\|^2, & \mathbf{w}_i = (-1, 2\mathbf{x}_i), &
    \boldsymbol{\phi}_j = (\|\mathbf{y}_j\|^2, \mathbf{y}_j),
    \end{array}

so over all M columns the mean is :math:`A_i = a_i + \mathbf{w}_i^\top \bar{\boldsymbol{\phi}}` and the variance
:math:`V_i = \mathbf{w}_i^\top \mathbf{C} \mathbf{w}_i`, **C** the covariance of the features: one matrix for all rows.
Where the point itself is a column, with :math:`z_{ii} = 0` or :math:`\|\mathbf{x}_i\|^2`, it is taken off again:

.. math::
    \mu_i = A_i + \frac{A_i - z_{ii}}{M - 1}, \qquad
    \sigma_i^2 = \frac{M}{M - 1} \left(V_i - \frac{(A_i - z_{ii})^2}{M - 1}\right)

The sums are in double precision. Where their terms cancel (an extreme outlier, a row that is nearly constant, two or
three points) the row is not *trusted*, and its statistics have to come from its pairs.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo.neighbors.similarity import Inner, Similarity, SquaredEuclidean

__all__ = ["ClosedForm", "closed_form_statistics", "has_closed_form"]

# Share of the terms' size below which too few digits of a variance are left, by the precision of the points.
_CANCELLED = {torch.float64: 3e-5, torch.float32: 3e-9}


class ClosedForm(NamedTuple):
    """Mean [N] and deviation [N] of the rows, differentiable (1 where not trusted), and which can be trusted [N]."""

    mean: Tensor
    deviation: Tensor
    trusted: Tensor


def has_closed_form(similarity: Similarity) -> bool:
    """Whether the similarity is one of those above; a subclass may redefine it, so the type must be exact."""
    return type(similarity) in (SquaredEuclidean, Inner)


def closed_form_statistics(x: Tensor, others: Tensor | None, similarity: Similarity) -> ClosedForm:
    """Mean and deviation of each row of similarities of x [N, d] to ``others`` [M, d], or to the other rows of x.

    Example:
        >>> from latopo.neighbors import SquaredEuclidean
        >>> x = torch.tensor([[0.0], [1.0], [3.0]])
        >>> found = closed_form_statistics(x, None, SquaredEuclidean())
        >>> found.mean, found.deviation
        (tensor([-5.0000, -2.5000, -6.5000]), tensor([4.0000, 1.5000, 2.5000]))
    """
    rows = x.double()
    columns = rows if others is None else others.double()
    count = columns.size(0)
    base, weight, features, own = _linear_form(rows, columns, type(similarity) is Inner)
    average = features.mean(0)
    centred = features - average
    covariance = centred.t() @ centred / count
    mean = base + weight @ average
    variance = (weight @ covariance * weight).sum(1)
    size = (weight.detach().abs() @ covariance.detach().abs() * weight.detach().abs()).sum(1)
    if others is None:
        rest = max(count - 1, 1)
        gap = mean - own
        mean = mean + gap / rest
        variance = (variance - gap.square() / rest) * (count / rest)
        size = size + gap.detach().square() / rest
    trusted = variance.detach() > _CANCELLED[x.dtype] * size
    # What the definition calls a constant row is left to the pairs, too.
    largest = _largest_similarity(rows.detach(), columns.detach(), type(similarity) is Inner)
    trusted &= variance.detach() > (17 * torch.finfo(x.dtype).eps * largest).square()
    deviation = torch.where(trusted, variance, 1.0).sqrt()
    return ClosedForm(mean.to(x.dtype), deviation.to(x.dtype), trusted)


def _linear_form(rows: Tensor, columns: Tensor, inner: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """a [N], w [N, f], φ [M, f] and the similarity of a row to itself [N]."""
    square = rows.square().sum(1)
    if inner:
        return torch.zeros_like(square), rows, columns, square
    weight = torch.cat([-torch.ones_like(square)[:, None], 2 * rows], dim=1)
    features = torch.cat([columns.square().sum(1, keepdim=True), columns], dim=1)
    return -square, weight, features, torch.zeros_like(square)


def _largest_similarity(rows: Tensor, columns: Tensor, inner: bool) -> Tensor:
    """An upper bound of max_j |z_ij|, [N]."""
    length, longest = rows.norm(dim=1), columns.norm(dim=1).amax()
    return length * longest if inner else (length + longest).square()
