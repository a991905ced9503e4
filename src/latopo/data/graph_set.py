"""Many graphs as one: all nodes, edges and rings in one tensor each, so that a batch is index arithmetic."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from latopo.complex.canonical import edge_keys, find_keys, sides
from latopo.cycles import induced_cycles
from latopo.data.graph_input import GraphInput

__all__ = ["MAX_RING", "GraphBatch", "GraphSet", "find_rings"]

MAX_RING = 6


class GraphBatch(NamedTuple):
    """Some graphs of a :class:`GraphSet`, numbered from 0: a disjoint union.

    Attributes:
        x: node features [N, d].
        position: coordinates of the nodes [N, 3], or None.
        node_graph: the graph of each node, ascending, [N].
        edge_index: each undirected edge once, u < v, graph by graph, [2, E].
        edge_attr: edge features [E, d'], d' may be 0.
        ring_length: number of sides of each ring, graph by graph, [R].
        side_edge: the edges of the rings, ring by ring, each ring in cyclic order, [S].
        side_ring: the ring of each side, ascending, [S].
        ring_graph: the graph of each ring, ascending, [R].
        num_graphs: how many there are.
    """

    x: Tensor
    position: Tensor | None
    node_graph: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    ring_length: Tensor
    side_edge: Tensor
    side_ring: Tensor
    ring_graph: Tensor
    num_graphs: int


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A data set of graphs, each with one target.

    The rings are all induced cycles of up to six edges, found once for the whole set.

    Attributes:
        x: node features, float32 [N, d]; the nodes of graph i are the rows from ``node_ptr[i]`` to ``node_ptr[i + 1]``.
        y: classes, int64 [G], or values, float32 [G].
        node_ptr: [G + 1].
        edge_index: each undirected edge once, u < v, sorted, [2, E].
        edge_attr: edge features, float32 [E, d'], d' may be 0.
        edge_ptr: [G + 1], as ``node_ptr``.
        ring_length: number of sides of each ring, graph by graph, [R].
        ring_ptr: [G + 1].
        side_edge: the edges of the rings, ring by ring, [S].
        num_classes: 0 for regression.
        position: coordinates [N, 3], or None.
        name: of the data set.
        first_label: the column of x where the one-hot labels begin, if it has any.
        form: how the graphs came, and what was done to their features; None if that is not known.

    Example:
        >>> from torch_geometric.data import Data
        >>> from latopo.data import from_graphs
        >>> square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> graphs = from_graphs([Data(x=torch.ones(4, 2), edge_index=square, y=i % 2) for i in range(10)])[0]
        >>> graphs.batch(torch.tensor([1, 4])).side_edge
        tensor([0, 2, 3, 1, 4, 6, 7, 5])
    """

    x: Tensor
    y: Tensor
    node_ptr: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    edge_ptr: Tensor
    ring_length: Tensor
    ring_ptr: Tensor
    side_edge: Tensor
    num_classes: int
    position: Tensor | None = None
    name: str = "graphs"
    first_label: int = 0
    form: GraphInput | None = None

    @classmethod
    def lifted(
        cls,
        x: Tensor,
        y: Tensor,
        node_ptr: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        num_classes: int,
        max_length: int = MAX_RING,
        **more: Any,
    ) -> Self:
        """The set with the rings of its graphs; arguments as the attributes, edges sorted as there."""
        node_graph = torch.repeat_interleave(node_ptr.diff())
        edge_ptr = _pointers(node_graph[edge_index[0]], y.numel())
        ring_length, ring_graph, side_edge = find_rings(edge_index, node_graph, max_length)
        ring_ptr = _pointers(ring_graph, y.numel())
        return cls(
            x, y, node_ptr, edge_index, edge_attr, edge_ptr, ring_length, ring_ptr, side_edge, num_classes, **more
        )

    def __len__(self) -> int:
        """How many graphs there are."""
        return self.y.numel()

    @property
    def num_features(self) -> int:
        """Width of x."""
        return self.x.size(1)

    def labels(self, index: Tensor) -> Tensor:
        """The label of each node of these graphs, for drawings: the largest of its features from the first label on."""
        return self.batch(index).x[:, self.first_label :].argmax(dim=1)

    def batch(self, index: Tensor) -> GraphBatch:
        """The graphs of these numbers [B], in this order."""
        counts, nodes = self._members(self.node_ptr, index)
        shift = (counts.cumsum(0) - counts) - self.node_ptr[index]
        edge_counts, edges = self._members(self.edge_ptr, index)
        edge_shift = (edge_counts.cumsum(0) - edge_counts) - self.edge_ptr[index]
        ring_counts, rings = self._members(self.ring_ptr, index)
        lengths = self.ring_length[rings]
        at_sides = _ranges(self._first_side[rings], lengths)
        ring_graph = torch.repeat_interleave(ring_counts)
        side_ring = torch.repeat_interleave(lengths)
        side_shift = edge_shift[ring_graph[side_ring]]
        return GraphBatch(
            x=self.x.index_select(0, nodes),
            position=None if self.position is None else self.position.index_select(0, nodes),
            node_graph=torch.repeat_interleave(counts),
            edge_index=self.edge_index.index_select(1, edges) + shift.repeat_interleave(edge_counts),
            edge_attr=self.edge_attr.index_select(0, edges),
            ring_length=lengths,
            side_edge=self.side_edge.index_select(0, at_sides) + side_shift,
            side_ring=side_ring,
            ring_graph=ring_graph,
            num_graphs=index.numel(),
        )

    def to(self, device: torch.device | str) -> "GraphSet":
        """The same on another device."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        moved: Any = {name: value.to(device) for name, value in values.items() if isinstance(value, Tensor)}
        return replace(self, **moved)

    @cached_property
    def _first_side(self) -> Tensor:
        return self.ring_length.cumsum(0) - self.ring_length

    @staticmethod
    def _members(ptr: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """How many members each of these graphs has, and the numbers of all of them."""
        first = ptr[index]
        counts = ptr[index + 1] - first
        return counts, _ranges(first, counts)


def find_rings(edge_index: Tensor, node_graph: Tensor, max_length: int = MAX_RING) -> tuple[Tensor, Tensor, Tensor]:
    """All induced cycles of many graphs, graph by graph.

    Args:
        edge_index: each undirected edge once, u < v, sorted, [2, E].
        node_graph: the graph of each node, ascending, [N].
        max_length: the most sides.

    Returns:
        The number of sides of each ring [R], its graph [R], and the edges of all rings, ring by ring [S].

    Example:
        >>> edges = torch.tensor([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]])
        >>> find_rings(edges, torch.tensor([0, 0, 0, 1, 1, 1]))
        (tensor([3, 3]), tensor([0, 1]), tensor([0, 2, 1, 3, 5, 4]))
    """
    count = node_graph.numel()
    rings = induced_cycles(edge_index, count, max_length)
    keys = edge_keys(edge_index, count)
    lengths = torch.cat([torch.full_like(rows[:, 0], length) for length, rows in rings.items()])
    graphs = torch.cat([node_graph[rows[:, 0]] for rows in rings.values()])
    numbers = torch.cat([find_keys(keys, edge_keys(sides(rows), count)) for rows in rings.values()])
    order = torch.argsort(graphs, stable=True)
    first = (lengths.cumsum(0) - lengths)[order]
    return lengths[order], graphs[order], numbers[_ranges(first, lengths[order])]


def _ranges(first: Tensor, counts: Tensor) -> Tensor:
    """``first[0], first[0] + 1, …`` (``counts[0]`` of them), then those of the next."""
    shift = first - (counts.cumsum(0) - counts)
    steps = shift.repeat_interleave(counts)
    return steps + torch.arange(steps.numel(), device=steps.device)


def _pointers(group: Tensor, count: int) -> Tensor:
    """Where each of ``count`` groups begins in an ascending list of group numbers, [count + 1]."""
    return torch.searchsorted(group, torch.arange(count + 1, device=group.device))
