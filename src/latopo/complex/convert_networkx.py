"""To networkx and back."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from latopo.complex.adjacency import check_node_rows
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["as_edges", "from_networkx", "number_nodes", "polygon_tuples", "read_probabilities", "to_networkx"]


def to_networkx(cx: "CellComplex") -> Any:
    """A ``networkx.Graph`` with edge attribute ``prob`` and graph attributes ``polygons`` and ``polygon_prob``.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]])
        >>> triangle.to_networkx().graph["polygons"], CellComplex.from_networkx(triangle.to_networkx()) == triangle
        ([(0, 1, 2)], True)
    """
    try:
        from networkx import Graph
    except ImportError as error:
        raise LatopoError('CellComplex.to_networkx: networkx is missing; run pip install "latopo[interop]"') from error
    check_node_rows("to_networkx", cx)
    graph = Graph(polygons=polygon_tuples(cx))
    graph.add_nodes_from(range(cx.num_nodes))
    pairs = cx.edge_index.t().tolist()
    if cx.edge_prob is None:
        graph.add_edges_from(pairs)
    else:
        graph.add_edges_from((u, v, {"prob": p}) for (u, v), p in zip(pairs, cx.edge_prob.tolist(), strict=True))
    if cx.polygon_prob is not None:
        graph.graph["polygon_prob"] = cx.polygon_prob.tolist()
    return graph


def polygon_tuples(cx: "CellComplex") -> list[tuple[int, ...]]:
    """Every polygon as a tuple of vertices, in canonical order."""
    return [tuple(row) for rows in cx.polygons.values() for row in rows.tolist()]


def from_networkx(
    cls: type["CellComplex"],
    graph: Any,
    polygons: Iterable[Sequence[Hashable]] | None = None,
    *,
    prob: str | None = "prob",
    nodes: Sequence[Hashable] | None = None,
    induced: bool = True,
) -> "CellComplex":
    """The complex of a networkx graph whose nodes may be called anything.

    Args:
        graph: a graph, directed or not, without self-loops and parallel edges.
        polygons: cycles, by the names of their nodes; by default those that :meth:`to_networkx` stored.
        prob: the edge attribute with the probabilities; where no edge has it there are none. None: ignore them.
        nodes: all names in the order in which they are numbered; by default ``list(graph)``, but nodes that are
            called 0 … N−1 keep their numbers.
        induced: refuse polygons with a chord.

    Example:
        >>> from latopo import CellComplex
        >>> import networkx as nx
        >>> square = nx.cycle_graph(["a", "b", "c", "d"])
        >>> CellComplex.from_networkx(square, [("a", "b", "c", "d")])
        CellComplex(num_nodes=4, num_edges=4, polygons={4: 1})
    """
    number = number_nodes("from_networkx", graph.nodes, _default_order(graph) if nodes is None else nodes)
    pairs = [(number[u], number[v]) for u, v in graph.edges()]
    polygon_prob = None
    if polygons is None:
        polygons, polygon_prob = graph.graph.get("polygons", ()), graph.graph.get("polygon_prob")
        polygon_prob = None if polygon_prob is None else np.asarray(polygon_prob, dtype=np.float64)
    try:
        rows = [[number[node] for node in cycle] for cycle in polygons]
    except KeyError as error:
        raise LatopoError(
            f"CellComplex.from_networkx: a polygon has the vertex {error}, which is not a node"
        ) from error
    edge_prob = read_probabilities("from_networkx", [((u, v), data) for u, v, data in graph.edges(data=True)], prob)
    return cls(len(number), as_edges(pairs), rows, edge_prob, None if prob is None else polygon_prob, induced=induced)


def as_edges(pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Pairs of nodes as ``edge_index`` [2, E].

    Example:
        >>> as_edges([]).shape
        torch.Size([2, 0])
    """
    return torch.tensor(pairs, dtype=torch.int64).view(-1, 2).t()


def _default_order(graph: Any) -> list[Hashable]:
    """The graph's own order; but nodes that are already called 0 … N−1 keep their numbers."""
    count = graph.number_of_nodes()
    return list(range(count)) if all(number in graph for number in range(count)) else list(graph)


def number_nodes(caller: str, given: Iterable[Hashable], order: Sequence[Hashable]) -> dict[Hashable, int]:
    """{name: number} for nodes in this order, which has to name each of them once.

    Example:
        >>> number_nodes("from_networkx", {"a", "b"}, ["b", "a"])
        {'b': 0, 'a': 1}
    """
    number = {node: position for position, node in enumerate(order)}
    known = set(given)
    if len(number) != len(order) or number.keys() != known:
        unlike = sorted(map(repr, number.keys() ^ known))[:3]
        what = f"differs in {', '.join(unlike)}" if unlike else "names one of them twice"
        raise LatopoError(f"CellComplex.{caller}: nodes must list every node once, but {what}")
    return number


def read_probabilities(
    caller: str, given: Sequence[tuple[Hashable, Mapping[str, Any]]], name: str | None
) -> Tensor | None:
    """The attribute ``name`` of cells, each given with its attributes; None if none of them has it."""
    if name is None:
        return None
    without = [cell for cell, data in given if name not in data]
    if len(without) == len(given):
        return None
    if without:
        raise LatopoError(
            f"CellComplex.{caller}: {len(given) - len(without)} cells have the attribute {name!r}, but {without[0]} "
            "does not; give it to all of them, or set prob=None"
        )
    try:
        return torch.tensor([float(data[name]) for _, data in given], dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise LatopoError(f"CellComplex.{caller}: the attribute {name!r} must be a number: {error}") from error
