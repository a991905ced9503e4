"""Row statistics from all pairs: exact for every similarity, in blocks, with the dense part of the gradient."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from latopo.neighbors import blocked, fused
from latopo.neighbors.scan import EdgeCounter, Rows, Scan
from latopo.neighbors.similarity import Similarity

__all__ = ["pair_statistics", "sampled_statistics", "scan_pairs"]


@torch.no_grad()
def scan_pairs(rows: Rows, counter: EdgeCounter) -> Scan:
    """Statistics and support of the rows by one pass over all their pairs."""
    path = fused if fused.supports(rows.similarity, rows.points) else blocked
    return path.scan(rows, counter)


def pair_statistics(
    x: Tensor, others: Tensor | None, own: Tensor, similarity: Similarity, mean: Tensor, deviation: Tensor
) -> tuple[Tensor, Tensor]:
    """The mean μ_i and deviation σ_i of a scan, [N] each, as differentiable values of x, others and the similarity."""
    parameters = [parameter for parameter in similarity.parameters() if parameter.requires_grad]
    found: tuple[Tensor, Tensor] = _PairStatistics.apply(x, others, own, similarity, mean, deviation, *parameters)
    return found


def sampled_statistics(
    x: Tensor,
    others: Tensor | None,
    similarity: Similarity,
    columns: Tensor,
    known: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Mean and deviation of each row over a sample of the columns (their numbers, [S]), differentiable.

    Values that are ``known`` from the same points are not computed again.

    The Euclidean distance has no closed form of its mean. Of S columns drawn at random, the standard deviation has the
    relative error :math:`\sqrt{(\kappa - 1)/(4S)}`, where κ is the kurtosis of the row (3 if it is normal):
    3.1 percent for S = 512, whatever the number of points. All rows look at the same columns, so most of the error
    is common to them, and a gain that is learned, or set by a degree, makes up for it.

    Example:
        >>> from latopo.neighbors import Euclidean
        >>> x = torch.tensor([[0.0], [1.0], [3.0]])
        >>> sampled_statistics(x, None, Euclidean(), torch.tensor([0, 2]))
        (tensor([-3.0000, -1.5000, -3.0000]), tensor([0.0000, 0.5000, 0.0000]))
    """
    sample = (x if others is None else others).index_select(0, columns)
    own = torch.full((x.size(0),), -1, device=x.device)
    if others is None:
        own[columns] = torch.arange(columns.numel(), device=x.device)
    if known is None:
        # Nothing is kept of the support; a large gain keeps it small.
        rows = replace(Rows.of(x, sample, similarity, gain=1e6, alpha=2.0), own=own)
        scan = scan_pairs(rows, EdgeCounter(-1))
        known = scan.mean, scan.deviation
    return pair_statistics(x, sample, own, similarity, *known)


class _PairStatistics(torch.autograd.Function):
    """μ_i and σ_i are known from the scan; their gradient is the dense part, block by block."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, others: Tensor | None, own: Tensor, similarity: Similarity, mean: Tensor,
        deviation: Tensor, *parameters: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        ctx.save_for_backward(x, others, own, mean, deviation)
        ctx.similarity = similarity
        return mean.clone(), deviation.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, mean_gradient: Tensor, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, others, own, mean, deviation = ctx.saved_tensors
        count = (x if others is None else others).size(0) - (own >= 0).to(x.dtype)
        # ∂μ_i/∂z_ij = 1/n and ∂σ_i/∂z_ij = (z_ij − μ_i) / (n σ_i); rows with σ_i = 0 pass nothing.
        rate = torch.where(deviation > 0, gradient / (count * deviation), 0.0)
        shift = torch.where(deviation > 0, mean_gradient / count, 0.0) - rate * mean
        if fused.supports(ctx.similarity, x):
            to_x, to_others = fused.weighted_gradient(x, others, own, ctx.similarity, rate, shift)
            return to_x, to_others, None, None, None, None
        to_x, to_others, to_parameters = blocked.weighted_gradient(x, others, own, ctx.similarity, rate, shift)
        return to_x, to_others, None, None, None, None, *to_parameters
