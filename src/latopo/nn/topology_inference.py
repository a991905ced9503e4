"""From features to a cell complex: the two inferences of the paper, and queries that join what they found."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from latopo._compile import changes_size, refuse_script, uncompiled
from latopo._modes import unwatched
from latopo._precision import full_precision
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import AlphaDGM, LatentGraph
from latopo.nn.duplicates import group_duplicates
from latopo.nn.given_edges import given_probabilities, join_edges
from latopo.nn.polygon_inference import LatentPolygons, PolygonInference
from latopo.nn.polygon_rule import PolygonRule
from latopo.nn.query_cycles import QueryCycles, WalkGraph, query_cycles
from latopo.nn.query_neighborhoods import QueryCells, QueryPolygons
from latopo.nn.relaxation import Relaxation
from latopo.nn.reset import reset

__all__ = ["FittedTopology", "LatentTopology", "TopologyInference"]

_SIDES = 64  # anchors of one query that polygons are looked for between


class LatentTopology(NamedTuple):
    """An inferred complex with what led to it.

    Attributes:
        complex: nodes, edges and polygons with their probabilities.
        graph: the α-DGM's answer, with the directed choices behind the edges.
        polygons: the polygon inference's answer, with its statistics; None without one.
    """

    complex: CellComplex
    graph: LatentGraph
    polygons: LatentPolygons | None


@dataclass(frozen=True)
class FittedTopology:
    """A complex that queries can join, and all that is needed for it.

    Attributes:
        complex: nodes (anchors), edges and polygons with probabilities.
        x_aux: the anchors' auxiliary features, float64 [N, d].
        rule: how polygons were chosen.
    """

    complex: CellComplex
    x_aux: Tensor
    rule: PolygonRule

    @cached_property
    def walks(self) -> WalkGraph:
        """The graph that queries close cycles with."""
        return WalkGraph.of(self.complex.edge_index, self.complex.num_nodes)

    @cached_property
    def representatives(self) -> Tensor:
        """The anchors that queries choose from: of equal ones the first, [U]."""
        return group_duplicates(self.x_aux)[0]


class TopologyInference(nn.Module):
    """An α-DGM and a polygon inference, one after the other.

    Args:
        graph: infers edges.
        polygons: chooses polygons among their induced cycles; None for a complex of nodes and edges.
        keep_given: whether given edges are in the complex as well, with probability 1 or their ``edge_weight``, and
            cycles are searched for among all edges. Otherwise they feed the encoder only.

    Shapes:
        - **x**: [N, in_channels], **edge_index**: [2, E'] in any form, or None, **ptr**: [G + 1], where each of several
          graphs starts and ends, or None, **edge_weight**: [E'] in [0, 1], or None, with ``keep_given`` only
        - **output**: :class:`LatentTopology`

    Example:
        >>> x = torch.randn(50, 16, generator=torch.Generator().manual_seed(0))
        >>> TopologyInference(AlphaDGM(16)).eval()(x).complex.num_polygons
        0
    """

    def __init__(self, graph: AlphaDGM, polygons: PolygonInference | None = None, *, keep_given: bool = False) -> None:
        super().__init__()
        self.graph, self.polygons, self.keep_given = graph, polygons, keep_given

    __prepare_scriptable__ = refuse_script

    def reset_parameters(self) -> None:
        """Initialise both anew."""
        reset(*self.children())

    @uncompiled
    @full_precision
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | None = None,
        ptr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> LatentTopology:
        """Infer the complex of x; of many graphs, one complex that knows them.

        Under ``torch.autocast`` it is inferred in full precision all the same.
        """
        graph = self.graph(x, edge_index, ptr)
        edges, edge_prob = self._edges(graph, edge_index, edge_weight)
        found = None if self.polygons is None else self.polygons(graph.x_aux, edges, ptr)
        polygons, prob = (None, None) if found is None else (found.polygons, found.prob)
        cells = unwatched(CellComplex.from_canonical)(x.size(0), edges, polygons, edge_prob, prob, ptr=ptr)
        return _expect_others(LatentTopology(cells, graph, found))

    def _edges(
        self, graph: LatentGraph, edge_index: Tensor | None, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The edges of the complex [2, E] and their probabilities [E]."""
        if not self.keep_given:
            if edge_weight is not None:
                raise LatopoError("TopologyInference: edge_weight goes with kept edges; set given_edges='keep'")
            return graph.edge_index, graph.edge_prob
        count = graph.x_aux.size(0)
        if edge_index is None:
            raise LatopoError("TopologyInference: there are no given edges to keep, edge_index is None")
        given = given_probabilities("TopologyInference", edge_index, edge_weight, count, graph.edge_prob)
        return join_edges(graph.edge_index, graph.edge_prob, *given, count)

    @torch.no_grad()
    def fit(self, topology: LatentTopology) -> FittedTopology:
        """What queries need of an inferred topology."""
        cells, x_aux = topology.complex, topology.graph.x_aux
        if cells.ptr is not None:
            raise LatopoError("TopologyInference.fit: queries join one graph, got a complex of many; infer one alone")
        rule = PolygonRule()
        if self.polygons is not None and topology.polygons is not None:
            rule = self.polygons.rule(x_aux, cells, topology.polygons)
        return FittedTopology(cells, x_aux, rule)

    @torch.no_grad()
    def join(self, x: Tensor, fitted: FittedTopology, relaxation: Relaxation) -> QueryCells:
        """The cells that queries x [Q, in_channels] bring.

        A query chooses anchors as the fitted points chose each other, and closes polygons with fitted edges by the
        fitted rule. An edge to an anchor has the probability of the query's choice, as if the anchor had chosen it
        likewise. No query depends on another.

        Raises:
            TooManyCellsError: they choose millions of anchors in all; half of them at a time may do.
        """
        x_aux, rows = self.graph.join(x, fitted.x_aux[fitted.representatives])
        weight = rows.prob if relaxation == "weighted" else torch.ones_like(rows.prob)
        cells = QueryCells(rows.ptr, fitted.representatives[rows.col], rows.prob, weight, [])
        if self.polygons is None or fitted.rule.largest == 0 or rows.col.numel() == 0:
            return cells
        usable = _strongest(cells.query, rows.prob)
        cycles = query_cycles(cells.query, cells.anchor, usable, fitted.walks, self.polygons.max_length)
        parts = [self._weigh(part, x_aux, cells, fitted, relaxation) for part in cycles.values()]
        return cells._replace(polygons=[part for part in parts if part.weight.numel()])

    def _weigh(
        self, cycles: QueryCycles, x_aux: Tensor, cells: QueryCells, fitted: FittedTopology, relaxation: Relaxation
    ) -> QueryPolygons:
        """Score cycles as the polygon inference does and keep those above the fitted threshold."""
        assert self.polygons is not None
        query, path = cycles
        count = fitted.complex.num_nodes
        ends = torch.searchsorted(cells.query * count + cells.anchor, query[:, None] * count + path[:, [0, -1]])
        sides = fitted.walks.edge_ids(path[:, :-1], path[:, 1:])
        around = torch.cat([x_aux[query, None], fitted.x_aux[path]], dim=1)
        strength = fitted.rule.strengths(self.polygons.vertex_scores(around), length=around.size(1))
        weight = fitted.rule.share * torch.ones_like(strength)
        if relaxation == "weighted" and fitted.complex.edge_prob is not None:
            weight = weight * strength
            weight = weight * torch.cat([cells.weight[ends], fitted.complex.edge_prob[sides]], dim=1).amin(1)
        keep = strength > 0
        return QueryPolygons(ends[keep], sides[keep], weight[keep])


def _expect_others(topology: LatentTopology) -> LatentTopology:
    """The same: torch.compile learns that the next complex will have another number of edges and polygons."""
    cells = topology.complex
    changes_size(cells.edge_index, 1)
    for by_cell in (cells.edge_prob, cells.polygon_prob, *cells.polygons.values()):
        changes_size(by_cell, 0)
    return topology


def _strongest(query: Tensor, prob: Tensor) -> Tensor:
    """The edges among the most probable ones of their query, ties by number; nearly always all of them."""
    counts = torch.bincount(query)
    if int(counts.max()) <= _SIDES:
        return torch.ones_like(query, dtype=torch.bool)
    by_prob = torch.argsort(prob, descending=True, stable=True)
    order = by_prob[torch.argsort(query[by_prob], stable=True)]
    rank = torch.empty_like(order)
    rank[order] = torch.arange(order.numel(), device=order.device) - (counts.cumsum(0) - counts)[query]
    return rank < _SIDES
