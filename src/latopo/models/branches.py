"""The branches of a model: what its head can be told about a node."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo.models.features import FeatureLinear
from latopo.models.settings import AllPolygons, Entmax, EntmaxPolygons, Latent, TopK, TopKPolygons
from latopo.neighbors import Euclidean, Hyperbolic, Product, Spherical
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.cell_messages import CellMessages
from latopo.nn.neighborhoods import ComplexNeighborhoods
from latopo.nn.node_conv import NodeConv, graph_product
from latopo.nn.polygon_inference import PolygonInference
from latopo.nn.query_neighborhoods import QueryCells, QueryNeighborhoods, RecordedNeighborhoods
from latopo.nn.reset import reset
from latopo.nn.samplers import EdgeSampler, EntmaxSampler, TopKSampler
from latopo.nn.topology_inference import FittedTopology, LatentTopology, TopologyInference

__all__ = ["FittedLatent", "LatentBranch", "SeparateGivenBranch", "SharedGivenBranch", "View", "manifold"]


class View(NamedTuple):
    """What a branch sees of the nodes.

    Attributes:
        x: the input [N, in_channels].
        hidden: hidden features [N, hidden].
        dropped: the same after dropout.
        edges: the given graph, each undirected edge once, or None.
    """

    x: Tensor
    hidden: Tensor
    dropped: Tensor
    edges: Tensor | None


class SharedGivenBranch(nn.Module):
    """One convolution of the hidden features over the given graph; the linear layer that it is without one."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = NodeConv(channels, channels)

    def forward(self, view: View) -> Tensor:
        """Features [N, channels]."""
        return self.conv(view.dropped, view.edges).relu()


class SeparateGivenBranch(nn.Module):
    """A GCN over the given graph with a first layer and dropout of its own; its second layer is the head's."""

    def __init__(self, in_channels: int, channels: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = FeatureLinear(in_channels, channels)

    def forward(self, view: View) -> Tensor:
        """Features [N, channels]."""
        heard = _smooth(self.first(view.x), view.edges).relu()
        return _smooth(functional.dropout(heard, self.dropout, self.training), view.edges)


def _smooth(x: Tensor, edges: Tensor | None) -> Tensor:
    """One convolution without weights; on isolated nodes it changes nothing."""
    return x if edges is None else graph_product(x, edges)


class FittedLatent(NamedTuple):
    """The latent branch of the training rows, for queries to join.

    Attributes:
        topology: the complex and how it was inferred.
        hidden: hidden features of the rows, float64 [N, hidden].
        recorded: what its cells sent.
    """

    topology: FittedTopology
    hidden: Tensor
    recorded: RecordedNeighborhoods


class LatentBranch(nn.Module):
    """Messages on an inferred topology.

    The topology is inferred from the hidden features *before* dropout: with dropout the graph would jump from step to
    step.
    """

    def __init__(self, channels: int, dropout: float, settings: Latent) -> None:
        super().__init__()
        self.relaxation, self.latent_dropout = settings.relaxation, settings.latent_dropout
        similarity = manifold(channels) if settings.space == "manifold" else settings.space
        graph = AlphaDGM(
            channels, channels, settings.encoder_layers, sampler=_sampler(settings.sampler, settings.learn_alpha),
            dropout=settings.encoder_dropout, similarity=similarity, detach=settings.detach,
        )  # fmt: skip
        self.topology = TopologyInference(graph, _polygons(settings.polygons, settings.learn_alpha))
        self.messages = CellMessages(
            channels, channels, settings.rounds, edges=settings.edge_features, dropout=dropout, lift=settings.lift,
            detach_edges=settings.detach_edges,
        )  # fmt: skip

    @staticmethod
    def channels(hidden: int, settings: Latent) -> int:
        """Width of the branch's features."""
        return hidden * (2 if settings.edge_features else 1)

    def forward(self, view: View) -> tuple[Tensor, LatentTopology]:
        """Features [N, channels] and the topology that they come from."""
        topology = self.topology(view.hidden, view.edges)
        cells = ComplexNeighborhoods.relaxed(topology.complex, self.relaxation)
        return self._hide(self.messages(view.dropped, cells)), topology

    def _hide(self, x: Tensor) -> Tensor:
        """Whole rows dropped, in training."""
        if not (self.latent_dropout and self.training):
            return x
        return x * functional.dropout(x.new_ones(x.size(0), 1), self.latent_dropout)

    @torch.no_grad()
    def fit(self, hidden: Tensor, topology: FittedTopology) -> FittedLatent:
        """Pass the messages of the training rows once and keep what was sent."""
        recorded = RecordedNeighborhoods(topology.complex, self.relaxation)
        self.messages(hidden, recorded)
        return FittedLatent(topology, hidden, recorded)

    @torch.no_grad()
    def join(self, hidden: Tensor, fitted: FittedLatent) -> tuple[Tensor, QueryCells]:
        """Features of queries and the cells that they bring."""
        cells = self.topology.join(hidden, fitted.topology, self.relaxation)
        return self.hear(hidden, fitted, cells), cells

    def hear(self, hidden: Tensor, fitted: FittedLatent, cells: QueryCells) -> Tensor:
        """Features of queries by the cells that they bring, whatever these are."""
        return self.messages(hidden, QueryNeighborhoods(fitted.recorded, cells))

    def facts(self) -> dict[str, float]:
        """α and γ of the sampler, and α of the polygons."""
        polygons = self.topology.polygons
        return self.topology.graph.sampler.facts() | ({} if polygons is None else polygons.facts())

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        reset(self.topology, self.messages)


def _sampler(settings: Entmax | TopK, learn_alpha: bool) -> EdgeSampler:
    if isinstance(settings, TopK):
        return TopKSampler(settings.k)
    gain = 50.0 if settings.gain is None else settings.gain
    return EntmaxSampler(
        gain, degree=settings.degree, hold_degree=settings.hold_degree, learn_alpha=learn_alpha, search=settings.search
    )


def _polygons(chosen: EntmaxPolygons | AllPolygons | TopKPolygons | None, learn_alpha: bool) -> PolygonInference | None:
    if chosen is None:
        return None
    common: dict[str, Any] = {"max_length": chosen.max_length, "candidate_budget": chosen.candidate_budget}
    if isinstance(chosen, AllPolygons):
        return PolygonInference(sampler="all", **common)
    if isinstance(chosen, TopKPolygons):
        return PolygonInference(sampler="topk", score=chosen.polygon_score, **common)
    return PolygonInference(
        polygon_share=chosen.polygon_share, score=chosen.polygon_score, learn_alpha=learn_alpha, **common
    )


def manifold(channels: int) -> Product:
    """The space of DGM-M: Euclidean × hyperbolic × spherical, about a third of the coordinates each."""
    third = channels // 3
    return Product([Euclidean(), Hyperbolic(), Spherical()], [channels - 2 * third, third, third])
