"""A training step of the paper's model built by the book: dense matrices, a graph library, Python loops.

This is what a careful reader of the paper would write first. It is here to be beaten, and to be compared with: the
benchmark checks that both sides infer the same complex.
"""

from itertools import combinations, pairwise

import torch
from torch import Tensor
from torch.nn import functional

from latopo.models import DCMNet
from latopo.nn import AlphaDGM, CellConv, CellMessages, EntmaxSampler, NodeConv, PolygonInference
from latopo.nn.samplers import alpha_value
from peers.cycles import chordless_cycles

__all__ = ["dense_forward"]


def dense_forward(model: DCMNet, x: Tensor) -> tuple[Tensor, list[tuple[int, ...]], Tensor, Tensor]:
    """Prediction, polygons, edge probabilities [N, N] and polygon probabilities of the model's weights."""
    import igraph

    latent, dropout = model.latent, model.settings.dropout
    assert latent is not None
    assert latent.topology.polygons is not None
    hidden = model.first(x).relu()
    x_aux = latent.topology.graph.encoder(hidden.detach())
    prob = _edge_rows(x_aux, latent.topology.graph)
    symmetric = (prob + prob.t()) / 2
    edges = symmetric.detach().triu(1).nonzero().tolist()
    cycles = chordless_cycles(igraph.Graph(len(x), edges), latent.topology.polygons.max_length)
    chosen = _polygon_rows(x_aux, cycles, latent.topology.polygons)
    polygons = [cycle for cycle, p in zip(cycles, chosen.tolist(), strict=True) if p > 0]
    features = functional.dropout(hidden, dropout, model.training)
    out = _messages(features, edges, polygons, latent.messages)
    return model.head(functional.dropout(out, dropout, model.training)), polygons, symmetric, chosen


def _edge_rows(x_aux: Tensor, graph: AlphaDGM) -> Tensor:
    from entmax import entmax_bisect

    sampler = graph.sampler
    assert isinstance(sampler, EntmaxSampler)
    count = len(x_aux)
    z = -torch.cdist(x_aux, x_aux)
    off = ~torch.eye(count, dtype=torch.bool)
    rows = z.masked_select(off).view(count, count - 1)
    scores = sampler.gain() * (rows - rows.mean(1, keepdim=True)) / rows.std(1, correction=0, keepdim=True)
    return torch.zeros_like(z).masked_scatter(off, entmax_bisect(scores, alpha_value(sampler.alpha), dim=1))


def _polygon_rows(x_aux: Tensor, cycles: list[tuple[int, ...]], polygons: PolygonInference) -> Tensor:
    from entmax import entmax_bisect

    if not cycles:
        return x_aux.new_zeros(0)
    scores = []
    for cycle in cycles:
        sides = [x_aux[u] + x_aux[v] for u, v in _sides(cycle)]
        scores.append(-torch.stack([(a - b).norm() for a, b in combinations(sides, 2)]).sum())
    z = torch.stack(scores)
    standard = (z - z.mean()) / z.std(correction=0).clamp(min=1e-12)
    gain = 1.0 if polygons.gain is None else polygons.gain()
    return entmax_bisect(gain * standard, alpha_value(polygons.alpha), dim=0)


def _messages(x: Tensor, edges: list[list[int]], polygons: list[tuple[int, ...]], layers: CellMessages) -> Tensor:
    nodes, conv = layers.node_convs[0], layers.edge_convs[0]
    assert isinstance(nodes, NodeConv)
    assert isinstance(conv, CellConv)
    number = {frozenset(edge): at for at, edge in enumerate(edges)}
    to_node, to_polygon = torch.zeros(len(x), len(edges)), torch.zeros(len(edges), len(polygons))
    for at, edge in enumerate(edges):
        to_node[edge, at] = 1
    for at, cycle in enumerate(polygons):
        to_polygon[[number[frozenset(side)] for side in _sides(cycle)], at] = 1
    adjacency = _without_diagonal(to_node @ to_node.t()) + torch.eye(len(x))
    x = (_normalised(adjacency, 0) @ x @ nodes.weight + (0.0 if nodes.bias is None else nodes.bias)).relu()
    on_edges = (to_node.t() @ x) / 2
    shared = (to_polygon @ to_polygon.t(), to_node.t() @ to_node)
    upper, lower = (_normalised(_without_diagonal(cells), 1) for cells in shared)
    on_edges = (conv.upper(upper @ on_edges) + conv.lower(lower @ on_edges) + conv.skip(on_edges)).relu()
    return torch.cat([x, to_node @ on_edges / (1 + to_node.sum(1, keepdim=True))], dim=1)


def _sides(cycle: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(pairwise((*cycle, cycle[0])))


def _without_diagonal(matrix: Tensor) -> Tensor:
    return matrix - torch.diag(matrix.diagonal())


def _normalised(adjacency: Tensor, extra: int) -> Tensor:
    scale = (extra + adjacency.sum(1)).rsqrt()
    return scale[:, None] * adjacency * scale
