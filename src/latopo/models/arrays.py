"""Features for numpy and scipy."""

from typing import Any

import torch
from scipy import sparse
from torch import Tensor

__all__ = ["as_array"]


def as_array(x: Tensor) -> Any:
    """A tensor, dense or sparse CSR, as an array of the same kind.

    Example:
        >>> as_array(torch.eye(2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    x = x.detach().cpu()
    if x.layout != torch.sparse_csr:
        return x.numpy()
    parts = (part.numpy() for part in (x.values(), x.col_indices(), x.crow_indices()))
    return sparse.csr_array(tuple(parts), shape=tuple(x.shape))
