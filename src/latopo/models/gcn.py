"""Two graph convolutions over the given graph: the baseline that trusts it."""

from typing import Any

from torch import Tensor
from torch.nn import functional

from latopo.errors import LatopoError
from latopo.models.features import FeatureLinear
from latopo.models.model import Model, ModelOutput
from latopo.models.settings import BaselineSettings
from latopo.nn.checks import check_features, simple_edges
from latopo.nn.node_conv import NodeConv, graph_product

__all__ = ["GCN"]


class GCN(Model):
    """Convolution, ReLU, dropout, convolution (equation 14) over the given graph, which it cannot do without.

    Queries have no edges in that graph; for them it is the two-layer network that it is on isolated nodes.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> GCN(4, 3)(torch.ones(5, 4), torch.tensor([[0], [1]])).prediction.shape
        torch.Size([5, 3])
    """

    default = BaselineSettings()

    def __init__(
        self, in_channels: int, out_channels: int, settings: BaselineSettings | None = None, **changes: Any
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        self.first = FeatureLinear(in_channels, self.settings.hidden_channels)
        self.head = NodeConv(self.settings.hidden_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node from its surroundings in the given graph."""
        check_features("GCN", x, self.in_channels)
        if edge_index is None:
            raise LatopoError("GCN: edge_index is None, expected a graph; give one, or use MLP or DCMNet")
        edges = simple_edges("GCN", edge_index, x.size(0))
        return self._second(graph_product(self.first(x), edges), edges)

    def join(self, x: Tensor, fitted: None) -> ModelOutput:
        """Predict queries, which have no edges."""
        check_features("GCN", x, self.in_channels)
        return self._second(self.first(x), None)

    def _second(self, hidden: Tensor, edges: Tensor | None) -> ModelOutput:
        hidden = functional.dropout(hidden.relu(), self.settings.dropout, self.training)
        return ModelOutput(self.head(hidden, edges), hidden)
