"""A complex of many graphs: which cell belongs to which graph, and each graph on its own.

The nodes of a graph are consecutive, and cells stand in the order of their smallest node, so each graph's edges, and
its polygons of one length, are consecutive as well.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from latopo._arguments import check_dense
from latopo._compile import uncompiled
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["edge_graph", "graph_numbers", "node_pointers", "polygon_graph", "select_graph", "split"]


@uncompiled
def node_pointers(caller: str, batch: Tensor, num_nodes: int) -> Tensor:
    """The nodes of graph g are ``ptr[g]`` to ``ptr[g + 1]``: from PyG's batch vector [N], int64 [G + 1].

    A number that ``batch`` leaves out is a graph without nodes.

    Example:
        >>> node_pointers("DCM", torch.tensor([0, 0, 2]), 3)
        tensor([0, 2, 2, 3])
    """
    check_dense(caller, "batch", batch)
    if batch.shape != (num_nodes,) or batch.dtype != torch.int64:
        raise LatopoError(
            f"{caller}: batch must hold one graph number per node, int64 of shape [{num_nodes}], "
            f"got {batch.dtype} of shape {list(batch.shape)}"
        )
    if num_nodes == 0:
        return batch.new_zeros(1)
    if bool((batch.diff() < 0).any()):
        raise LatopoError(f"{caller}: batch must ascend, as PyG's loaders make it; sort the nodes by graph")
    if int(batch[0]) < 0:
        raise LatopoError(f"{caller}: batch holds the graph number {int(batch[0])}, expected numbers from 0 on")
    return torch.searchsorted(batch, torch.arange(int(batch[-1]) + 2, device=batch.device))


def graph_numbers(ptr: Tensor, num_nodes: int) -> Tensor:
    """The graph of each node, [N] int64: PyG's batch vector, from the pointers."""
    return torch.repeat_interleave(ptr.diff(), output_size=num_nodes)


def edge_graph(cx: "CellComplex") -> Tensor:
    """The graph of each edge, [E] int64; zeros if the complex is one graph."""
    start = cx.edge_index[0]
    return torch.zeros_like(start) if cx.batch is None else cx.batch.index_select(0, start)


def polygon_graph(cx: "CellComplex") -> Tensor:
    """The graph of each polygon, [P] int64, by length, then row; zeros if the complex is one graph."""
    first = torch.cat([cx.edge_index.new_zeros(0), *(rows[:, 0] for rows in cx.polygons.values())])
    return torch.zeros_like(first) if cx.batch is None else cx.batch.index_select(0, first)


def select_graph(cx: "CellComplex", number: int) -> "CellComplex":
    """The complex of one graph, its nodes numbered from 0; negative numbers count from the end.

    Raises:
        IndexError: there is no such graph.
    """
    count = cx.num_graphs
    if not -count <= number < count:
        raise IndexError(f"CellComplex: graph {number} of a complex of {count} graphs")
    return _part(cx, _bounds(cx), number % count)


def split(cx: "CellComplex") -> list["CellComplex"]:
    """The complex of each graph.

    Example:
        >>> from latopo import CellComplex
        >>> pair, path = CellComplex(2, [[0], [1]]), CellComplex(3, [[0, 1], [1, 2]])
        >>> CellComplex.disjoint_union([pair, path]).split() == [pair, path]
        True
    """
    bounds = _bounds(cx)
    return [_part(cx, bounds, number) for number in range(cx.num_graphs)]


class _Bounds(NamedTuple):
    """Where each graph's cells start and end: G + 1 numbers for nodes, edges, and the polygons of each length."""

    nodes: list[int]
    edges: list[int]
    polygons: dict[int, list[int]]


def _bounds(cx: "CellComplex") -> _Bounds:
    ptr = cx.edge_index.new_tensor([0, cx.num_nodes]) if cx.ptr is None else cx.ptr
    edges = torch.searchsorted(cx.edge_index[0].contiguous(), ptr).tolist()
    polygons = {k: torch.searchsorted(rows[:, 0].contiguous(), ptr).tolist() for k, rows in cx.polygons.items()}
    return _Bounds(ptr.tolist(), edges, polygons)


def _part(cx: "CellComplex", bounds: _Bounds, number: int) -> "CellComplex":
    first, last = bounds.nodes[number : number + 2]
    edges = slice(*bounds.edges[number : number + 2])
    polygons = {
        length: rows[slice(*bounds.polygons[length][number : number + 2])] - first
        for length, rows in cx.polygons.items()
    }
    edge_prob = None if cx.edge_prob is None else cx.edge_prob[edges]
    polygon_prob = cx.polygon_prob
    if polygon_prob is not None:
        polygon_prob = torch.cat([polygon_prob[:0], *(polygon_prob[own] for own in _slices(cx, bounds, number))])
    return cx.from_canonical(
        last - first, cx.edge_index[:, edges] - first, polygons, edge_prob, polygon_prob, induced=cx.induced
    )


def polygon_numbers(cx: "CellComplex") -> list[Tensor]:
    """For each graph the numbers of its polygons in the whole complex, in the order of its own."""
    bounds, every = _bounds(cx), torch.arange(cx.num_polygons, device=cx.device)
    return [
        torch.cat([every[:0], *(every[part] for part in _slices(cx, bounds, number))])
        for number in range(cx.num_graphs)
    ]


def _slices(cx: "CellComplex", bounds: _Bounds, number: int) -> Iterator[slice]:
    """Where the polygons of a graph stand among all polygons, length by length."""
    before = 0
    for length, rows in cx.polygons.items():
        start, stop = bounds.polygons[length][number : number + 2]
        yield slice(before + start, before + stop)
        before += rows.size(0)
