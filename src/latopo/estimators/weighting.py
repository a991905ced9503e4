"""Weights of the training rows, and rows that are the same point.

A weight of 2 means what scikit-learn wants it to mean: the row is there twice, and with 0 not at all. In a complex that
takes some care, for a row is a node: equal rows with equal targets become one node, which weighs as much as they do.
"""

from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, compute_class_weight

from latopo.errors import LatopoError

__all__ = ["DistinctRows", "class_weights", "distinct_rows", "row_weights"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class DistinctRows(NamedTuple):
    """The nodes that training rows become."""

    rows: IntArray  # number of the row that stands for each node, [n]
    node: IntArray  # node of each row, −1 for rows without weight, [N]
    weight: FloatArray  # of each node, [n]


def row_weights(sample_weight: Any, X: Any) -> FloatArray | None:
    """The weights as numbers [N], none negative, some above 0; None if all are alike, which changes nothing."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Number):
        sample_weight = np.full(X.shape[0], sample_weight)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, copy=True, input_name="sample_weight")
    if weights.shape != (X.shape[0],):
        raise LatopoError(f"sample_weight: expected {X.shape[0]} numbers, one for each row, got shape {weights.shape}")
    if (weights < 0).any():
        raise LatopoError(f"sample_weight: expected no negative values, got {weights.min()}")
    if not weights.any():
        raise LatopoError("Sample weights must contain at least one non-zero number")  # scikit-learn checks these words
    return None if (weights == weights[0]).all() else weights


def class_weights(
    caller: str, class_weight: Any, classes: NDArray[Any], target: IntArray, labelled: NDArray[np.bool_],
    weights: FloatArray | None,
) -> FloatArray | None:  # fmt: skip
    """The rows' weights times those of their classes, as scikit-learn's classifiers take ``class_weight``."""
    if class_weight is None:
        return weights
    weights = np.ones(len(target)) if weights is None else weights
    try:
        factors = compute_class_weight(
            class_weight, classes=classes, y=classes[target[labelled]], sample_weight=weights[labelled]
        )
    except (ValueError, TypeError) as error:
        raise LatopoError(f"{caller}: class_weight must be 'balanced' or a weight for each class: {error}") from error
    if not np.isfinite(factors).all() or (factors < 0).any():
        raise LatopoError(f"{caller}: class_weight must be finite and not negative, got {class_weight!r}")
    return np.where(labelled, weights * factors[target], weights)


def distinct_rows(x: Any, target: NDArray[Any], labelled: NDArray[np.bool_], weights: FloatArray | None) -> Any:
    """Nodes for rows [N, d], dense or sparse CSR; None if every row is a node of its own and weights are alike.

    Rows are equal if their features, their targets and whether they have one are. The nodes are in the order of their
    features, so that repeated rows and weights give the same fit to the last digit, however the rows are ordered.

    Example:
        >>> x, y = np.array([[2.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> rows, node, weight = distinct_rows(x, y, np.ones(4, bool), np.array([1.0, 1.0, 1.0, 0.0]))
        >>> sorted(rows.tolist()), weight[node[0]].item(), node[3].item(), bool(node[0] == node[2])
        ([0, 1], 2.0, -1, True)
    """
    counted = np.arange(x.shape[0]) if weights is None else np.flatnonzero(weights > 0)
    keys = _keys(x[counted], target[counted], labelled[counted])
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if weights is None and len(first) == len(keys):
        return None
    node = np.full(x.shape[0], -1)
    node[counted] = inverse
    shares = np.ones(len(counted)) if weights is None else weights[counted]
    weight: FloatArray = np.bincount(inverse, shares).astype(np.float64)
    return DistinctRows(counted[first], node, weight)


def _keys(x: Any, target: NDArray[Any], labelled: NDArray[np.bool_]) -> NDArray[Any]:
    """Bytes of each row that are equal for equal rows."""
    ends = np.column_stack([np.where(labelled, target, 0).astype(np.float64), labelled]) + 0.0  # no −0
    if not sparse.issparse(x):
        both = np.ascontiguousarray(np.column_stack([x + 0.0, ends]))
        return both.view(np.dtype((np.void, both.shape[1] * both.itemsize))).ravel()
    x = x.copy()
    x.sum_duplicates()
    x.eliminate_zeros()
    spans = zip(x.indptr[:-1], x.indptr[1:], ends, strict=True)
    return np.array(
        [x.indices[a:b].tobytes() + b"|" + x.data[a:b].tobytes() + end.tobytes() for a, b, end in spans], object
    )
