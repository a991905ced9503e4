"""Which labelled rows train, and which choose the epoch."""

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError

__all__ = ["interleaved", "validation_split"]

IntArray = NDArray[np.int64]

_SMALLEST = 30  # labelled rows below which a validation part would say nothing


def validation_split(
    labelled: IntArray, y: NDArray[np.int64] | None, fraction: float, random: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Split labelled rows into training and validation rows; of few rows all do both.

    Args:
        labelled: numbers of the labelled rows.
        y: their classes, for a split that keeps the shares of the classes; None for regression. A class always keeps a
            training row.
        fraction: share of the validation rows; 0 for none.
        random: the random numbers.
    """
    if not 0 <= fraction < 1:
        raise LatopoError(f"validation_fraction must be at least 0 and below 1, got {fraction}")
    learned = 1 if y is None else np.unique(y).size  # at least so many: every class has a row to learn from
    if fraction == 0 or labelled.size < max(_SMALLEST, learned + 1):
        return labelled, labelled
    order = random.permutation(labelled.size)
    if y is not None:
        order = interleaved(order, y)
    # The last part of an order in which every class is spread evenly is itself spread evenly.
    chosen = np.zeros(labelled.size, bool)
    first = min(max(labelled.size - round(fraction * labelled.size), learned), labelled.size - 1)
    chosen[order[first:]] = True
    return labelled[~chosen], labelled[chosen]


def interleaved(order: IntArray, y: NDArray[np.int64]) -> IntArray:
    """Rows by their relative position within their class, (0, 1, …) / class size; of equals the earlier row first."""
    classes = y[order]
    position = np.empty(order.size)
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        position[members] = np.arange(members.size) / members.size
    return order[np.argsort(position, kind="stable")]
