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
from latopo.errors import LatopoError, TooManyCellsError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

MAX_ISOLATED = 100_000_000  # nodes: 0.8 GB for one number each


def check_node_rows(name: str, cx: "CellComplex") -> None:
    """Raise before an array with a row per node is made for a complex that is hardly more than isolated nodes."""
    if cx.num_nodes > MAX_ISOLATED + 2 * cx.num_edges:
        raise TooManyCellsError(
            f"CellComplex.{name}: num_nodes={cx.num_nodes:,} for {cx.num_edges:,} edges; a row for every node, nearly "
            "all of them isolated, would take gigabytes; number the vertices that occur 0, 1, 2, …",
            cx.num_nodes,
            MAX_ISOLATED,
        )


def lower_product(cx: "CellComplex", x: Tensor, edge_weight: Tensor | None = None) -> Tensor:
    r""":math:`y_e = \sum_f w_f x_f` over the edges f ≠ e that share a node with e, for x of shape [E, ...].

    The edge's own part is subtracted from a sum, so the rounding error is relative to the largest term, own included.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> lower_product(path, torch.tensor([1.0, 10.0, 100.0]))
        tensor([ 10., 101.,  10.])
    """
    _check_rows("x", x, cx.num_edges)
    check_node_rows("lower_product", cx)
    result = _scale("edge_weight", x, edge_weight)
    weighted = widen(result)
    start, end = cx.edge_index
    at_node = weighted.new_zeros(cx.num_nodes, *x.shape[1:])
    at_node = at_node.index_add(0, start, weighted).index_add(0, end, weighted)
    return (at_node.index_select(0, start) + at_node.index_select(0, end) - 2 * weighted).to(result.dtype)


def upper_product(
    cx: "CellComplex", x: Tensor, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
) -> Tensor:
    r""":math:`y_e = \sum_{p \ni e} w_p \sum_{f \in p, f \neq e} w_f x_f` over the polygons p, for x of shape [E, ...].

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> upper_product(triangle, torch.tensor([1.0, 10.0, 100.0]), polygon_weight=torch.tensor([0.5]))
        tensor([55.0000, 50.5000,  5.5000])
    """
    _check_rows("x", x, cx.num_edges)
    weighted = _scale("edge_weight", x, edge_weight)
    shapes = [rows.shape for rows in cx.polygons.values()]
    edge = cx.polygon_edge_index()[0]
    edges = torch.split_with_sizes(edge, [shape.numel() for shape in shapes])
    others = [_sum_of_other_sides(weighted, *ends) for ends in zip(edges, shapes, strict=True)]
    if polygon_weight is not None:
        _check_rows("polygon_weight", polygon_weight, cx.num_polygons)
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


def node_degree(cx: "CellComplex") -> Tensor:
    """Number of edges at each node, [N] int64."""
    check_node_rows("node_degree", cx)
    return torch.bincount(cx.edge_index.flatten(), minlength=cx.num_nodes)


def lower_degree(cx: "CellComplex", edge_weight: Tensor | None = None) -> Tensor:
    """Lower neighbours of each edge, deg(u) + deg(v) − 2, [E] int64; with weights the sum of theirs."""
    return lower_product(cx, _ones(cx, edge_weight), edge_weight)


def upper_degree(cx: "CellComplex", edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None) -> Tensor:
    """Upper neighbours of each edge, Σ (sides − 1) over its polygons, [E] int64; with weights the sum of w_p·w_f."""
    weight = edge_weight if edge_weight is not None else polygon_weight
    return upper_product(cx, _ones(cx, weight), edge_weight, polygon_weight)


def _ones(cx: "CellComplex", weight: Tensor | None) -> Tensor:
    dtype = torch.int64 if weight is None else weight.dtype
    return torch.ones(cx.num_edges, dtype=dtype, device=cx.device)


def node_adjacency(cx: "CellComplex", edge_weight: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
    """Symmetric sparse COO matrix [N, N]: 1, or the edge's weight, where two nodes are joined; gradients flow to it.

    Example:
        >>> from latopo import CellComplex
        >>> CellComplex(3, [[0, 1], [1, 2]]).node_adjacency(torch.tensor([0.5, 2.0])).to_dense()
        tensor([[0.0000, 0.5000, 0.0000],
                [0.5000, 0.0000, 2.0000],
                [0.0000, 2.0000, 0.0000]])
    """
    if edge_weight is None:
        edge_weight = torch.ones(cx.num_edges, dtype=dtype or torch.get_default_dtype(), device=cx.device)
    _check_rows("edge_weight", edge_weight, cx.num_edges)
    index = torch.cat([cx.edge_index, cx.edge_index.flip(0)], dim=1)
    values = edge_weight.to(dtype or edge_weight.dtype).repeat(2)
    size = (cx.num_nodes, cx.num_nodes)
    return torch.sparse_coo_tensor(index, values, size, check_invariants=False).coalesce()


def lower_adjacency(cx: "CellComplex", max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
    """Sparse [E, E] matrix with 1 where two different edges share a node.

    Raises:
        TooManyCellsError: there would be more than ``max_entries`` entries.
    """
    degree = node_degree(cx)
    check_entries("lower_adjacency", int((degree * degree).sum()), max_entries)
    incidence = boundary(cx, 1, signed=False, dtype=dtype)
    return _without_diagonal(torch.sparse.mm(incidence.t().coalesce(), incidence))


def upper_adjacency(cx: "CellComplex", max_entries: int = MAX_ENTRIES, dtype: torch.dtype | None = None) -> Tensor:
    """Sparse [E, E] matrix with the number of polygons that two different edges share.

    Raises:
        TooManyCellsError: there would be more than ``max_entries`` entries.
    """
    check_entries("upper_adjacency", int(cx.polygon_lengths.square().sum()), max_entries)
    incidence = boundary(cx, 2, signed=False, dtype=dtype)
    return _without_diagonal(torch.sparse.mm(incidence, incidence.t().coalesce()))


def _without_diagonal(matrix: Tensor) -> Tensor:
    matrix = matrix.coalesce()
    row, column = matrix.indices()
    return keep_entries(matrix, row != column)
