"""The exact sparse rows of the α-DGM, forward and backward, without anything of size N × N."""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo._arguments import check_dense, checked
from latopo._compile import uncompiled
from latopo._modes import unwatched
from latopo.entmax import segment_entmax
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors.fused import supports
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.prepare import prepare_points
from latopo.neighbors.scan import EdgeCounter, default_max_edges, row_pointers
from latopo.neighbors.search import Found, Method, NeighborSearch, get_search
from latopo.neighbors.similarity import Similarity, check_points, check_positive, get_similarity

__all__ = [
    "NeighborRows", "check_rows", "count_neighbors", "entmax_neighbors", "neighbor_rows", "support_probabilities",
]  # fmt: skip


@uncompiled
@checked
def entmax_neighbors(
    x: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    anchors: Tensor | None = None,
    *,
    max_edges: int | None = None,
    search: Method | NeighborSearch = "auto",
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
    rows = neighbor_rows(x, gain, alpha, similarity, anchors, max_edges=max_edges, search=search)
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
@checked
def neighbor_rows(
    x: Tensor,
    gain: float | Tensor = 50.0,
    alpha: float | Tensor = 1.5,
    similarity: str | Similarity = "euclidean",
    anchors: Tensor | None = None,
    *,
    max_edges: int | None = None,
    search: Method | NeighborSearch = "auto",
) -> NeighborRows:
    """:func:`entmax_neighbors` with the standardised similarities beside the probabilities."""
    measure, engine = get_similarity(similarity), get_search(search)
    check_rows(x, anchors, gain, alpha)
    if x.size(0) == 0 or (x.size(0) == 1 if anchors is None else anchors.size(0) == 0):
        nobody = torch.zeros(x.size(0) + 1, dtype=torch.int64, device=x.device)
        return NeighborRows(nobody, nobody[:0], x[:0].sum(1), x[:0].sum(1))
    counter = EdgeCounter(default_max_edges(x.size(0)) if max_edges is None else max_edges)
    _refuse_softmax(x, anchors, alpha, counter.limit)
    points, others, measure = prepare_points(x, anchors, measure)
    infer = unwatched(_infer_rows) if supports(measure, points) else _infer_rows  # others may be anybody's
    rows = infer(engine, points, others, measure, gain, alpha, counter)
    return NeighborRows(rows.ptr, rows.col, rows.prob.to(x.dtype), rows.score.to(x.dtype))


def _infer_rows(
    engine: NeighborSearch, x: Tensor, others: Tensor | None, similarity: Similarity, gain: float | Tensor,
    alpha: float | Tensor, counter: EdgeCounter,
) -> NeighborRows:  # fmt: skip
    """The rows of prepared points."""
    alpha = alpha.to(x.dtype) if isinstance(alpha, Tensor) else alpha
    found = engine.find(x, others, similarity, gain, alpha, counter)
    counter.check()
    return support_probabilities(x, others, similarity, gain, alpha, found)


@uncompiled
@checked
def count_neighbors(
    x: Tensor,
    gain: float = 50.0,
    alpha: float = 1.5,
    similarity: str | Similarity = "euclidean",
    *,
    search: Method | NeighborSearch = "auto",
) -> int:
    """How many entries :func:`entmax_neighbors` would return; nothing is stored, and there is no limit.

    Example:
        >>> count_neighbors(torch.tensor([[0.0], [1.0], [3.0], [3.5]]), gain=5.0)
        4
    """
    check_rows(x, None, gain, alpha)
    if x.size(0) < 2:
        return 0
    points, _, measure = prepare_points(x, None, get_similarity(similarity))
    counter = EdgeCounter(-1)
    with torch.no_grad():
        get_search(search).find(points, None, measure, gain, alpha, counter)
    return counter.count


def support_probabilities(
    x: Tensor, others: Tensor | None, similarity: Similarity, gain: float | Tensor, alpha: float | Tensor, found: Found
) -> NeighborRows:
    """Entmax on the support alone, where every step is differentiable."""
    scan, mean, deviation = found
    row = torch.repeat_interleave(scan.ptr.diff(), output_size=scan.col.numel())
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


def _refuse_softmax(x: Tensor, anchors: Tensor | None, alpha: float | Tensor, limit: int) -> None:
    """Raise before the pass where α = 1, every entry of a row being positive, makes more edges than the limit."""
    dense = torch.as_tensor(alpha).detach().expand(x.size(0)) == 1
    count = int(dense.sum()) * (x.size(0) - 1 if anchors is None else anchors.size(0))
    if count > limit:
        raise TooManyCellsError(
            f"entmax_neighbors: alpha = 1 is the softmax, which gives all {count:,} pairs of its rows an edge, more "
            f"than max_edges={limit:,}. Take alpha > 1 (sparser rows), or raise max_edges.",
            count,
            limit,
        )


def check_rows(x: Tensor, anchors: Tensor | None, gain: float | Tensor, alpha: float | Tensor) -> None:
    """Raise unless points, gain and α are what rows can be made of."""
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
    check_dense("entmax_neighbors", "alpha", values)
    if values.dim() > 1 or (values.dim() == 1 and values.numel() != x.size(0)):
        raise LatopoError(f"entmax_neighbors: alpha must be one value or one per row, got shape {tuple(values.shape)}")
    if not bool((values >= 1).all()):
        raise LatopoError(f"entmax_neighbors: alpha must be at least 1, got {float(values.min())}")
