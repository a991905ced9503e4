"""α-entmax on rows of different lengths."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from latopo._arguments import check_dense, checked
from latopo._compile import uncompiled
from latopo.entmax import _cpu, _torch
from latopo.entmax.alpha import LearnableAlpha
from latopo.errors import LatopoError

__all__ = ["SegmentEntmax", "segment_entmax"]


@uncompiled
@checked
def segment_entmax(scores: Tensor, ptr: Tensor, alpha: float | Tensor = 1.5) -> Tensor:
    r"""α-entmax of every row of a ragged matrix (equation 3 of the paper), with gradients to the scores and to α.

    .. math::
        \mathbf{p} = \operatorname{argmax}_{\mathbf{u} \in \Delta} \; \mathbf{u}^\top \mathbf{s} + H_\alpha(\mathbf{u}),
        \qquad p_j = \left[(\alpha - 1) s_j - \tau\right]_+^{1 / (\alpha - 1)}, \quad \sum_j p_j = 1

    with the Tsallis entropy :math:`H_\alpha`. α = 1 is the softmax, α = 2 the sparsemax; a larger α gives fewer nonzero
    entries. :math:`p_j > 0` requires :math:`s_j > \max_k s_k - 1/(\alpha - 1)`.

    - An entry −inf does not exist: its probability and gradient are 0.
    - A row without entries, or with −inf only, sums to 0, not 1.
    - NaN or +inf makes its row NaN, and no other row; values are not checked.
    - float16 and bfloat16 are computed in float32 and returned in their own type.
    - For α > 2 the derivative is unbounded where an entry joins the support; gradients are kept finite there.

    Args:
        scores: the rows, one after the other.
        ptr: int64, row ``i`` is ``scores[ptr[i]:ptr[i + 1]]``.
        alpha: at least 1; a number, a tensor without dimensions, or one entry per row.

    Shapes:
        - scores: ``[ptr[-1]]``
        - ptr: ``[R + 1]``
        - alpha: ``[]`` or ``[R]``
        - output: ``[ptr[-1]]``

    Example:
        >>> scores = torch.tensor([2.0, 1.0, -3.0, 0.5, 0.5])
        >>> segment_entmax(scores, torch.tensor([0, 3, 5]))
        tensor([0.8307, 0.1693, 0.0000, 0.5000, 0.5000])
    """
    _check(scores, ptr)
    rows = _rows_of_alpha(alpha, scores, ptr)
    # Half precision cannot hold the sum of a long row; autograd takes the gradient back through both conversions.
    wide = scores if scores.dtype == torch.float64 else scores.float()
    prob: Tensor = _SegmentEntmax.apply(wide.contiguous(), ptr.contiguous(), rows)
    return prob.to(scores.dtype)


class SegmentEntmax(nn.Module):
    r"""α-entmax on rows of different lengths, see :func:`segment_entmax`, with a fixed or a learned α.

    Args:
        alpha: the value, or with ``learnable`` the initial value.
        learnable: whether α is a parameter, a :class:`LearnableAlpha`.

    Shapes:
        - scores: ``[ptr[-1]]``
        - ptr: ``[R + 1]``
        - output: ``[ptr[-1]]``

    Example:
        >>> SegmentEntmax(alpha=2.0)(torch.tensor([0.5, 0.0, 9.0]), torch.tensor([0, 2, 3]))
        tensor([0.7500, 0.2500, 1.0000])
    """

    @checked
    def __init__(self, alpha: float = 1.5, learnable: bool = False) -> None:
        super().__init__()
        self.alpha = LearnableAlpha(alpha) if learnable else alpha

    def reset_parameters(self) -> None:
        """Set a learned α back to its initial value."""
        if isinstance(self.alpha, LearnableAlpha):
            self.alpha.reset_parameters()

    def forward(self, scores: Tensor, ptr: Tensor) -> Tensor:
        """Return the probabilities ``[ptr[-1]]``."""
        alpha = self.alpha() if isinstance(self.alpha, LearnableAlpha) else self.alpha
        return segment_entmax(scores, ptr, alpha)

    def extra_repr(self) -> str:
        """The fixed α; a learned one shows itself."""
        return "" if isinstance(self.alpha, LearnableAlpha) else f"alpha={self.alpha}"


class _SegmentEntmax(torch.autograd.Function):
    """The two implementations behind one gradient; ``alpha`` is ``[1]`` or ``[R]``."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, ptr: Tensor, alpha: Tensor) -> Tensor:
        home = _cpu if scores.device.type == "cpu" else _torch
        prob = home.forward(scores.detach(), ptr, alpha.detach())
        ctx.save_for_backward(prob, ptr, alpha)
        return prob

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad_prob: Tensor) -> tuple[Tensor | None, None, Tensor | None]:
        prob, ptr, alpha = ctx.saved_tensors
        with_scores, _, with_alpha = ctx.needs_input_grad
        home = _cpu if prob.device.type == "cpu" else _torch
        grad_scores, per_row = home.backward(prob.detach(), grad_prob.contiguous(), ptr, alpha.detach(), with_alpha)
        grad_alpha = per_row.sum(0, keepdim=True) if len(alpha) == 1 else per_row
        return grad_scores if with_scores else None, None, grad_alpha.to(alpha.dtype) if with_alpha else None


