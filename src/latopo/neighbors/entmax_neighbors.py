"""The exact sparse rows of the α-DGM, forward and backward, without anything of size N × N."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from latopo._compile import uncompiled
from latopo._precision import widen
from latopo.entmax import segment_entmax
from latopo.errors import LatopoError
from latopo.neighbors import blocked, fused
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.scan import EdgeCounter, Scan, default_max_edges, row_pointers
from latopo.neighbors.similarity import Cosine, Inner, Similarity, check_points, check_positive, get_similarity

__all__ = ["NeighborRows", "count_neighbors", "entmax_neighbors", "neighbor_rows"]


def entmax_neighbors(
    x: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    anchors: Tensor | None = None,
    *,
    max_edges: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Sparse neighbourhoods of every point by α-entmax of its normalised similarities to all others.

    .. math::
        \mathbf{p}_i = \boldsymbol{\alpha}_{ENT}\!\left(\gamma\,\frac{\mathbf{z}_i - \mu_i}{\sigma_i}\right),
        \qquad z_{ij} = \mathrm{sim}(\mathbf{x}_i, \mathbf{x}_j),\; j \neq i

    This is the paper's :math:`\boldsymbol{\alpha}_{ENT}(\mathcal{LN}(\mathbf{z}_i))`: entmax does not see a shift, so
    of the layer norm only the division by the row's population standard deviation :math:`\sigma_i` and the gain
    :math:`\gamma` remain. The point itself is left out of the statistics and of the support. A constant row
    (:math:`\sigma_i \le 16\,\epsilon\,\max_j|z_{ij}|`) gets the uniform distribution, without gradient.

    The support is found exactly: :math:`p_i(j) > 0` needs
    :math:`z_{ij} > z_{i,\max} - \sigma_i/(\gamma(\alpha-1))`, so one pass over blocks of rows gives the statistics
    and the few candidates. Through :math:`\sigma_i` the gradient has a dense part, which a second pass recomputes
    block by block. Time grows as N², memory as N.

    Args:
        x: points [N, d], or queries if ``anchors`` is given.
        gain: γ > 0, a number or a scalar tensor; larger means sparser.
        alpha: α ≥ 1, a number, a scalar tensor or one value per row [N]; 1 is softmax (every entry positive).
        similarity: ``"euclidean"`` (minus distance, the paper's), ``"squared"``, ``"cosine"``, ``"inner"``, or a
            :class:`~latopo.neighbors.Similarity` module such as :class:`~latopo.neighbors.Hyperbolic`.
        anchors: points [M, d] that the rows of ``x`` look at; by default ``x`` itself.
        max_edges: limit for the number of positive entries; default 64 N, at least 10⁶. It is checked while counting,
            before the memory is taken.

    Returns:
        ``ptr`` (int64 [N + 1]), ``col`` (int64 [E]) and ``prob`` [E]: row i has the neighbours
        ``col[ptr[i]:ptr[i+1]]``, ascending, with positive probabilities that sum to 1. Gradients flow to ``x``,
        ``anchors``, ``gain``, ``alpha`` and the similarity's parameters.

    Example:
        >>> x = torch.tensor([[0.0], [1.0], [3.0], [3.5]])
        >>> ptr, col, prob = entmax_neighbors(x, gain=5.0)
        >>> col.tolist(), prob.tolist()
        ([1, 0, 3, 2], [1.0, 1.0, 1.0, 1.0])
    """
    rows = neighbor_rows(x, gain, alpha, similarity, anchors, max_edges=max_edges)
    return rows.ptr, rows.col, rows.prob


class NeighborRows(NamedTuple):
    """Sparse rows with what the losses need beside the probabilities.

    Attributes:
        ptr: int64 [N + 1].
        col: int64 [E].
        prob: probabilities [E].
        score: standardised similarities (z_ij − μ_i) / σ_i [E], 0 in a constant row; differentiable as well.
    """

    ptr: Tensor
    col: Tensor
    prob: Tensor
    score: Tensor


@uncompiled
def neighbor_rows(
    x: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    anchors: Tensor | None = None,
    *,
    max_edges: int | None = None,
) -> NeighborRows:
    """:func:`entmax_neighbors` with the standardised similarities beside the probabilities."""
    measure = get_similarity(similarity)
    _check(x, anchors, gain, alpha)
    if x.size(0) == 0 or (x.size(0) == 1 if anchors is None else anchors.size(0) == 0):
        nobody = torch.zeros(x.size(0) + 1, dtype=torch.int64, device=x.device)
        return NeighborRows(nobody, nobody[:0], x[:0].sum(1), x[:0].sum(1))
    points, others, measure, alpha = _prepare(x, anchors, measure, alpha)
    counter = EdgeCounter(default_max_edges(x.size(0)) if max_edges is None else max_edges)
    scan = _scan(points, others, measure, gain, alpha, counter)
    counter.check()
    rows = _probabilities(points, others, measure, gain, alpha, scan)
    return NeighborRows(rows.ptr, rows.col, rows.prob.to(x.dtype), rows.score.to(x.dtype))


@uncompiled
def count_neighbors(
    x: Tensor, gain: float = 50.0, alpha: float = 1.5, similarity: str | Similarity = "euclidean"
) -> int:
    """How many entries :func:`entmax_neighbors` would return; nothing is stored, and there is no limit.

    Example:
        >>> count_neighbors(torch.tensor([[0.0], [1.0], [3.0], [3.5]]), gain=5.0)
        4
    """
    _check(x, None, gain, alpha)
    if x.size(0) < 2:
        return 0
    points, _, measure, alpha_rows = _prepare(x, None, get_similarity(similarity), alpha)
    counter = EdgeCounter(-1)
    _scan(points, None, measure, gain, alpha_rows, counter)
    return counter.count


