"""Queries: new rows that join a fitted complex, each on its own."""

from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from latopo.estimators.fitted import AnchorStates, PolygonRule
from latopo.estimators.query_cycles import QueryCycles, query_cycles
from latopo.models import DCMNet
from latopo.neighbors import entmax_neighbors
from latopo.nn import CellConv, GraphConv
from latopo.nn.polygon_inference import PolygonInference

__all__ = ["QueryAnswer", "answer_queries", "block_size"]

_ENTRIES = 2**22  # query–anchor pairs that may become edges at a time, in the worst case
_SIDES = 64  # anchors of one query that polygons are looked for between


class QueryAnswer(NamedTuple):
    """What a block of queries gets.

    Attributes:
        features: what the head sees, [Q, width].
        prediction: class scores or values, [Q, out].
        ptr: the anchors of query i are ``anchor[ptr[i]:ptr[i + 1]]``, [Q + 1].
        anchor: numbers of training rows, ascending for each query, [D].
        prob: probability with which the query chose the anchor, [D].
    """

    features: Tensor
    prediction: Tensor
    ptr: Tensor
    anchor: Tensor
    prob: Tensor


def block_size(states: AnchorStates) -> int:
    """How many queries may be answered at a time, so that memory stays bounded even if all anchors are chosen."""
    return max(_ENTRIES // max(states.representatives.numel(), states.graph.neighbor.numel(), 1), 1)


@torch.no_grad()
def answer_queries(model: DCMNet, states: AnchorStates, rule: PolygonRule, x: Tensor) -> QueryAnswer:
    """Answer queries, at most :func:`block_size`; float64 throughout, so that no answer depends on the other rows.

    A query chooses anchors by the α-entmax of the fit, closes polygons with fitted edges (chosen by the fitted rule)
    and hears the fitted complex, which does not hear it: no fitted state changes. An edge to an anchor has the
    probability of the query's choice, as if the anchor had chosen it likewise.

    Shapes:
        - **x**: [Q, in_channels], float64, dense or sparse CSR
    """
    hidden = model.first(x).relu()
    x_aux = model.dcm.graph.encoder(hidden, None)
    ptr, anchor, prob = _choose(model, states, x_aux)
    edges = _Edges(torch.repeat_interleave(ptr.diff()), anchor, prob)
    x_node, down = _propagate(model, states, rule, hidden, x_aux, edges)
    parts = [x_node, down]
    if model.skip:
        parts.append(hidden)
    if model.given_conv is not None:
        parts.append(model.given_conv(hidden, None).relu())
    features = torch.cat(parts, dim=1)
    return QueryAnswer(features, model.head(features), ptr, anchor, prob)


class _Edges(NamedTuple):
    """Edges between queries and anchors: the query [D], ascending, its anchor [D] and the weight [D]."""

    query: Tensor
    anchor: Tensor
    weight: Tensor


def _choose(model: DCMNet, states: AnchorStates, x_aux: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    graph = model.dcm.graph
    anchors = states.x_aux[states.representatives]
    # A limit would depend on the other rows of the block; the block's size bounds the memory already.
    limit = x_aux.size(0) * anchors.size(0)
    ptr, col, prob = entmax_neighbors(
        x_aux, graph.gain(), graph.alpha_value(), graph.similarity, anchors, max_edges=limit
    )
    return ptr, states.representatives[col], prob


def _propagate(
    model: DCMNet, states: AnchorStates, rule: PolygonRule, hidden: Tensor, x_aux: Tensor, edges: _Edges
) -> tuple[Tensor, Tensor]:
    """Node features and downlifted edge features of the queries: equations 14, 5, 15 and 9 at the new cells alone."""
    layer = model.dcm
    node_conv, edge_conv = layer.node_convs[0], layer.edge_convs[0]
    assert isinstance(node_conv, GraphConv)
    assert isinstance(edge_conv, CellConv)
    query, anchor, weight = edges
    degree = _sum_at(query, weight, hidden.size(0))
    scale = (1 + degree).rsqrt()[:, None]
    heard = _sum_at(query, weight[:, None] * states.message[anchor], hidden.size(0))
    x_node = scale * (scale * (hidden @ node_conv.weight) + heard)
    x_node = (x_node if node_conv.bias is None else x_node + node_conv.bias).relu()
    x_edge = (x_node[query] + states.x_node[anchor]) / 2
    lower = _lower(states, edges, degree, x_edge)
    upper = _upper(layer.polygons, states, rule, x_aux, edges, x_edge)
    x_edge = (edge_conv.upper(upper) + edge_conv.lower(lower) + edge_conv.skip(x_edge)).relu()
    down = _sum_at(query, weight[:, None] * x_edge, hidden.size(0)) / (1 + degree)[:, None]
    return x_node, down


def _lower(states: AnchorStates, edges: _Edges, degree: Tensor, x_edge: Tensor) -> Tensor:
    """Messages from the edges that share the query or the anchor."""
    query, anchor, weight = edges
    scale = (1 + degree[query] - weight + states.degree[anchor]).rsqrt()[:, None]
    own = weight[:, None] * scale * x_edge
    siblings = _sum_at(query, own, degree.numel())[query] - own
    return scale * (siblings + states.lower_sum[anchor])


class _Polygons(NamedTuple):
    """Polygons of one length: numbers of their two query edges and of their fitted edges, and their weights."""

    ends: Tensor
    sides: Tensor
    weight: Tensor


def _upper(
    inference: PolygonInference, states: AnchorStates, rule: PolygonRule, x_aux: Tensor, edges: _Edges, x_edge: Tensor
) -> Tensor:
    """Messages from the other sides of the polygons that a query closes."""
    found = _polygons(inference, states, rule, x_aux, edges)
    degree = x_edge.new_zeros(x_edge.size(0))
    for part in found:
        sides = part.sides.size(1) + 1  # all but the edge itself
        degree = degree.index_add(0, part.ends.flatten(), (sides * part.weight).repeat_interleave(2))
    scale = (1 + degree).rsqrt()[:, None]
    scaled, total = scale * x_edge, torch.zeros_like(x_edge)
    for part in found:
        fitted = states.edge_message[part.sides].sum(1, keepdim=True)
        others = part.weight[:, None, None] * (fitted + scaled[part.ends].flip(1))
        total = total.index_add(0, part.ends.flatten(), others.flatten(0, 1))
    return scale * total


def _polygons(
    inference: PolygonInference, states: AnchorStates, rule: PolygonRule, x_aux: Tensor, edges: _Edges
) -> list[_Polygons]:
    if rule.largest == 0 or edges.query.numel() == 0:
        return []
    cycles = query_cycles(edges.query, edges.anchor, _strongest(edges), states.graph, inference.max_length)
    parts = [_weigh(inference, states, rule, x_aux, edges, part) for part in cycles.values()]
    return [part for part in parts if part.weight.numel()]


def _weigh(
    inference: PolygonInference,
    states: AnchorStates,
    rule: PolygonRule,
    x_aux: Tensor,
    edges: _Edges,
    cycles: QueryCycles,
) -> _Polygons:
    """Score cycles as the polygon inference does (equation 6) and keep those above the fitted threshold."""
    query, path = cycles
    count = states.x_aux.size(0)
    keys = edges.query * count + edges.anchor
    ends = torch.searchsorted(keys, query[:, None] * count + path[:, [0, -1]])
    sides = states.graph.edge_ids(path[:, :-1], path[:, 1:])
    around = torch.cat([x_aux[query, None], states.x_aux[path]], dim=1)
    features = around + around.roll(-1, dims=1)  # edge features, along the cycle
    pairs = [inference.similarity.paired(features[:, i], features[:, j]) for i, j in _pairs(features.size(1))]
    total = torch.stack(pairs).sum(0)
    weight = rule.weights(total if inference.score == "sum" else total / len(pairs))
    smallest = torch.cat([edges.weight[ends], states.edge_weight[sides]], dim=1).amin(1)
    keep = weight > 0
    return _Polygons(ends[keep], sides[keep], (weight * smallest)[keep])


def _pairs(length: int) -> list[tuple[int, int]]:
    return list(combinations(range(length), 2))


def _strongest(edges: _Edges) -> Tensor:
    """The edges among the most probable ones of their query, ties by number; nearly always all of them."""
    counts = torch.bincount(edges.query)
    if int(counts.max()) <= _SIDES:
        return torch.ones_like(edges.query, dtype=torch.bool)
    by_weight = torch.argsort(edges.weight, descending=True, stable=True)
    order = by_weight[torch.argsort(edges.query[by_weight], stable=True)]
    rank = torch.empty_like(order)
    rank[order] = torch.arange(order.numel()) - (counts.cumsum(0) - counts)[edges.query]
    return rank < _SIDES


def _sum_at(index: Tensor, values: Tensor, count: int) -> Tensor:
    return values.new_zeros(count, *values.shape[1:]).index_add(0, index, values)
