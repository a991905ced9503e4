"""Half precision, which is too coarse for sums and statistics."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

__all__ = ["full_precision", "widen"]

Module = TypeVar("Module", bound=nn.Module)
R = TypeVar("R")


def widen(x: Tensor) -> Tensor:
    """Half precision as float32, anything else as it is: 0.5 added to 128 in bfloat16 is lost, however often.

    Example:
        >>> widen(torch.ones(1, dtype=torch.bfloat16)).dtype, widen(torch.ones(1, dtype=torch.float64)).dtype
        (torch.float32, torch.float64)
    """
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def full_precision(forward: Callable[..., R]) -> Callable[..., R]:
    """Run a module's ``forward(x, ...)`` in the precision of its parameters, whatever ``torch.autocast`` says.

    As autocast does with norms and softmax: rounded points would choose other neighbours.
    """

    @wraps(forward)
    def call(module: Module, x: Tensor, *args: Any, **kwargs: Any) -> R:
        if not torch.is_autocast_enabled(x.device.type):
            return forward(module, x, *args, **kwargs)
        dtype = next((parameter.dtype for parameter in module.parameters()), torch.float32)
        with torch.autocast(x.device.type, enabled=False):
            return forward(module, x.to(dtype), *args, **kwargs)

    return call
