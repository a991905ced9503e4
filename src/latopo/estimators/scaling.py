"""Features on one scale, learned from the training rows."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from latopo.data.features import csr_tensor
from latopo.errors import LatopoError
from latopo.estimators.piecewise import Bins

__all__ = ["Scaling"]

FloatArray = NDArray[np.float64]


class Scaling(NamedTuple):
    """A shift and a factor per column: zero mean and unit variance, or for mostly empty columns the largest size 1.

    In a sparse matrix, columns of zeros for the most part are not shifted, which would fill them; the others (a year
    beside one-hot columns) would lose their differences beside their offset. A constant column becomes 0 (a mostly
    empty one has none).
    """

    shift: FloatArray  # [d], with bins [d + C]
    factor: FloatArray  # [d], with bins [d + C]
    bins: Bins | None = None  # of dense columns, first

    @classmethod
    def of(cls, caller: str, x: Any, bins: int = 0) -> "Scaling":
        """From training rows [N, d], an array or a sparse CSR matrix; arrays may have so many bins per column."""
        if bins and not sparse.issparse(x):
            found = Bins.of(x, bins)
            return cls.of(caller, found.apply(x))._replace(bins=found)
        if sparse.issparse(x):
            shift = np.zeros(x.shape[1])
            size = np.asarray(abs(x).max(axis=0).todense()).ravel()
            filled = np.flatnonzero(np.asarray((x != 0).sum(axis=0)).ravel() > x.shape[0] / 2)
            shift[filled], size[filled] = _mean_and_deviation(x[:, filled].toarray())
        else:
            shift, size = _mean_and_deviation(x)
        if not (np.isfinite(shift).all() and np.isfinite(size).all()):
            raise LatopoError(f"{caller}: X has values so large that their spread overflows; divide them first")
        return cls(shift, np.divide(1.0, size, out=np.zeros_like(size), where=size > 0))

    @classmethod
    def none(cls, columns: int) -> "Scaling":
        """Nothing is shifted or scaled."""
        return cls(np.zeros(columns), np.ones(columns))

    def apply(self, x: Any) -> Tensor:
        """Scaled rows as a float64 tensor, dense or sparse CSR as they came."""
        if sparse.issparse(x):
            scaled = sparse.csr_array((x - self._offset(x.shape[0])).multiply(self.factor[None, :]))
            scaled.sum_duplicates()  # the tensor wants its columns sorted, each once
            if x.shape[0] == 0 or scaled.nnz >= 0.3 * np.prod(scaled.shape):
                return torch.from_numpy(scaled.toarray())
            crow, col = (torch.from_numpy(part.astype(np.int64)) for part in (scaled.indptr, scaled.indices))
            return csr_tensor(crow, col, torch.from_numpy(scaled.data), scaled.shape)
        x = x if self.bins is None else self.bins.apply(x)
        return torch.from_numpy((x - self.shift) * self.factor)

    def _offset(self, rows: int) -> Any:
        """The shift, for so many rows, as a sparse array."""
        columns = np.flatnonzero(self.shift)
        starts = np.arange(rows + 1) * columns.size
        values, places = np.tile(self.shift[columns], rows), np.tile(columns, rows)
        return sparse.csr_array((values, places, starts), shape=(rows, self.shift.size))


def _mean_and_deviation(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = x.mean(axis=0), x.std(axis=0)
        # A deviation of rounding size is none: dividing by it would blow the rounding up.
        deviation[deviation <= 16 * np.finfo(np.float64).eps * np.abs(x).max(axis=0)] = 0.0
    return mean, deviation
