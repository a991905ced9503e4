"""Features on one scale, learned from the training rows."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from latopo.data.features import csr_tensor
from latopo.errors import LatopoError

__all__ = ["Scaling"]

FloatArray = NDArray[np.float64]


class Scaling(NamedTuple):
    """A shift and a factor per column: zero mean and unit variance, or for sparse features the largest size 1.

    Sparse features are not shifted, which would fill them. A constant column becomes 0 (sparse: stays as it is).

    Attributes:
        shift: [d].
        factor: [d].

    Example:
        >>> Scaling.of("fit", np.array([[1.0, 5.0], [3.0, 5.0]])).apply(np.array([[4.0, 5.0]]))
        tensor([[2., 0.]], dtype=torch.float64)
    """

    shift: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, caller: str, x: Any) -> "Scaling":
        """From training rows [N, d], an array or a sparse CSR matrix."""
        if sparse.issparse(x):
            shift = np.zeros(x.shape[1])
            size = np.asarray(abs(x).max(axis=0).todense()).ravel()
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                shift, size = x.mean(axis=0), x.std(axis=0)
                # A deviation of rounding size is none: dividing by it would blow the rounding up.
                size[size <= 16 * np.finfo(np.float64).eps * np.abs(x).max(axis=0)] = 0.0
        if not (np.isfinite(shift).all() and np.isfinite(size).all()):
            raise LatopoError(f"{caller}: X has values so large that their spread overflows; divide them first")
        return cls(shift, np.divide(1.0, size, out=np.zeros_like(size), where=size > 0))

    def apply(self, x: Any) -> Tensor:
        """Scaled rows as a float64 tensor, dense or sparse CSR as they came."""
        if sparse.issparse(x):
            scaled = sparse.csr_array(x.multiply(self.factor[None, :]))
            scaled.sum_duplicates()  # the tensor wants its columns sorted, each once
            if x.shape[0] == 0 or scaled.nnz >= 0.3 * np.prod(scaled.shape):
                return torch.from_numpy(scaled.toarray())
            crow, col = (torch.from_numpy(part.astype(np.int64)) for part in (scaled.indptr, scaled.indices))
            return csr_tensor(crow, col, torch.from_numpy(scaled.data), scaled.shape)
        return torch.from_numpy((x - self.shift) * self.factor)
