"""Polygons that a query closes: chordless cycles through one new node and a fitted graph."""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo.complex.canonical import edge_keys, find_keys
from latopo.errors import TooManyStepsError
from latopo.neighbors.scan import row_pointers

__all__ = ["QueryCycles", "WalkGraph", "query_cycles"]

_MAX_ENTRIES = 2**24  # vertices of all paths that are walked together: 128 MB


class WalkGraph(NamedTuple):
    """An undirected graph, ready to be walked.

    Attributes:
        ptr: a walk may go on from node i to ``neighbor[ptr[i]:ptr[i + 1]]``, [N + 1].
        neighbor: both directions of every edge, without those into a dead end, a node of one edge: copies of a row
            are such nodes, and there may be thousands of one.
        keys: one increasing number per undirected edge, [E].
    """

    ptr: Tensor
    neighbor: Tensor
    keys: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int) -> "WalkGraph":
        """From edges [2, E], u < v, sorted."""
        directed = torch.cat([edge_index, edge_index.flip(0)], dim=1)
        degree = torch.bincount(directed[0], minlength=num_nodes)
        start, end = directed[:, degree[directed[1]] > 1]
        neighbor = end[torch.argsort(start * max(num_nodes, 1) + end)]
        ptr = row_pointers(torch.bincount(start, minlength=num_nodes))
        return cls(ptr, neighbor, edge_keys(edge_index, num_nodes))

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.ptr.numel() - 1

    def edge_ids(self, start: Tensor, end: Tensor) -> Tensor:
        """Number of the edge between each pair, −1 where there is none; any shape."""
        pairs = torch.stack([start.flatten(), end.flatten()])
        return find_keys(self.keys, edge_keys(pairs, self.num_nodes)).view(start.shape)


class QueryCycles(NamedTuple):
    """Cycles of one length through queries.

    Attributes:
        query: the query of each cycle, [C].
        path: the other vertices, from one neighbour of the query to another, first < last, [C, length − 1].
    """

    query: Tensor
    path: Tensor


def query_cycles(row: Tensor, col: Tensor, use: Tensor, graph: WalkGraph, max_length: int) -> dict[int, QueryCycles]:
    """All chordless cycles of length 3 to ``max_length`` through each query, each once; no cycle has two queries.

    Paths start at an anchor of the query and walk the fitted graph past the query's other anchors until one of them
    closes the cycle. All queries walk together, one step at a time.

    Args:
        row: query of each query–anchor edge, ascending, [D].
        col: its anchor, ascending within a query, [D].
        use: which of these edges may be sides of a cycle, [D] bool; the others count as chords only.
        graph: the fitted graph.
        max_length: longest cycle; below 3 there are none.

    Example:
        >>> path = WalkGraph.of(torch.tensor([[0, 1], [1, 2]]), 3)
        >>> row, col = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 2])
        >>> found = query_cycles(row, col, torch.ones(4, dtype=torch.bool), path, max_length=4)
        >>> found[3].query, found[3].path, found[4].query, found[4].path
        (tensor([0]), tensor([[0, 1]]), tensor([1]), tensor([[0, 1, 2]]))
    """
    try:
        return _walk(row, col, use, graph, max_length)
    except TooManyStepsError:
        if row[0] == row[-1]:
            raise
    half = torch.searchsorted(row, (row[0] + row[-1]) // 2, right=True)
    parts = [
        query_cycles(row[part], col[part], use[part], graph, max_length) for part in (slice(half), slice(half, None))
    ]
    return {
        length: QueryCycles(*(torch.cat(pair) for pair in zip(*(part[length] for part in parts), strict=True)))
        for length in parts[0]
    }


def _walk(row: Tensor, col: Tensor, use: Tensor, graph: WalkGraph, max_length: int) -> dict[int, QueryCycles]:
    found: dict[int, QueryCycles] = {}
    chosen = row * graph.num_nodes + col
    query, path = row[use], col[use, None]
    closers, ptr = col[use], row_pointers(torch.bincount(row[use], minlength=int(row[-1]) + 1 if row.numel() else 0))
    longest = min(max_length, max(graph.num_nodes + 1, 1000))  # no cycle is longer; short ones are listed even if none
    for length in range(3, longest + 1):
        at, last = _each_of(ptr, closers, query, length)
        closes = (path[at, 0] < last) & (graph.edge_ids(path[at, -1], last) >= 0)
        at, last = at[closes], last[closes]
        fits = _chordless(path[at], last, graph)
        found[length] = QueryCycles(query[at[fits]], torch.cat([path[at[fits]], last[fits, None]], dim=1))
        if length < longest:
            at, step = _each_of(graph.ptr, graph.neighbor, path[:, -1], length)
            outside = find_keys(chosen, query[at] * graph.num_nodes + step) < 0
            at, step = at[outside], step[outside]
            fits = _chordless(path[at], step, graph) & (path[at] != step[:, None]).all(1)
            query, path = query[at[fits]], torch.cat([path[at[fits]], step[fits, None]], dim=1)
    return found


def _each_of(ptr: Tensor, values: Tensor, rows: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """For each entry of ``rows`` all values of that row: the positions in ``rows``, repeated, and the values."""
    counts = ptr[rows + 1] - ptr[rows]
    if (total := int(counts.sum())) * length > _MAX_ENTRIES:
        raise TooManyStepsError(
            f"predict: {total:,} paths of {length} vertices lead from a query into the fitted graph, more than memory "
            "should hold; fit with a lower max_length or a lower degree, or merge duplicate rows"
        )
    position = torch.repeat_interleave(counts)
    offset = torch.arange(position.numel(), device=ptr.device) - (counts.cumsum(0) - counts)[position]
    return position, values[ptr[rows][position] + offset]


def _chordless(path: Tensor, vertex: Tensor, graph: WalkGraph) -> Tensor:
    """Whether a vertex has no edge to any but the last of the path before it."""
    before = path[:, :-1]
    return (graph.edge_ids(before, vertex[:, None].expand_as(before)) < 0).all(1)
