"""Queries that join a fitted complex: they hear its cells, and each other's not at all.

The fitted pass is *recorded*: what every cell sent in each sum is kept, in the order of the layers' calls. A query then
goes through the same layers, and each sum reads what the fitted cells sent at that point. So nothing of a layer is
written twice, whatever the number of rounds, and no fitted state changes.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.neighborhoods import ComplexNeighborhoods
from latopo.nn.relaxation import Relaxation, cell_weights

__all__ = ["QueryCells", "QueryNeighborhoods", "QueryPolygons", "RecordedNeighborhoods"]


class QueryPolygons(NamedTuple):
    """Polygons of one length that queries close.

    Attributes:
        ends: numbers of the two edges at the query, [P, 2].
        sides: numbers of the fitted edges, [P, length − 2].
        weight: [P].
    """

    ends: Tensor
    sides: Tensor
    weight: Tensor


class QueryCells(NamedTuple):
    """The cells that a block of queries brings.

    Attributes:
        ptr: the edges of query i are ``ptr[i]`` to ``ptr[i + 1]``, [Q + 1].
        anchor: the fitted node at the other end of each edge, ascending for each query, [D].
        prob: probability with which the query chose it, [D].
        weight: weight of the edge in message passing, [D].
        polygons: by length.
    """

    ptr: Tensor
    anchor: Tensor
    prob: Tensor
    weight: Tensor
    polygons: list[QueryPolygons]

    @property
    def query(self) -> Tensor:
        """The query at the near end of each edge, ascending, [D]."""
        return torch.repeat_interleave(self.ptr.diff())

    def without_each(self) -> "QueryCells":
        """For each edge a query of its own: the query at it, without this edge and the polygons at it.

        The other edges keep their weights. The result has D queries.
        """
        degree = self.ptr.diff()[self.query]  # of the query at an edge
        start = self.ptr[self.query]
        ptr = torch.cat([self.ptr[:1], (degree - 1).cumsum(0)])
        copy, edge = _edges_of(start, degree)
        left = copy != edge
        copy, edge = copy[left], edge[left]
        polygons = []
        for ends, sides, weight in self.polygons:
            polygon, without = _edges_of(start[ends[:, 0]], degree[ends[:, 0]])
            left = (ends[polygon] != without[:, None]).all(dim=1)
            polygon, without = polygon[left], without[left, None]
            number = ptr[without] + ends[polygon] - start[without] - (ends[polygon] > without).long()
            polygons.append(QueryPolygons(number, sides[polygon], weight[polygon]))
        return QueryCells(ptr, self.anchor[edge], self.prob[edge], self.weight[edge], polygons)


def _edges_of(start: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """For each i the numbers start[i], start[i] + 1, …, count[i] of them: i and the number, [sum of counts] each."""
    owner = torch.repeat_interleave(count)
    first = count.cumsum(0) - count
    return owner, start[owner] + torch.arange(owner.numel(), device=owner.device) - first[owner]


class RecordedNeighborhoods(ComplexNeighborhoods):
    """The sums on a complex, with what the cells sent in them; use under ``torch.no_grad()``.

    Attributes:
        sent: by the kind of the sum, what was sent in its first call, its second, and so on.
        degree: sum of the edge weights at each node, [N].
    """

    def __init__(self, cx: CellComplex, relaxation: Relaxation) -> None:
        super().__init__(cx, *cell_weights(cx, relaxation))
        self.sent: dict[str, list[Tensor]] = {"nodes": [], "ends": [], "upper": [], "lower": [], "sides": []}
        nothing = torch.zeros(cx.num_edges, 0, dtype=torch.float64, device=cx.edge_index.device)
        self.degree = self.around(nothing)[1][:, 0] - 1

    def nodes(self, x: Tensor) -> Tensor:
        """Kept: what a node sends, already divided by the root of its degree."""
        self.sent["nodes"].append((1 + self.degree).rsqrt()[:, None].to(x.dtype) * x)
        return super().nodes(x)

    def ends(self, x: Tensor) -> Tensor:
        """Kept: x."""
        self.sent["ends"].append(x)
        return super().ends(x)

    def edges(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Kept: what an edge sends to upper neighbours, [E, F], and what all edges at a node send to another one."""
        upper_scale, lower_scale = self._edge_scales(x)
        self.sent["upper"].append(upper_scale * x)
        self.sent["lower"].append(self.around(lower_scale * x)[0])
        return super().edges(x)

    def sides(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Kept: x."""
        self.sent["sides"].append(x)
        return super().sides(x)


class QueryNeighborhoods:
    """The sums at the cells that queries bring: new nodes, their edges to anchors, and the polygons those close.

    Args:
        fitted: the recorded pass of the same layers.
        cells: the new cells.
    """

    def __init__(self, fitted: RecordedNeighborhoods, cells: QueryCells) -> None:
        self._sent, self._cells = {kind: iter(sent) for kind, sent in fitted.sent.items()}, cells
        self._anchor_degree = fitted.degree.to(cells.weight.dtype)
        self._query, self._count = cells.query, cells.ptr.numel() - 1
        self._degree = self._at_query(cells.weight)

    def _received(self, kind: str) -> Tensor:
        sent = next(self._sent[kind], None)
        if sent is None:
            raise LatopoError(
                "QueryNeighborhoods: more sums than the fitted pass had; use the layers that were recorded, once"
            )
        return sent

    def _at_query(self, values: Tensor) -> Tensor:
        return values.new_zeros(self._count, *values.shape[1:]).index_add(0, self._query, values)

    def nodes(self, x: Tensor) -> Tensor:
        """Equation 14 at the queries."""
        scale = (1 + self._degree).rsqrt()[:, None]
        heard = self._at_query(self._cells.weight[:, None] * self._received("nodes")[self._cells.anchor])
        return scale * (scale * x + heard)

    def ends(self, x: Tensor) -> Tensor:
        """Equation 5 at their edges."""
        return x[self._query] + self._received("ends")[self._cells.anchor]

    def edges(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Equation 15 at their edges."""
        return self._upper(x, self._received("upper")), self._lower(x, self._received("lower"))

    def _lower(self, x: Tensor, at_anchor: Tensor) -> Tensor:
        """From the edges that share the query or the anchor."""
        anchor, weight = self._cells.anchor, self._cells.weight
        scale = (1 + self._degree[self._query] - weight + self._anchor_degree[anchor]).rsqrt()[:, None]
        own = weight[:, None] * scale * x
        siblings = self._at_query(own)[self._query] - own
        return scale * (siblings + at_anchor[anchor])

    def _upper(self, x: Tensor, sent: Tensor) -> Tensor:
        """From the other sides of the polygons."""
        degree, total = x.new_zeros(x.size(0)), torch.zeros_like(x)
        for ends, sides, weight in self._cells.polygons:
            others = sides.size(1) + 1  # all but the edge itself
            degree = degree.index_add(0, ends.flatten(), (others * weight).repeat_interleave(2))
        scale = (1 + degree).rsqrt()[:, None]
        scaled = scale * x
        for ends, sides, weight in self._cells.polygons:
            heard = weight[:, None, None] * (sent[sides].sum(1, keepdim=True) + scaled[ends].flip(1))
            total = total.index_add(0, ends.flatten(), heard.flatten(0, 1))
        return scale * total

    def around(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Equation 9 at the queries, before the division."""
        return self._at_query(self._cells.weight[:, None] * x), 1 + self._degree[:, None]

    def sides(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The polygons that queries close, from their sides, new and fitted."""
        sent = self._received("sides")
        means, lengths = [x[:0]], [self._query[:0]]
        for ends, sides, _ in self._cells.polygons:
            length = sides.size(1) + 2
            means.append((x[ends].sum(1) + sent[sides].sum(1)) / length)
            lengths.append(torch.full_like(ends[:, 0], length))
        return torch.cat(means), torch.cat(lengths)

    def above(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Their edges from those polygons, before the division."""
        count = self._query.numel()
        total, degree = x.new_zeros(count, x.size(1)), x.new_ones(count)
        polygons = x.split([part.weight.numel() for part in self._cells.polygons])
        for (ends, _, weight), part in zip(self._cells.polygons, polygons, strict=True):
            heard = (weight[:, None] * part).repeat_interleave(2, dim=0)
            total = total.index_add(0, ends.flatten(), heard)
            degree = degree.index_add(0, ends.flatten(), weight.repeat_interleave(2))
        return total, degree[:, None]
