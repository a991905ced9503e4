"""Compiled column reduction: the ranks behind Betti numbers and the pairs behind persistence.

Each column is reduced by earlier ones until its highest row is nobody's pivot, or nothing is left of it. A bitset keeps
the rows of the column at work, so the highest row is found fast and only ever sinks.

All that a reduction knows is in the arrays of :class:`Columns`, so a kernel returns after so many ``steps`` (entries
that it read) and goes on at the next call, also in the middle of a column: Python answers Ctrl-C in between. Kernels
take plain arrays and return nothing: what numba wraps for Python is where Ctrl-C would be lost.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo._numba import njit
from latopo._parallel import row_blocks

__all__ = ["OVERFLOW", "Integers", "reduce_gf2", "reduce_over", "spanning_forest"]

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

OVERFLOW = -2  # in place of a pivot: the integers of the column outgrew 64 bits
_LIMIT = 2.0**61  # of an entry; twice that still fits into int64
_SLICE = 10**7  # steps between two looks at Ctrl-C: about a tenth of a second
_IDLE = -1  # in place of the highest word: no column is at work


class Columns(NamedTuple):
    """The columns reduced so far, and the one at work.

    Attributes:
        pivots: of each column, −1 for none.
        owner: which reduced column has its pivot in this row, −1 for none.
        bounds: where in ``stored`` the reduced columns begin and end.
        words: the bitset of the column at work.
        at: the column at work, how many are stored, and the highest and the lowest word that may hold a bit.
    """

    pivots: Integers
    owner: Integers
    bounds: Integers
    words: Words
    at: Integers

    @classmethod
    def begin(cls, num_columns: int, num_rows: int) -> "Columns":
        """Nothing is reduced yet."""
        nobody, words = np.full(num_rows, -1, np.int64), np.zeros(num_rows // 64 + 1, np.uint64)
        at = np.array([0, 0, _IDLE, 0])
        return cls(np.full(num_columns, -1, np.int64), nobody, np.zeros(num_rows + 1, np.int64), words, at)

    def room(self, stored: Integers) -> Integers:
        """The array of stored columns, larger if the one at work may not fit into it."""
        _, rank, high, low = self.at
        missing = self.bounds[rank] + 64 * (high - low + 1) - stored.size
        if missing <= 0:
            return stored
        return np.concatenate([stored, np.empty(max(missing, stored.size), np.int64)])

    def done(self) -> bool:
        """Whether every column is reduced, or every row is a pivot, so that nothing is left of the others."""
        return bool(self.at[0] == self.pivots.size or self.at[1] == self.owner.size)


def spanning_forest(num_nodes: int, start: Integers, end: Integers) -> Integers:
    """Union-find over the edges in their order: the component that each edge merges into another, −1 for none.

    A component is named by its smallest node, and the one with the larger name is merged into the other.
    """
    parent, merged = np.arange(num_nodes), np.full(start.size, -1, dtype=np.int64)
    for first, last in row_blocks(start.size, _SLICE // 10):
        _merge(parent, start[first:last], end[first:last], merged[first:last])
    return merged


@njit(nogil=True, cache=True)
def _merge(parent: Integers, start: Integers, end: Integers, merged: Integers) -> None:
    for edge in range(start.size):
        left = _root(parent, start[edge])
        right = _root(parent, end[edge])
        if left != right:
            merged[edge] = max(left, right)
            parent[merged[edge]] = min(left, right)


@njit(nogil=True, cache=True)
def _root(parent: Integers, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def reduce_gf2(pointer: Integers, row: Integers, num_rows: int) -> Integers:
    """Pivot of each column over GF(2), −1 for none; column c has ones in ``row[pointer[c]:pointer[c + 1]]``."""
    columns = Columns.begin(pointer.size - 1, num_rows)
    stored = np.empty(max(row.size, 1), dtype=np.int64)  # the reduced columns one after another, rows descending
    while not columns.done():
        stored = columns.room(stored)
        _go_on_gf2(pointer, row, *columns, stored, _SLICE)
    return columns.pivots


@njit(nogil=True, cache=True)
def _go_on_gf2(
    pointer: Integers,
    row: Integers,
    pivots: Integers,
    owner: Integers,
    bounds: Integers,
    words: Words,
    at: Integers,
    stored: Integers,
    steps: int,
) -> None:
    """Reduce for so many steps, or until ``stored`` has no room for the next column."""
    column, rank, high, low = at
    while column < pivots.size and rank < owner.size:
        if high == _IDLE:
            high, low = _flip(words, row, pointer[column], pointer[column + 1])
            steps -= pointer[column + 1] - pointer[column] + 1
        pivot = -1
        while high >= low and steps >= 0:
            steps -= 1
            if words[high] == 0:
                high -= 1
                continue
            pivot = 64 * high + _top_bit(words[high])
            other = owner[pivot]
            if other < 0:
                break
            low = min(low, _flip(words, stored, bounds[other], bounds[other + 1])[1])
            steps -= bounds[other + 1] - bounds[other]
            pivot = -1
        full = bounds[rank] + 64 * (high - low + 1) > stored.size
        if high >= low and (pivot < 0 or full):
            break
        if pivot >= 0:
            pivots[column], owner[pivot] = pivot, rank
            bounds[rank + 1] = _move_out(words, high, low, stored, bounds[rank])
            steps -= bounds[rank + 1] - bounds[rank] + high - low
            rank += 1
        column, high = column + 1, _IDLE
    at[0], at[1], at[2], at[3] = column, rank, high, low


@njit(nogil=True, cache=True)
def _flip(words: Words, rows: Integers, start: int, stop: int) -> tuple[int, int]:
    """Flip the bits ``rows[start:stop]``; returns the highest and the lowest word touched."""
    high, low = -1, words.size
    for position in range(start, stop):
        word = rows[position] >> 6
        words[word] ^= np.uint64(1) << np.uint64(rows[position] & 63)
        high, low = max(high, word), min(low, word)
    return high, low


@njit(nogil=True, cache=True)
def _move_out(words: Words, high: int, low: int, stored: Integers, used: int) -> int:
    """Append the set bits of ``words[low:high + 1]`` to ``stored``, highest first, and clear them; where they end."""
    for word in range(high, low - 1, -1):
        while words[word] != 0:
            bit = _top_bit(words[word])
            words[word] ^= np.uint64(1) << np.uint64(bit)
            stored[used] = 64 * word + bit
            used += 1
    return used


@njit(nogil=True, cache=True)
def _top_bit(word: np.uint64) -> int:
    bit = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(step) != 0:
            word >>= np.uint64(step)
            bit += step
    return bit


def reduce_over(pointer: Integers, row: Integers, value: Integers, num_rows: int, prime: int) -> Integers:
    """Pivot of each column over GF(``prime``), a prime below 2³¹, or over the rationals (0); −1 for none.

    Over the rationals columns are kept as integers without a common divisor. Where those outgrow 64 bits the column's
    pivot is :data:`OVERFLOW`, and the later ones mean nothing.
    """
    columns = Columns.begin(pointer.size - 1, num_rows)
    work = np.zeros(num_rows, dtype=np.int64)
    stored = np.empty(max(row.size, 1), dtype=np.int64)
    values = np.empty_like(stored)
    while not columns.done():
        stored, values = columns.room(stored), columns.room(values)
        _go_on_over(pointer, row, value, prime, *columns, work, stored, values, _SLICE // 4)
    return columns.pivots


@njit(nogil=True, cache=True)
def _go_on_over(
    pointer: Integers,
    row: Integers,
    value: Integers,
    prime: int,
    pivots: Integers,
    owner: Integers,
    bounds: Integers,
    words: Words,
    at: Integers,
    work: Integers,
    stored: Integers,
    values: Integers,
    steps: int,
) -> None:
    """Reduce for so many steps, or until ``stored`` and its ``values`` have no room for the next column."""
    column, rank, high, low = at
    while column < pivots.size and rank < owner.size:
        if high == _IDLE:
            first, last = pointer[column], pointer[column + 1]
            high, low = _subtract(work, words, -1, row[first:last], value[first:last], prime)
            steps -= last - first + 1
        pivot = -1
        while high >= low and steps >= 0:
            steps -= 1
            if words[high] == 0:
                high -= 1
                continue
            pivot = 64 * high + _top_bit(words[high])
            if work[pivot] == 0:
                words[high] ^= np.uint64(1) << np.uint64(pivot & 63)
                pivot = -1
                continue
            other = owner[pivot]
            if other < 0:
                break
            lowest = _eliminate(work, words, high, low, stored, values, bounds[other], bounds[other + 1], prime)
            if lowest < 0:
                pivots[column], at[0] = OVERFLOW, pivots.size
                return
            low = min(low, lowest)
            steps -= bounds[other + 1] - bounds[other] + (64 * (high - low) if prime == 0 else 0)
            pivot = -1
        full = bounds[rank] + 64 * (high - low + 1) > stored.size
        if high >= low and (pivot < 0 or full):
            break
        if pivot >= 0:
            pivots[column], owner[pivot] = pivot, rank
            used = _move_out(words, high, low, stored, bounds[rank])
            bounds[rank + 1] = _move_values(work, stored, values, bounds[rank], used, prime)
            steps -= used - bounds[rank] + high - low
            rank += 1
        column, high = column + 1, _IDLE
    at[0], at[1], at[2], at[3] = column, rank, high, low


@njit(nogil=True, cache=True)
def _eliminate(
    work: Integers,
    words: Words,
    high: int,
    low: int,
    stored: Integers,
    values: Integers,
    first: int,
    last: int,
    prime: int,
) -> int:
    """Clear row ``stored[first]`` of the column at work by the stored column from ``first`` to ``last``.

    Returns the lowest word touched, or −1 if an entry outgrows its bits.
    """
    factor = work[stored[first]]
    if prime == 0:
        common = math.gcd(factor, values[first])
        factor //= common
        if not _scale(work, words, high, low, values[first] // common):
            return -1
    return _subtract(work, words, factor, stored[first:last], values[first:last], prime)[1]


@njit(nogil=True, cache=True)
def _subtract(
    work: Integers, words: Words, factor: int, rows: Integers, values: Integers, prime: int
) -> tuple[int, int]:
    """Take ``factor`` times a column off the one at work.

    Returns the highest and the lowest word touched, or (−1, −1) if an entry outgrows its bits.
    """
    high, low = -1, words.size
    for position in range(rows.size):
        row = rows[position]
        if prime:
            work[row] = (work[row] - factor * values[position]) % prime
        else:
            if abs(float(factor) * float(values[position])) > _LIMIT:
                return -1, -1
            work[row] -= factor * values[position]
            if abs(work[row]) > _LIMIT:
                return -1, -1
        words[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        high, low = max(high, row >> 6), min(low, row >> 6)
    return high, low


@njit(nogil=True, cache=True)
def _scale(work: Integers, words: Words, high: int, low: int, factor: int) -> bool:
    """Multiply the column at work; False if an entry outgrows its bits."""
    if factor == 1:
        return True
    for row in range(64 * low, min(64 * (high + 1), work.size)):
        if abs(float(work[row]) * float(factor)) > _LIMIT:
            return False
        work[row] *= factor
    return True


@njit(nogil=True, cache=True)
def _move_values(work: Integers, stored: Integers, values: Integers, start: int, stop: int, prime: int) -> int:
    """Move the entries in the rows ``stored[start:stop]`` out of the column at work; returns where they end.

    Zeros are left out. Over GF(``prime``) the first entry becomes 1; integers lose their common divisor, and the first
    becomes positive.
    """
    used, common = start, 0
    for position in range(start, stop):
        row = stored[position]
        if work[row] != 0:
            stored[used], values[used] = row, work[row]
            common = math.gcd(common, work[row])
            work[row] = 0
            used += 1
    if prime:
        inverse = _inverse(values[start], prime)
        for position in range(start, used):
            values[position] = values[position] * inverse % prime
    else:
        common = common if values[start] > 0 else -common
        for position in range(start, used):
            values[position] //= common
    return used


@njit(nogil=True, cache=True)
def _inverse(value: int, prime: int) -> int:
    """By Fermat: value^(prime − 2)."""
    result, power = 1, prime - 2
    while power > 0:
        if power & 1:
            result = result * value % prime
        value = value * value % prime
        power >>= 1
    return result
