"""A network that predicts whole graphs from their nodes, edges and polygons."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.data.graph_set import GraphBatch
from latopo.errors import LatopoError
from latopo.models.graph_layer import CellFeatures, GraphLayer, Norm
from latopo.models.graph_settings import ChosenRings, GraphNetSettings
from latopo.models.latent_edges import EdgeInference
from latopo.models.model import Model, ModelOutput
from latopo.models.ring_choice import RingChoice

__all__ = ["GraphNet"]


class GraphNet(Model):
    """Rounds of messages on the cells of each graph, then a read-out over its nodes, edges and polygons.

    Which cells have features is in the settings (:class:`~latopo.models.graph_settings.GraphNetSettings`): nodes alone
    make a graph isomorphism network. The read-out adds up the features of each kind of cell after every round.

    Args:
        in_channels: width of the node features.
        out_channels: classes, or 1 for regression.
        settings: those of its parts.
        edge_channels: width of the edge features, 0 for none.
        changes: fields of the settings with other values.

    Shapes:
        - **batch**: :class:`~latopo.data.GraphBatch` of G graphs
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [G, out_channels]

    Example:
        >>> from torch_geometric.data import Data
        >>> from latopo.data import from_graphs
        >>> ring = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5])
        >>> graphs, _ = from_graphs([Data(x=torch.ones(5, 3), edge_index=ring, y=i % 2) for i in range(10)])
        >>> GraphNet(3, 2, rings="all")(graphs.batch(torch.arange(4))).prediction.shape
        torch.Size([4, 2])
    """

    default: ClassVar[GraphNetSettings] = GraphNetSettings()
    level = "graph"
    settings: GraphNetSettings

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        settings: GraphNetSettings | None = None,
        edge_channels: int = 0,
        **changes: Any,
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        parts, width = self.settings, self.settings.hidden_channels
        self.edge_channels = edge_channels
        self.first = nn.Linear(in_channels, width)
        latent = parts.latent_edges
        self.inference = None if latent is None else EdgeInference(width, latent, parts.max_length)
        seen = edge_channels + (latent is not None and latent.keep_given)
        self.first_edge = nn.Linear(seen, width) if seen else None
        self.first_ring = nn.Embedding(parts.max_length + 1, width) if parts.rings is not None else None
        self.choice = RingChoice(width, parts.rings, parts.max_length) if isinstance(parts.rings, ChosenRings) else None
        ranks = 1 + parts.edge_features + (parts.rings is not None)
        self.layers = nn.ModuleList(
            GraphLayer(width, parts.edge_features, parts.rings is not None) for _ in range(parts.layers)
        )
        # Sums over graphs of very different size: without the norm a few large ones switch the ReLU off for good.
        self.norm = Norm(ranks * parts.layers * width)
        self.head = nn.Sequential(
            nn.Linear(ranks * parts.layers * width, width), nn.ReLU(), nn.Dropout(parts.dropout),
            nn.Linear(width, out_channels),
        )  # fmt: skip

    @property
    def feature_channels(self) -> int:
        """Width of the read-out."""
        return self.norm.num_features

    def forward(self, batch: GraphBatch) -> ModelOutput:  # type: ignore[override]  # graphs, not nodes
        """Predict every graph."""
        if batch.x.size(1) != self.in_channels or batch.edge_attr.size(1) != self.edge_channels:
            raise LatopoError(
                f"GraphNet: nodes have {batch.x.size(1)} and edges {batch.edge_attr.size(1)} features, expected "
                f"in_channels={self.in_channels} and edge_channels={self.edge_channels}"
            )
        nodes = self.first(batch.x)
        batch, edge_weight = self._cells(nodes, batch)
        edges = None if self.first_edge is None else self.first_edge(batch.edge_attr)
        rings = None if self.first_ring is None else self.first_ring(batch.ring_length)
        weight = None if self.choice is None else self.choice(nodes, batch)
        features, pooled = CellFeatures(nodes, edges, rings), []
        for layer in self.layers:
            features = layer(features, batch, edge_weight, weight)
            pooled += self._pooled(features, batch, edge_weight, weight)
        found = self.norm(torch.cat(pooled, dim=1))
        return ModelOutput(self.head(found), found)

    def _cells(self, nodes: Tensor, batch: GraphBatch) -> tuple[GraphBatch, Tensor | None]:
        """The cells that the network works on, and the weights of their edges."""
        return (batch, None) if self.inference is None else self.inference(nodes, batch)

    def _pooled(
        self, features: CellFeatures, batch: GraphBatch, edge_weight: Tensor | None, ring_weight: Tensor | None
    ) -> list[Tensor]:
        """Sums over each graph of the features of its nodes, edges and polygons."""
        nodes, edges, rings = features
        parts = [_sum(nodes, batch.node_graph, batch.num_graphs)]
        if edges is not None and self.settings.edge_features:
            edges = edges if edge_weight is None else edges * edge_weight[:, None]
            parts.append(_sum(edges, batch.node_graph[batch.edge_index[0]], batch.num_graphs))
        if rings is not None:
            rings = rings if ring_weight is None else rings * ring_weight[:, None]
            parts.append(_sum(rings, batch.ring_graph, batch.num_graphs))
        return parts

    @torch.no_grad()
    def complex(self, batch: GraphBatch) -> CellComplex:
        """The complex that the network sees of these graphs; a trained network in evaluation mode is to be asked."""
        nodes = self.first(batch.x)
        batch, edge_prob = self._cells(nodes, batch)
        weight = None if self.choice is None else self.choice(nodes, batch)
        polygons, probs = {}, []
        for length in range(3, self.settings.max_length + 1) if self.first_ring is not None else ():
            rings = batch.ring_length == length
            rings = rings if weight is None else rings & (weight > 0)
            polygons[length] = _vertices(batch.side_edge[rings[batch.side_ring]].view(-1, length), batch.edge_index)
            probs += [] if weight is None else [weight[rings]]
        prob = torch.cat(probs) if probs else None
        return CellComplex(batch.x.size(0), batch.edge_index, polygons, edge_prob, prob)

    @torch.no_grad()
    def facts(self) -> dict[str, float]:
        """The learned γ and α of the choices of edges and rings."""
        found = {} if self.inference is None else self.inference.graph.sampler.facts()
        if self.choice is not None:
            found |= {"ring_gain": float(self.choice.gain()), "ring_alpha": float(self.choice.alpha())}
        return found


def _sum(x: Tensor, graph: Tensor, count: int) -> Tensor:
    return x.new_zeros(count, x.size(1)).index_add(0, graph, x)


def _vertices(sides: Tensor, edge_index: Tensor) -> Tensor:
    """The vertices of rings, in cyclic order, from the edges between them [C, k]."""
    low, high = edge_index[:, sides]
    before_low, before_high = edge_index[:, sides.roll(1, dims=1)]
    return torch.where((low == before_low) | (low == before_high), low, high)
