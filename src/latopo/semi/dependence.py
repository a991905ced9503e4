"""Which columns share something: irrelevant ones must not decide who is near whom."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["dependence", "dependent_columns"]

_ROWS = 300
_LEAST = 0.05
_MOST_COLUMNS = 512  # beyond, the tables of distances would fill the memory


def dependence(x: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    r"""Squared distance correlation of every pair of columns, on at most 300 rows; 0 on the diagonal.

    With :math:`a_{ij} = |x_i - x_j|`, centred in rows and columns, it is the cosine of two such tables: 0 if and only
    if the columns are independent, whatever the form of the dependence.

    Shapes:
        - **x**: [n, d]
        - **output**: [d, d]

    Example:
        >>> x = np.linspace(-1, 1, 200)
        >>> noise = np.random.RandomState(0).randn(200)
        >>> np.round(dependence(np.column_stack([x, x**2, noise]))[0], 1).tolist()
        [0.0, 0.2, 0.0]
    """
    rows = np.random.default_rng(0).choice(len(x), min(len(x), _ROWS), replace=False)
    tables = np.empty((x.shape[1], rows.size**2), np.float32)
    for number, column in enumerate(x[rows].T):
        distance = np.abs(column[:, None] - column[None])
        centred = distance - distance.mean(axis=0) - distance.mean(axis=1)[:, None] + distance.mean()
        tables[number] = centred.ravel()
    product = (tables @ tables.T).astype(np.float64)
    length = np.sqrt(np.maximum(np.diag(product), 1e-12))
    product /= np.outer(length, length)
    np.fill_diagonal(product, 0)
    return product


def dependent_columns(x: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Columns that depend on another one, bool [d]; all of them if fewer than two do, or if there are few or very many.

    A column that is independent of all others says nothing of a structure that they share.

    Example:
        >>> moon = np.linspace(0, np.pi, 300)
        >>> noise = np.random.RandomState(0).randn(300, 2)
        >>> dependent_columns(np.column_stack([np.cos(moon), np.sin(moon), noise])).tolist()
        [True, True, False, False]
    """
    if not 3 <= x.shape[1] <= _MOST_COLUMNS:
        return np.ones(x.shape[1], bool)
    kept: NDArray[np.bool_] = dependence(x).max(axis=1) >= _LEAST
    return kept if kept.sum() >= 2 else np.ones_like(kept)
