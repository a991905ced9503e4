"""Betti numbers over GF(2), without any dense matrix, and the Euler characteristic.

With r₁, r₂ the ranks of the two boundary matrices: b₀ = N − r₁, b₁ = E − r₁ − r₂, b₂ = P − r₂. A spanning forest gives
r₁; r₂ comes from a sparse column reduction. Over GF(2) the projective plane has Betti numbers (1, 1, 1); over the
rationals they would be (1, 0, 0). Complexes without torsion have the same numbers over both.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

Integers = NDArray[np.int64]


def euler_characteristic(complex: "CellComplex") -> int:
    """N − E + P, which is also b₀ − b₁ + b₂."""
    return complex.num_nodes - complex.num_edges + complex.num_polygons


def betti_numbers(complex: "CellComplex") -> tuple[int, int, int]:
    """(b₀, b₁, b₂) over GF(2): connected components, independent holes, independent voids.

    Example:
        >>> import torch
        >>> from latopo import CellComplex
        >>> betti_numbers(CellComplex(4, torch.tensor([[0, 0, 1], [1, 2, 2]])))
        (2, 1, 0)
    """
    start, end = np.ascontiguousarray(complex.edge_index.cpu().numpy())
    in_forest = _spanning_forest(complex.num_nodes, start, end)
    rank_1 = int(in_forest.sum())
    edge, polygon = complex.polygon_edge_index().cpu().numpy()
    # The row of a forest edge is the sum of the other rows in its fundamental cut, because ∂∂ = 0: leaving the forest
    # out keeps the rank and shortens the columns.
    keep = ~in_forest[edge]
    row = (np.cumsum(~in_forest) - 1)[edge[keep]]
    pointer = np.zeros(complex.num_polygons + 1, dtype=np.int64)
    np.cumsum(np.bincount(polygon[keep], minlength=complex.num_polygons), out=pointer[1:])
    rank_2 = int(_rank_gf2(pointer, row, complex.num_edges - rank_1))
    return complex.num_nodes - rank_1, complex.num_edges - rank_1 - rank_2, complex.num_polygons - rank_2


@njit(nogil=True, cache=True)
def _spanning_forest(num_nodes: int, start: Integers, end: Integers) -> NDArray[np.bool_]:
    """Union-find over the edges in their order: True for each edge that joins two components."""
    parent = np.arange(num_nodes)
    in_forest = np.zeros(start.size, dtype=np.bool_)
    for edge in range(start.size):
        left = _root(parent, start[edge])
        right = _root(parent, end[edge])
        if left != right:
            parent[max(left, right)] = min(left, right)
            in_forest[edge] = True
    return in_forest


@njit(nogil=True, cache=True)
def _root(parent: Integers, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(nogil=True, cache=True)
def _rank_gf2(pointer: Integers, row: Integers, num_rows: int) -> int:
    """Rank over GF(2) of the matrix whose column c has ones in ``row[pointer[c]:pointer[c + 1]]``.

    Each column is reduced by earlier ones until its highest row is nobody's pivot, or nothing is left of it. The column
    at work is a bitset: additions are bit flips, and the highest row only ever sinks.
    """
    owner = np.full(num_rows, -1, dtype=np.int64)  # which reduced column has its pivot in this row
    bounds = np.zeros(num_rows + 1, dtype=np.int64)
    stored = np.empty(max(row.size, 1), dtype=np.int64)  # the reduced columns one after another, rows descending
    words = np.zeros(num_rows // 64 + 1, dtype=np.uint64)
    rank = 0
    for column in range(pointer.size - 1):
        if rank == num_rows:
            break
        high, low = _flip(words, row, pointer[column], pointer[column + 1])
        while high >= low:
            if words[high] == 0:
                high -= 1
                continue
            pivot = 64 * high + _top_bit(words[high])
            other = owner[pivot]
            if other < 0:
                break
            low = min(low, _flip(words, stored, bounds[other], bounds[other + 1])[1])
        if high >= low:
            owner[pivot] = rank
            stored, bounds[rank + 1] = _move_out(words, high, low, stored, bounds[rank])
            rank += 1
    return rank


@njit(nogil=True, cache=True)
def _flip(words: NDArray[np.uint64], rows: Integers, start: int, stop: int) -> tuple[int, int]:
    """Flip the bits ``rows[start:stop]``; returns the highest and the lowest word touched."""
    high, low = -1, words.size
    for position in range(start, stop):
        word = rows[position] >> 6
        words[word] ^= np.uint64(1) << np.uint64(rows[position] & 63)
        high, low = max(high, word), min(low, word)
    return high, low


@njit(nogil=True, cache=True)
def _move_out(words: NDArray[np.uint64], high: int, low: int, stored: Integers, used: int) -> tuple[Integers, int]:
    """Append the set bits of ``words[low:high + 1]`` to ``stored`` (grown if needed), highest first, and clear them."""
    for word in range(high, low - 1, -1):
        while words[word] != 0:
            bit = _top_bit(words[word])
            words[word] ^= np.uint64(1) << np.uint64(bit)
            if used == stored.size:
                grown = np.empty(2 * used, dtype=np.int64)
                grown[:used] = stored
                stored = grown
            stored[used] = 64 * word + bit
            used += 1
    return stored, used


@njit(nogil=True, cache=True)
def _top_bit(word: np.uint64) -> int:
    bit = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(step) != 0:
            word >>= np.uint64(step)
            bit += step
    return bit
