"""The boundary matrices, reduced over a field: which edge merges components, which polygon fills which hole.

Over any field a spanning forest gives the rank of the first boundary matrix. Of the second one the rows of the forest's
edges are left out: each is a signed sum of the other rows in its fundamental cut, because ∂∂ = 0, and none of them is
ever a pivot.
"""

from math import log2
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latopo.complex._reduction import OVERFLOW, Integers, reduce_gf2, reduce_over, spanning_forest
from latopo.complex.adjacency import check_node_rows
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["Reduction", "read_field", "reduce_boundaries"]


class Reduction(NamedTuple):
    """What each edge and each polygon does when the cells come one after another.

    Attributes:
        merged: [E], the component, named by its smallest node, that an edge merges into an older one; −1 if it closes a
            cycle instead.
        filled: [P], the edge that closed the cycle which a polygon fills; −1 if it closes a void instead.
    """

    merged: Integers
    filled: Integers


def read_field(caller: str, field: int | str) -> int:
    """The characteristic: a prime below 2³¹, or 0 for the rationals, also as ``"rational"``.

    Example:
        >>> read_field("betti_numbers", "rational")
        0
    """
    if field in ("rational", 0) and not isinstance(field, bool):
        return 0
    if not isinstance(field, Integral) or not 2 <= field < 2**31 or not _is_prime(field):
        raise LatopoError(f'CellComplex.{caller}: field must be a prime below 2³¹ or "rational", got {field!r}')
    return int(field)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def reduce_boundaries(
    cx: "CellComplex", field: int, edge_order: Integers | None = None, polygon_order: Integers | None = None
) -> Reduction:
    """Reduce both boundary matrices over the field of that characteristic, cells in the given orders.

    Example:
        >>> import torch
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> reduce_boundaries(triangle, 2)
        Reduction(merged=array([ 1,  2, -1]), filled=array([2]))
    """
    check_node_rows("betti_numbers", cx)
    edge_order = np.arange(cx.num_edges) if edge_order is None else edge_order
    polygon_order = np.arange(cx.num_polygons) if polygon_order is None else polygon_order
    start, end = np.ascontiguousarray(cx.edge_index.cpu().numpy()[:, edge_order])
    merged = np.empty(cx.num_edges, dtype=np.int64)
    merged[edge_order] = spanning_forest(cx.num_nodes, start, end)
    cycle_edges = edge_order[merged[edge_order] < 0]
    pivots = _reduce_cycles(cx, field, cycle_edges, polygon_order)
    filled = np.empty(cx.num_polygons, dtype=np.int64)
    filled[polygon_order] = np.where(pivots < 0, -1, cycle_edges[pivots] if cycle_edges.size else -1)
    return Reduction(merged, filled)


def _reduce_cycles(cx: "CellComplex", field: int, cycle_edges: Integers, polygon_order: Integers) -> Integers:
    """Pivots of the second boundary matrix, rows and columns in these orders."""
    edge, polygon = cx.polygon_edge_index().cpu().numpy()
    row_of = np.full(cx.num_edges, -1, dtype=np.int64)
    row_of[cycle_edges] = np.arange(cycle_edges.size)
    column_of = np.empty(cx.num_polygons, dtype=np.int64)
    column_of[polygon_order] = np.arange(cx.num_polygons)
    keep = row_of[edge] >= 0
    row, column = row_of[edge[keep]], column_of[polygon[keep]]
    pointer = np.zeros(cx.num_polygons + 1, dtype=np.int64)
    np.cumsum(np.bincount(column, minlength=cx.num_polygons), out=pointer[1:])
    order = np.argsort(column, kind="stable")
    if field == 2:
        return reduce_gf2(pointer, row[order], cycle_edges.size)
    sign = cx.polygon_edge_sign().cpu().numpy()[keep].astype(np.int64)[order]
    pivots = reduce_over(pointer, row[order], sign, cycle_edges.size, field)
    if OVERFLOW in pivots:
        return _rational_pivots(pointer, row[order], sign, cycle_edges.size)
    return pivots


def _rational_pivots(pointer: Integers, row: Integers, sign: Integers, num_rows: int) -> Integers:
    """As many pivots as the matrix has rational rank, found without large integers.

    The rank over GF(p) is smaller only for primes p that divide the product of the invariant factors. By Hadamard that
    product is at most Π √(entries of a column), so among primes with a larger product there is one that divides it not.
    """
    bits = sum(0.5 * log2(entries) for entries in np.diff(pointer) if entries)
    best, prime = np.full(pointer.size - 1, -1, dtype=np.int64), 2**31
    while bits > 0:
        prime -= 1
        if _is_prime(prime):
            pivots = reduce_over(pointer, row, sign, num_rows, prime)
            best = pivots if (pivots >= 0).sum() > (best >= 0).sum() else best
            bits -= log2(prime)
    return best
