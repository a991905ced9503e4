"""Half precision, which is too coarse for sums and statistics."""

import torch
from torch import Tensor

__all__ = ["widen"]


def widen(x: Tensor) -> Tensor:
    """Half precision as float32, anything else as it is: 0.5 added to 128 in bfloat16 is lost, however often.

    Example:
        >>> widen(torch.ones(1, dtype=torch.bfloat16)).dtype, widen(torch.ones(1, dtype=torch.float64)).dtype
        (torch.float32, torch.float64)
    """
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