def _check(scores: Tensor, ptr: Tensor) -> None:
    check_dense("segment_entmax", "scores", scores)
    check_dense("segment_entmax", "ptr", ptr)
    if scores.dim() != 1 or not scores.is_floating_point():
        raise LatopoError(
            f"segment_entmax: scores must be a floating-point tensor with one dimension, got {scores.dtype} "
            f"of shape {list(scores.shape)}; put the rows one after the other and give their starts in ptr"
        )
    if ptr.dim() != 1 or ptr.dtype != torch.int64 or len(ptr) == 0:
        raise LatopoError(
            f"segment_entmax: ptr must be an int64 tensor of shape [rows + 1], "
            f"got {ptr.dtype} of shape {list(ptr.shape)}"
        )
    if ptr.device != scores.device:
        raise LatopoError(f"segment_entmax: ptr is on {ptr.device}, scores on {scores.device}; move one of them")
    # One transfer from the device: a wrong pointer would read foreign memory.
    first, last, smallest = torch.stack([ptr[0], ptr[-1], torch.cat([ptr.diff(), ptr.new_zeros(1)]).min()]).tolist()
    if first != 0 or last != len(scores) or smallest < 0:
        raise LatopoError(
            f"segment_entmax: ptr must start at 0, never decrease and end at len(scores)={len(scores)}; "
            f"it starts at {first}, ends at {last} and its smallest step is {smallest}"
        )


def _rows_of_alpha(alpha: float | Tensor, scores: Tensor, ptr: Tensor) -> Tensor:
    """α as a tensor ``[1]`` or ``[R]`` beside the scores, checked."""
    if isinstance(alpha, Tensor):
        check_dense("segment_entmax", "alpha", alpha)
    else:
        # In float64 unless the device may lack it; then the scores are no finer than float32 either.
        exact = scores.dtype == torch.float64 or scores.device.type == "cpu"
        alpha = torch.tensor(alpha, dtype=torch.float64 if exact else torch.float32)
    if alpha.dim() > 1 or (alpha.dim() == 1 and len(alpha) != len(ptr) - 1):
        raise LatopoError(
            f"segment_entmax: alpha must be a number or one entry for each of the {len(ptr) - 1} rows, "
            f"got shape {list(alpha.shape)}"
        )
    if not bool(((alpha >= 1) & alpha.isfinite()).all()):
        raise LatopoError(f"segment_entmax: alpha must be finite and at least 1 (softmax), got {alpha.tolist()}")
    return alpha.reshape(-1).to(scores.device)
