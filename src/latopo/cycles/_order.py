"""Sorting rows of small numbers, compiled."""

import numpy as np

from latopo._numba import njit
from latopo.cycles.simple_graph import IntArray


def lexicographic_order(rows: IntArray, num_nodes: int) -> IntArray:
    """The order that sorts ``rows`` [R, k] of numbers below ``num_nodes``: k counting sorts, O(k · (R + num_nodes))."""
    count, columns = rows.shape
    order, other = np.arange(count), np.empty(count, np.int64)
    for column in range(columns - 1, -1, -1):
        _sort_by(rows[:, column], order, np.zeros(num_nodes + 1, np.int64), other)
        order, other = other, order
    return order


@njit(nogil=True, cache=True)
def _sort_by(values: IntArray, order: IntArray, slot: IntArray, out: IntArray) -> None:
    # The order, sorted by the values and stable, into `out`; `slot` is zeros for each value and one more.
    for row in range(values.size):
        slot[values[row] + 1] += 1
    slot[:] = np.cumsum(slot)
    for place in range(order.size):
        value = values[order[place]]
        out[slot[value]] = order[place]
        slot[value] += 1
