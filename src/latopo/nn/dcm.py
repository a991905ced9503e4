"""The layer of the paper: infer a cell complex, pass messages on it."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import AlphaDGM, LatentGraph
from latopo.nn.batch import split_batch
from latopo.nn.cell_conv import CellConv
from latopo.nn.checks import check_dropout, check_width
from latopo.nn.graph_conv import GraphConv
from latopo.nn.lifts import Downlift, Uplift
from latopo.nn.polygon_inference import LatentPolygons, PolygonInference
from latopo.nn.relaxation import Relaxation, cell_weights, check_relaxation
from latopo.nn.reset import reset

__all__ = ["DCM", "LatentTopology"]


class LatentTopology(NamedTuple):
    """An inferred complex with what led to it.

    Attributes:
        complex: nodes, edges and polygons with their probabilities.
        graph: the α-DGM's answer, with the directed choices behind the edges.
        polygons: the polygon inference's answer, with its statistics.
    """

    complex: CellComplex
    graph: LatentGraph
    polygons: LatentPolygons


class DCM(nn.Module):
    r"""Differentiable Cell Complex Module with message passing on nodes and edges (figure 2 of the paper).

    From features X and an optional graph: the α-DGM infers edges, the polygon inference polygons among their induced
    cycles; then

    .. math::
        \mathbf{X}_{0,int} = \mathrm{ReLU}(\mathrm{GCN}(\mathbf{X})), \quad
        \mathbf{X}_{1,int} = \mathrm{Uplift}(\mathbf{X}_{0,int}), \quad
        \mathbf{X}_{1,out} = \mathrm{ReLU}(\mathrm{CellConv}(\mathbf{X}_{1,int})), \quad
        \mathbf{X}_{0,out} = \left[\mathbf{X}_{0,int} \,\|\, \mathrm{Downlift}(\mathbf{X}_{1,out})\right]

    (equations 4, 5, 7 and 8).

    Args:
        in_channels: width of x.
        out_channels: width of each half of the output.
        max_length: longest polygon; below 3 there are no polygons and edges hear their lower neighbours only.
        alpha: start of the learned α of both entmax maps.
        gain: start of the learned gain γ of the α-DGM; larger means a sparser graph.
        relaxation: how probabilities enter message passing. ``"weighted"`` and ``"straight_through"`` let the task's
            loss reach the topology; ``"none"`` (the paper) needs a :class:`~latopo.nn.TopologyLoss`.
        rounds: rounds of message passing on nodes, and again on edges. With 0 no layer is learned: x stands
            beside its uplift, carried down again.
        concat: whether the two halves stand side by side, [N, 2 · out_channels], or are summed, [N, out_channels].
        dropout: between rounds.
        graph: an :class:`~latopo.nn.AlphaDGM` of your own; ``gain`` and ``alpha`` are then not used for the edges.
        polygons: a :class:`~latopo.nn.PolygonInference` of your own; ``max_length`` and ``alpha`` are then not used
            for the polygons.

    Several graphs or point clouds in one x need ``batch``, as in PyG; without it points would choose neighbours across
    them. It is the same as a call for each, one after another, so many small ones cost time per cloud, not per point;
    and an α-DGM with a ``degree`` is calibrated by the first and, if it holds the degree, corrected after each. The
    complex returned is their disjoint union.

    Shapes:
        - **x**: [N, in_channels], **edge_index**: [2, E'] in any form, or None, **batch**: [N] ascending, or None
        - **output**: [N, 2 · out_channels] (or [N, out_channels]) and a :class:`~latopo.CellComplex`

    Example:
        >>> x = torch.randn(50, 16, generator=torch.Generator().manual_seed(0))
        >>> out, complex = DCM(16, 32)(x)
        >>> out.shape, complex.num_nodes
        (torch.Size([50, 64]), 50)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        max_length: int = 4,
        alpha: float = 1.5,
        gain: float = 50.0,
        relaxation: Relaxation = "weighted",
        *,
        rounds: int = 1,
        concat: bool = True,
        dropout: float = 0.0,
        graph: AlphaDGM | None = None,
        polygons: PolygonInference | None = None,
    ) -> None:
        super().__init__()
        check_relaxation("DCM", relaxation)
        check_dropout("DCM", dropout)
        if rounds < 0:
            raise LatopoError(f"DCM: rounds must be at least 0, got {rounds}")
        if rounds == 0 and in_channels != out_channels:
            raise LatopoError(f"DCM: without rounds the width stays {in_channels}, got out_channels={out_channels}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.relaxation, self.concat, self.dropout = relaxation, concat, dropout
        self.graph = AlphaDGM(in_channels, gain=gain, alpha=alpha) if graph is None else graph
        self.polygons = PolygonInference(max_length, alpha=alpha) if polygons is None else polygons
        widths = [in_channels, *[out_channels] * rounds]
        self.node_convs = nn.ModuleList(GraphConv(widths[at], widths[at + 1]) for at in range(rounds))
        self.uplift = Uplift("mean")
        self.edge_convs = nn.ModuleList(CellConv(out_channels, out_channels) for _ in range(rounds))
        self.downlift = Downlift("mean")

    def reset_parameters(self) -> None:
        """Initialise every part anew."""
        reset(*self.children())

    def forward(
        self, x: Tensor, edge_index: Tensor | None = None, batch: Tensor | None = None
    ) -> tuple[Tensor, CellComplex]:
        """Features and the complex that they were computed on."""
        if batch is not None:
            parts = [self(*part) for part in split_batch("DCM", x, edge_index, batch)]
            return torch.cat([x for x, _ in parts]), CellComplex.disjoint_union([complex for _, complex in parts])
        complex = self.infer(x, edge_index).complex
        return self.propagate(x, complex), complex

    def infer(self, x: Tensor, edge_index: Tensor | None = None) -> LatentTopology:
        """The complex alone, with the directed choices that the other forms of the topology loss need."""
        check_width("DCM", x, self.in_channels)
        graph = self.graph(x, edge_index)
        polygons = self.polygons(graph.x_aux, graph.edge_index)
        complex = CellComplex.from_canonical(
            x.size(0), graph.edge_index, polygons.polygons, graph.edge_prob, polygons.prob
        )
        return LatentTopology(complex, graph, polygons)

    def propagate(self, x: Tensor, complex: CellComplex) -> Tensor:
        """Message passing on a given complex, that of one graph: polygons are weighted relative to its best one."""
        check_width("DCM", x, self.in_channels)
        if x.size(0) != complex.num_nodes:
            raise LatopoError(f"DCM: x has {x.size(0)} rows, but the complex {complex.num_nodes} nodes")
        edge_weight, polygon_weight = cell_weights(complex, self.relaxation)
        for at, conv in enumerate(self.node_convs):
            x = conv(self._drop(x, at), complex.edge_index, edge_weight).relu()
        edges = self.uplift(x, complex.edge_index)
        for at, conv in enumerate(self.edge_convs):
            edges = conv(self._drop(edges, at), complex, edge_weight, polygon_weight).relu()
        down = self.downlift(edges, complex.edge_index, complex.num_nodes, edge_weight)
        return torch.cat([x, down], dim=1) if self.concat else x + down

    def _drop(self, x: Tensor, at: int) -> Tensor:
        return functional.dropout(x, self.dropout, self.training) if at else x

    def extra_repr(self) -> str:
        """What differs from layer to layer."""
        return f"{self.in_channels}, {self.out_channels}, relaxation={self.relaxation!r}"
