"""One round of messages between the nodes, edges and polygons of many graphs."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo.data.graph_set import GraphBatch

__all__ = ["CellFeatures", "GraphLayer", "Norm"]


class CellFeatures(NamedTuple):
    """Features of the cells.

    Attributes:
        nodes: [N, width].
        edges: [E, width]; None if edges have none.
        rings: [R, width]; None if there are no polygons.
    """

    nodes: Tensor
    edges: Tensor | None
    rings: Tensor | None


class Norm(nn.BatchNorm1d):
    """Batch norm that takes the running statistics where a training batch has a single row, or none."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise the rows."""
        if self.training and input.size(0) < 2:
            moments = self.running_mean, self.running_var
            return functional.batch_norm(input, *moments, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(input)


class GraphLayer(nn.Module):
    r"""One round of messages, in the manner of the graph isomorphism network.

    .. math::
        \mathbf{h}_e &\leftarrow \phi_1\Big(\mathbf{h}_e + \mathbf{h}_u + \mathbf{h}_v
            + \sum_{c \ni e} w_c \mathbf{h}_c\Big), \qquad e = (u, v) \\
        \mathbf{h}_v &\leftarrow \phi_0\Big((1 + \varepsilon)\,\mathbf{h}_v + \sum_{e \ni v} w_e \mathbf{h}_e\Big) \\
        \mathbf{h}_c &\leftarrow \phi_2\Big(\mathbf{h}_c + \sum_{e \in c} \mathbf{h}_e\Big)

    Each :math:`\phi` is linear, batch norm and ReLU, for nodes twice. Without features of edges a node hears
    :math:`\mathrm{ReLU}(\mathbf{h}_u + \mathbf{h}_e)` from its neighbours, where :math:`\mathbf{h}_e` comes from the
    edge's label and stays as it is, or just :math:`\mathbf{h}_u` if edges have no labels: a GIN.

    Args:
        channels: width.
        edges: whether edges have features of their own.
        rings: whether polygons have.

    Shapes:
        - **features**: :class:`CellFeatures`, **batch**: the cells, **edge_weight**: [E], **ring_weight**: [R], or None
        - **output**: :class:`CellFeatures`
    """

    def __init__(self, channels: int, edges: bool, rings: bool) -> None:
        super().__init__()
        self.node = _block(channels, 2)
        self.edge = _block(channels, 1) if edges else None
        self.ring = _block(channels, 1) if rings else None
        self.epsilon = nn.Parameter(torch.zeros(()))

    def forward(
        self,
        features: CellFeatures,
        batch: GraphBatch,
        edge_weight: Tensor | None = None,
        ring_weight: Tensor | None = None,
    ) -> CellFeatures:
        """The features of all cells after one round."""
        nodes, edges, rings = features
        first, second = batch.edge_index
        at_first, at_second = nodes.index_select(0, first), nodes.index_select(0, second)
        if self.edge is None:
            to_second = at_first if edges is None else (at_first + edges).relu()
            to_first = at_second if edges is None else (at_second + edges).relu()
        else:
            heard = at_first + at_second
            heard = heard if edges is None else heard + edges
            if rings is not None:
                told = rings if ring_weight is None else rings * ring_weight[:, None]
                heard = heard.index_add(0, batch.side_edge, told.index_select(0, batch.side_ring))
            edges = self.edge(heard)
            to_first = to_second = edges if edge_weight is None else edges * edge_weight[:, None]
        total = ((1 + self.epsilon) * nodes).index_add(0, first, to_first).index_add(0, second, to_second)
        if rings is not None and self.ring is not None and edges is not None:
            sides = edges if edge_weight is None else edges * edge_weight[:, None]
            rings = self.ring(rings.index_add(0, batch.side_ring, sides.index_select(0, batch.side_edge)))
        return CellFeatures(self.node(total), edges, rings)


def _block(channels: int, depth: int) -> nn.Sequential:
    # The norm has a bias already.
    parts = [(nn.Linear(channels, channels, bias=False), Norm(channels), nn.ReLU()) for _ in range(depth)]
    return nn.Sequential(*(part for triple in parts for part in triple))