def _scan(
    x: Tensor, others: Tensor | None, measure: Similarity, gain: float | Tensor, alpha: float | Tensor,
    counter: EdgeCounter,
) -> Scan:  # fmt: skip
    path = fused if fused.supports(measure, x) else blocked
    rows_alpha = torch.as_tensor(alpha, dtype=x.dtype, device=x.device).detach().expand(x.size(0))
    with torch.no_grad():
        return path.scan(x, others, measure, float(torch.as_tensor(gain).detach()), rows_alpha, counter)


def _probabilities(
    x: Tensor, others: Tensor | None, similarity: Similarity, gain: float | Tensor, alpha: float | Tensor, scan: Scan
) -> NeighborRows:
    """Entmax on the support alone, where every step is differentiable."""
    row = torch.repeat_interleave(scan.ptr.diff(), output_size=scan.col.numel())
    parameters = [parameter for parameter in similarity.parameters() if parameter.requires_grad]
    mean, deviation = _RowStatistics.apply(x, others, similarity, scan.mean, scan.deviation, *parameters)
    flat = scan.deviation == 0
    inverse = torch.where(flat, 0.0, 1 / torch.where(flat, 1.0, deviation))
    values = paired_similarity(x, x if others is None else others, row, scan.col, similarity)
    # Entmax is shift-invariant: the row's maximum is taken off instead of its mean, to keep digits where they count.
    prob = segment_entmax(gain * inverse.index_select(0, row) * (values - scan.top[row]), scan.ptr, alpha)
    score = (values - mean.index_select(0, row)) * inverse.index_select(0, row)
    keep = prob > 0
    if bool(keep.all()):
        return NeighborRows(scan.ptr, scan.col, prob, score)
    # An entry on the very edge of the support may round to 0 here.
    ptr = row_pointers(torch.bincount(row[keep], minlength=x.size(0)))
    return NeighborRows(ptr, scan.col[keep], prob[keep], score[keep])


class _RowStatistics(torch.autograd.Function):
    """μ_i and σ_i as differentiable values: known from the scan; their gradient is the dense part, block by block."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, others: Tensor | None, similarity: Similarity, mean: Tensor, deviation: Tensor,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        ctx.save_for_backward(x, others, mean, deviation)
        ctx.similarity = similarity
        return mean.clone(), deviation.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, mean_gradient: Tensor, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, others, mean, deviation = ctx.saved_tensors
        count = x.size(0) - 1 if others is None else others.size(0)
        # ∂μ_i/∂z_ij = 1/n and ∂σ_i/∂z_ij = (z_ij − μ_i) / (n σ_i); rows with σ_i = 0 pass nothing.
        rate = torch.where(deviation > 0, gradient / (count * deviation), 0.0)
        shift = torch.where(deviation > 0, mean_gradient / count, 0.0) - rate * mean
        if fused.supports(ctx.similarity, x):
            to_x, to_others = fused.weighted_gradient(x, others, ctx.similarity, rate, shift)
            return to_x, to_others, None, None, None
        to_x, to_others, to_parameters = blocked.weighted_gradient(x, others, ctx.similarity, rate, shift)
        return to_x, to_others, None, None, None, *to_parameters


def _prepare(
    x: Tensor, anchors: Tensor | None, measure: Similarity, alpha: float | Tensor
) -> tuple[Tensor, Tensor | None, Similarity, float | Tensor]:
    """Points as the kernels want them: at least single precision, and of size about 1 where the scale is free.

    With anchors, size and centre are theirs alone: a query's row must not depend on the other queries. The cosine is
    the inner product of directions, and goes on as such.
    """
    x, anchors = widen(x), None if anchors is None else widen(anchors)
    if isinstance(alpha, Tensor):
        alpha = alpha.to(x.dtype)
    if type(measure) is Cosine:
        x, anchors = _unit_size(x), None if anchors is None else _unit_size(anchors)
        return Cosine.directions(x), None if anchors is None else Cosine.directions(anchors), Inner(), alpha
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
    return x, anchors, measure, alpha


def _unit_size(x: Tensor) -> Tensor:
    """Each row divided by a power of two near its largest entry."""
    return x / _size(x, dim=1)


def _size(x: Tensor, dim: int | None = None) -> Tensor:
    """The power of two next to the largest entry (1 if all are 0): dividing by it is exact."""
    largest = x.detach().abs().amax() if dim is None else x.detach().abs().amax(dim, keepdim=True)
    smallest = math.frexp(torch.finfo(x.dtype).tiny)[1]
    exponent = (torch.frexp(largest).exponent - 1).clamp(min=smallest)
    return torch.where(largest > 0, torch.ldexp(torch.ones_like(largest), exponent), 1.0)


def _check(x: Tensor, anchors: Tensor | None, gain: float | Tensor, alpha: float | Tensor) -> None:
    check_points("entmax_neighbors", "x", x)
    if anchors is not None:
        check_points("entmax_neighbors", "anchors", anchors)
    if anchors is not None and (anchors.size(1) != x.size(1) or anchors.dtype != x.dtype):
        raise LatopoError(
            f"entmax_neighbors: anchors must have the columns and dtype of x ({x.size(1)}, {x.dtype}), "
            f"got {anchors.size(1)}, {anchors.dtype}"
        )
    check_positive("entmax_neighbors", "gain", gain)
    values = torch.as_tensor(alpha).detach()
    if values.dim() > 1 or (values.dim() == 1 and values.numel() != x.size(0)):
        raise LatopoError(f"entmax_neighbors: alpha must be one value or one per row, got shape {tuple(values.shape)}")
    if not bool((values >= 1).all()):
        raise LatopoError(f"entmax_neighbors: alpha must be at least 1, got {float(values.min())}")
