r"""Neighbours among edges: lower (two edges share a node) and upper (two edges share a polygon).

Message passing needs only products with the two adjacencies, and those are two incidence products each: with
:math:`s_v = \sum_{f \ni v} w_f x_f` the lower product at the edge e = (u, v) is :math:`s_u + s_v - 2 w_e x_e`. That is
one pass over the incidences, whatever the degrees: a hub with d edges costs d, not d².

Upper neighbours count once per shared polygon, a stated deviation from the set in the paper's Definition 3: two edges
that share two polygons are neighbours twice.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from latopo._precision import widen
from latopo.complex.boundary import MAX_ENTRIES, boundary, check_entries, keep_entries
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


def lower_product(complex: "CellComplex", x: Tensor, edge_weight: Tensor | None = None) -> Tensor:
    r""":math:`y_e = \sum_f w_f x_f` over the edges f ≠ e that share a node with e, for x of shape [E, ...].

    The edge's own part is subtracted from a sum, so the rounding error is relative to the largest term, own included.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> lower_product(path, torch.tensor([1.0, 10.0, 100.0]))
        tensor([ 10., 101.,  10.])
    """
    _check_rows("x", x, complex.num_edges)
    result = _scale("edge_weight", x, edge_weight)
    weighted = widen(result)
    start, end = complex.edge_index
    at_node = weighted.new_zeros(complex.num_nodes, *x.shape[1:])
    at_node = at_node.index_add(0, start, weighted).index_add(0, end, weighted)
    return (at_node.index_select(0, start) + at_node.index_select(0, end) - 2 * weighted).to(result.dtype)


def upper_product(
    complex: "CellComplex", x: Tensor, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
) -> Tensor:
    r""":math:`y_e = \sum_{p \ni e} w_p \sum_{f \in p, f \neq e} w_f x_f` over the polygons p, for x of shape [E, ...].

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> upper_product(triangle, torch.tensor([1.0, 10.0, 100.0]), polygon_weight=torch.tensor([0.5]))
        tensor([55.0000, 50.5000,  5.5000])
    """
    _check_rows("x", x, complex.num_edges)
    weighted = _scale("edge_weight", x, edge_weight)
    shapes = [rows.shape for rows in complex.polygons.values()]
    edge = complex.polygon_edge_index()[0]
    edges = torch.split_with_sizes(edge, [shape.numel() for shape in shapes])
    others = [_sum_of_other_sides(weighted, *ends) for ends in zip(edges, shapes, strict=True)]
    if polygon_weight is not None:
        _check_rows("polygon_weight", polygon_weight, complex.num_polygons)
        weights = torch.split_with_sizes(polygon_weight, [shape[0] for shape in shapes])
        others = [_scale("polygon_weight", part, weight) for part, weight in zip(others, weights, strict=True)]
    result = torch.cat([weighted[:0], *(part.flatten(0, 1) for part in others)])
    messages = widen(result)
    return messages.new_zeros(x.shape).index_add(0, edge, messages).to(result.dtype)


def _sum_of_other_sides(x: Tensor, edge: Tensor, shape: torch.Size) -> Tensor:
    """For each side of polygons of one length, given by its edge, the sum of x over the other sides: [P_k, k, ...]."""
    on_side = x.index_select(0, edge).unflatten(0, shape)
    # The side itself is taken off polygon by polygon: after the sum over an edge's polygons it would cost more digits.
    return on_side.sum(dim=1, keepdim=True) - on_side


def _scale(name: str, x: Tensor, weight: Tensor | None) -> Tensor:
    """Multiply row i of x by weight i."""
    if weight is None:
        return x
    _check_rows(name, weight, x.size(0))
    return x * weight.view(-1, *[1] * (x.dim() - 1))


def _check_rows(name: str, tensor: Tensor, count: int) -> None:
    if tensor.dim() == 0 or tensor.size(0) != count:
        raise LatopoError(f"CellComplex: {name} has shape {list(tensor.shape)}, expected {count} rows, one per cell")


def node_degree(complex: "CellComplex") -> Tensor:
    """Number of edges at each node, [N] int64."""
    return torch.bincount(complex.edge_index.flatten(), minlength=complex.num_nodes)


def lower_degree(complex: "CellComplex", edge_weight: Tensor | None = None) -> Tensor:
    """Lower neighbours of each edge, deg(u) + deg(v) − 2, [E] int64; with weights the sum of theirs."""
    return lower_product(complex, _ones(complex, edge_weight), edge_weight)


def upper_degree(
    complex: "CellComplex", edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
) -> Tensor:
    """Upper neighbours of each edge, Σ_{p∋e} (|p| − 1), [E] int64; with weights the sum of w_p·w_f."""
    weight = edge_weight if edge_weight is not None else polygon_weight
    return upper_product(complex, _ones(complex, weight), edge_weight, polygon_weight)


def _ones(complex: "CellComplex", weight: Tensor | None) -> Tensor:
    dtype = torch.int64 if weight is None else weight.dtype
    return torch.ones(complex.num_edges, dtype=dtype, device=complex.device)


def lower_adjacency(complex: "CellComplex", max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
    """Sparse [E, E] matrix with 1 where two different edges share a node.

    Raises:
        TooManyCellsError: there would be more than ``max_entries`` entries.
    """
    degree = node_degree(complex)
    check_entries("lower_adjacency", int((degree * degree).sum()), max_entries)
    incidence = boundary(complex, 1, signed=False, dtype=dtype)
    return _without_diagonal(torch.sparse.mm(incidence.t().coalesce(), incidence))


def upper_adjacency(complex: "CellComplex", max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
    """Sparse [E, E] matrix with the number of polygons that two different edges share.

    Raises:
        TooManyCellsError: there would be more than ``max_entries`` entries.
    """
    check_entries("upper_adjacency", int(complex.polygon_lengths.square().sum()), max_entries)
    incidence = boundary(complex, 2, signed=False, dtype=dtype)
    return _without_diagonal(torch.sparse.mm(incidence, incidence.t().coalesce()))


def _without_diagonal(matrix: Tensor) -> Tensor:
    matrix = matrix.coalesce()
    row, column = matrix.indices()
    return keep_entries(matrix, row != column)
