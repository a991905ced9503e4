"""A positive scale that learns."""

import torch
from torch import Tensor, nn

from latopo._arguments import checked
from latopo.errors import LatopoError

__all__ = ["Gain"]

_BOUNDS = (1e-3, 1e5)
_REACH = 20.0  # γ stays within e^±20 of its start: beyond, it would round to 0 or infinity


class Gain(nn.Module):
    r"""The gain :math:`\gamma` of a layer norm in front of entmax, :math:`\gamma = \gamma_0 \exp(\rho / \gamma_0)`.

    The parameter :math:`\rho` starts at 0, where :math:`\partial\gamma/\partial\rho = 1`: it moves as a plain gain
    would, but can never reach 0. Mean and bias of the norm do not exist: entmax does not see a shift.

    Args:
        start: :math:`\gamma_0 > 0`.
        learnable: whether :math:`\rho` is trained.
        relative: whether it moves in proportion instead, :math:`\gamma = \gamma_0 \exp(\rho)`.

    Example:
        >>> Gain(50.0)()
        tensor(50., grad_fn=<MulBackward0>)
    """

    start: Tensor

    @checked
    def __init__(self, start: float = 50.0, learnable: bool = True, relative: bool = False) -> None:
        super().__init__()
        self.relative = relative
        self.initial = float(start)
        self.register_buffer("start", torch.ones(()))
        self.shift = nn.Parameter(torch.zeros(()), requires_grad=learnable)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Go back to the first start value."""
        self.restart(self.initial)

    def restart(self, value: float) -> None:
        """Start again from another value."""
        if not 0 < value <= torch.finfo(torch.float32).max:
            raise LatopoError(f"Gain: the gain must be a finite number > 0, got {value}")
        # A new tensor: what a past call returned keeps its gradient. And never one of inference mode, which could not
        # be trained with.
        with torch.inference_mode(False), torch.no_grad():
            self.start = torch.full_like(self.start, value)
            if self.shift.is_meta or bool(self.shift):
                self.shift.zero_()

    def nudge(self, factor: float) -> None:
        """Multiply the gain, within 0.001 and 100,000 (or what the type can hold), from the next call on.

        What a past call returned keeps its gradient.
        """
        if factor > 0:
            low, high = _BOUNDS
            with torch.inference_mode(False), torch.no_grad():
                self.start = (self.start * factor).clamp(low, min(high, torch.finfo(self.start.dtype).max))

    def forward(self) -> Tensor:
        """The gain, a scalar tensor."""
        exponent = self.shift if self.relative else self.shift / self.start
        return self.start * exponent.clamp(-_REACH, _REACH).exp()

    def extra_repr(self) -> str:
        """Show the present value."""
        return f"{float(self().detach()):.4g}, learnable={self.shift.requires_grad}"
