"""Message passing on the nodes and edges of a complex."""

from collections.abc import Callable
from inspect import signature
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo._arguments import Chance, Count, Size, checked
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.cell_conv import CellConv
from latopo.nn.lifts import Aggregation, Downlift, Uplift
from latopo.nn.neighborhoods import ComplexNeighborhoods, Neighborhoods, as_neighborhoods
from latopo.nn.node_conv import NodeConv
from latopo.nn.polygon_conv import PolygonConv
from latopo.nn.reset import reset

__all__ = ["CellFeatures", "CellMessages", "NewConv"]

# Adam moves every number by the learning rate, whatever its gradient. One in front of a whole branch must move less, or
# the gate stands wide open before the weights behind it have learned what to say (docs/method.md).
_PACE = 0.1

NewConv = Callable[[int, int], nn.Module]
"""Makes a convolution from the widths of its input and output."""


class CellFeatures(NamedTuple):
    """Features after message passing: nodes [N, channels], edges [E, out_channels], polygons [P, out_channels]."""

    nodes: Tensor
    edges: Tensor | None = None
    polygons: Tensor | None = None


class CellMessages(nn.Module):
    r"""Rounds of messages between nodes, then between edges, whose outcome comes back to the nodes.

    .. math::
        \mathbf{X}_{0,int} = \mathrm{ReLU}(\mathrm{GCN}(\mathbf{X})), \quad
        \mathbf{X}_{1,int} = \mathrm{Uplift}(\mathbf{X}_{0,int}), \quad
        \mathbf{X}_{1,out} = \mathrm{ReLU}(\mathrm{CellConv}(\mathbf{X}_{1,int})), \quad
        \mathbf{X}_{0,out} = \left[\mathbf{X}_{0,int} \,\|\, \mathrm{Downlift}(\mathbf{X}_{1,out})\right]

    (equations 4, 5, 7 and 8).

    Args:
        in_channels: width of x.
        out_channels: width of each half of the output.
        rounds: rounds on nodes, and again on edges. With 0 no layer is learned: x stands beside its uplift, carried
            down again.
        polygons: longest polygon that has features of its own, a :class:`~latopo.nn.PolygonConv` in each round: nodes ↔
            edges ↔ polygons. By default (the paper) polygons only say which edges hear each other.
        edges: whether there are messages between edges; without them the output is :math:`\mathbf{X}_{0,int}`.
        concat: whether the two halves stand side by side or are summed.
        gated: whether what comes down from the edges is multiplied by a tenth of a learned scalar that starts at 0: the
            layer starts as a graph convolution, and opens the way over the edges slowly, as far as that helps.
        dropout: between rounds.
        lift: whether edges get the mean or the sum of their ends, and nodes that of their edges.
        detach_edges: whether edges take the features of nodes without gradient.
        final_relu: whether the output has passed the ReLU (as in the paper); without it, it may be class scores.
        node_conv: makes a convolution of nodes: :class:`~latopo.nn.NodeConv`, one of PyG's (weighted cells need one
            that takes ``edge_weight``, such as ``torch_geometric.nn.GraphConv``), or a module of your own, called as
            ``conv(x, neighborhoods)``.
        edge_conv: makes a convolution of edges, called as ``conv(x, neighborhoods)`` like
            :class:`~latopo.nn.CellConv`.

    Shapes:
        - **x**: [N, in_channels], **cells**: a complex or its neighbourhoods
        - **output**: [N, channels]

    Example:
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> CellMessages(4, 8)(torch.ones(3, 4), path).shape
        torch.Size([3, 16])
    """

    @checked
    def __init__(
        self,
        in_channels: Size,
        out_channels: Size,
        rounds: Count = 1,
        *,
        edges: bool = True,
        polygons: int | None = None,
        concat: bool = True,
        gated: bool = False,
        dropout: Chance = 0.0,
        lift: Aggregation = "mean",
        detach_edges: bool = False,
        final_relu: bool = True,
        node_conv: NewConv = NodeConv,
        edge_conv: NewConv = CellConv,
    ) -> None:
        super().__init__()
        if rounds == 0 and in_channels != out_channels:
            raise LatopoError(
                f"CellMessages: without rounds the width stays {in_channels}, got out_channels={out_channels}"
            )
        self.concat, self.dropout, self.final_relu = concat, dropout, final_relu
        self.detach_edges = detach_edges
        self.channels = out_channels * (2 if edges and concat else 1)
        widths = [in_channels, *[out_channels] * rounds]
        self.node_convs = nn.ModuleList(_fit_in(node_conv(*ends)) for ends in pairwise(widths))
        self.uplift = Uplift(lift) if edges else None
        self.edge_convs = nn.ModuleList(edge_conv(out_channels, out_channels) for _ in range(rounds if edges else 0))
        if polygons is not None and not (edges and rounds):
            raise LatopoError("CellMessages: polygons hear edges; features of polygons need edges=True and rounds > 0")
        self.polygon_convs = None
        if polygons is not None:
            self.polygon_convs = nn.ModuleList(PolygonConv(out_channels, polygons) for _ in range(rounds))
        self.downlift = Downlift(lift)
        self.gate = nn.Parameter(torch.zeros(())) if gated and edges else None

    def reset_parameters(self) -> None:
        """Initialise every layer anew, and close the gate."""
        reset(*self.children())
        if self.gate is not None:
            nn.init.zeros_(self.gate)

    def forward(self, x: Tensor, cells: CellComplex | Neighborhoods) -> Tensor:
        """Features of every node."""
        return self.features(x, cells).nodes

    def features(self, x: Tensor, cells: CellComplex | Neighborhoods) -> CellFeatures:
        """Features of every node, as :meth:`forward` gives them, of every edge and of every polygon, as far as any."""
        neighborhoods = as_neighborhoods(cells)
        linear = x
        for at, conv in enumerate(self.node_convs):
            linear = conv(self._drop(x, at), neighborhoods)
            x = linear.relu()
        nodes = x if self.final_relu else linear
        if self.uplift is None:
            return CellFeatures(nodes)
        lifted = self.uplift(x.detach() if self.detach_edges else x, neighborhoods)
        edges, polygons = self._edge_rounds(lifted, neighborhoods)
        down = self.downlift(edges, neighborhoods)
        down = down if self.gate is None else _PACE * self.gate * down
        return CellFeatures(torch.cat([nodes, down], dim=1) if self.concat else nodes + down, edges, polygons)

    def _edge_rounds(self, edges: Tensor, neighborhoods: Neighborhoods) -> tuple[Tensor, Tensor | None]:
        polygons, last = None, len(self.edge_convs) - 1
        for at, conv in enumerate(self.edge_convs):
            edges = conv(self._drop(edges, at), neighborhoods)
            if self.polygon_convs is not None:
                edges, polygons = self.polygon_convs[at](edges.relu(), neighborhoods)
            edges = edges.relu() if at < last or self.final_relu else edges
        return edges, polygons

    def _drop(self, x: Tensor, at: int) -> Tensor:
        return functional.dropout(x, self.dropout, self.training) if at else x


class _BothDirections(nn.Module):
    """A convolution of PyG, which lists every undirected edge twice."""

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: Tensor, neighborhoods: Any) -> Tensor:
        if not isinstance(neighborhoods, ComplexNeighborhoods):
            raise LatopoError(f"{type(self.conv).__name__}: queries join NodeConv only; leave node_conv out")
        edges, weight = neighborhoods.cx.edge_index, neighborhoods.edge_weight
        both = torch.cat([edges, edges.flip(0)], dim=1)
        if weight is None:
            return self.conv(x, both)
        if "edge_weight" not in signature(self.conv.forward).parameters:
            raise LatopoError(
                f"{type(self.conv).__name__}: takes no edge_weight, and the cells are weighted; use relaxation='none' "
                "or a convolution that takes it, such as GraphConv"
            )
        return self.conv(x, both, edge_weight=torch.cat([weight, weight]))


def _fit_in(conv: nn.Module) -> nn.Module:
    if isinstance(conv, NodeConv):
        return conv
    from torch_geometric.nn import MessagePassing  # takes a second to load

    return _BothDirections(conv) if isinstance(conv, MessagePassing) else conv
