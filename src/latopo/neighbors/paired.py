"""Similarities of given pairs, with a backward pass that holds a bounded number of differences at a time."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from latopo._compile import uncompiled
from latopo.neighbors import fused
from latopo.neighbors.similarity import Similarity

__all__ = ["paired_similarity"]

_CHUNK = 2**18  # pairs whose coordinates are held at a time


@uncompiled
def paired_similarity(x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity) -> Tensor:
    """Similarity of ``x[row[e]]`` to ``y[col[e]]`` for each pair e, [E]; gradients to x, y and the similarity.

    Example:
        >>> from latopo.neighbors import Euclidean
        >>> x = torch.tensor([[0.0], [2.0]])
        >>> paired_similarity(x, x, torch.tensor([0]), torch.tensor([1]), Euclidean())
        tensor([-2.])
    """
    parameters = [parameter for parameter in similarity.parameters() if parameter.requires_grad]
    return _PairedSimilarity.apply(x, y, row, col, similarity, *parameters)


class _PairedSimilarity(torch.autograd.Function):
    """Plain autograd would keep every gathered coordinate, E × d, several times over."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, row: Tensor, col: Tensor, similarity: Similarity, *parameters: Tensor
    ) -> Tensor:
        ctx.similarity = similarity
        if fused.supports(similarity, x):
            values = fused.paired(x, y, row, col, similarity)
            ctx.save_for_backward(x, y, row, col, values)
            return values
        ctx.save_for_backward(x, y, row, col)
        parts = zip(row.split(_CHUNK), col.split(_CHUNK), strict=True)
        return torch.cat([similarity.paired(x[i], y[j]) for i, j in parts])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, y, row, col, *values = ctx.saved_tensors
        if values:
            to_x, to_y = fused.paired_gradient(x, y, row, col, ctx.similarity, values[0], gradient)
            return to_x, to_y, None, None, None
        parameters = [parameter for parameter in ctx.similarity.parameters() if parameter.requires_grad]
        to_x, to_y = torch.zeros_like(x), torch.zeros_like(y)
        to_parameters = [torch.zeros_like(parameter) for parameter in parameters]
        for i, j, outer in zip(row.split(_CHUNK), col.split(_CHUNK), gradient.split(_CHUNK), strict=True):
            with torch.enable_grad():
                left, right = x[i].detach().requires_grad_(), y[j].detach().requires_grad_()
                recomputed = ctx.similarity.paired(left, right)
            found = torch.autograd.grad(recomputed, [left, right, *parameters], outer)
            to_x.index_add_(0, i, found[0])
            to_y.index_add_(0, j, found[1])
            for total, part in zip(to_parameters, found[2:], strict=True):
                total += part
        return to_x, to_y, None, None, None, *to_parameters
