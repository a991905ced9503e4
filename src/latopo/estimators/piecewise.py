"""Numbers as positions within quantile bins, so that a model can bend at values rather than along the whole axis."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bins"]

FloatArray = NDArray[np.float64]


class Bins(NamedTuple):
    r"""Every column stays, and each of its bins :math:`[a, b]` adds :math:`\min(\max((x - a) / (b - a), 0), 1)`.

    A linear map of these is a piecewise linear function of the column, with its knots at quantiles of the training
    rows: what trees do well, and a network on the bare numbers learns slowly. Columns of two values or fewer, and those
    whose quantiles coincide, add nothing. Beyond the outer bins only the column itself goes on.

    Example:
        >>> bins = Bins.of(np.array([[0.0], [1.0], [2.0], [4.0], [8.0]]), 2)
        >>> bins.apply(np.array([[1.0], [5.0], [100.0]])).tolist()
        [[1.0, 0.5, 0.0], [5.0, 1.0, 0.5], [100.0, 1.0, 1.0]]
    """

    column: NDArray[np.int64]  # of each bin, [C]
    low: FloatArray  # where the bin begins, [C]
    width: FloatArray  # [C]

    @classmethod
    def of(cls, x: FloatArray, count: int) -> "Bins":
        """At most ``count`` bins for each column of the training rows [N, d]."""
        columns, lows, widths = [], [], []
        for number, values in enumerate(x.T):
            knots = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)))
            if len(knots) > 2 and len(np.unique(values)) > 2:
                columns.append(np.full(len(knots) - 1, number))
                lows.append(knots[:-1])
                widths.append(np.diff(knots))
        none = np.zeros(0)
        return cls(
            np.concatenate([none.astype(np.int64), *columns]),
            np.concatenate([none, *lows]),
            np.concatenate([none, *widths]),
        )

    def apply(self, x: FloatArray) -> FloatArray:
        """The columns and the places in their bins, [N, d] → [N, d + C]."""
        return np.column_stack([x, np.clip((x[:, self.column] - self.low) / self.width, 0.0, 1.0)])
