"""Two graph convolutions over the given graph: the baseline that trusts it."""

from torch import Tensor
from torch.nn import functional

from latopo.errors import LatopoError
from latopo.models.features import FeatureLinear
from latopo.models.model import Model, ModelOutput
from latopo.nn.checks import check_features, simple_edges
from latopo.nn.graph_conv import GraphConv, graph_product

__all__ = ["GCN"]


class GCN(Model):
    """Convolution, ReLU, dropout, convolution (equation 14) over the given graph, which it cannot do without.

    Args:
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        hidden_channels: width between.
        dropout: before the second layer.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> GCN(4, 3)(torch.ones(5, 4), torch.tensor([[0], [1]])).prediction.shape
        torch.Size([5, 3])
    """

    needs_graph = True

    def __init__(self, in_channels: int, out_channels: int, hidden_channels: int = 32, dropout: float = 0.5) -> None:
        super().__init__(
            in_channels=in_channels, out_channels=out_channels, hidden_channels=hidden_channels, dropout=dropout
        )
        self.in_channels, self.dropout = in_channels, dropout
        self.first = FeatureLinear(in_channels, hidden_channels)
        self.head = GraphConv(hidden_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node from its surroundings in the given graph."""
        check_features("GCN", x, self.in_channels)
        if edge_index is None:
            raise LatopoError("GCN: edge_index is None, expected a graph; give one, or use MLP or DCMNet")
        edges = simple_edges("GCN", edge_index, x.size(0))
        hidden = graph_product(self.first(x), edges).relu()
        return ModelOutput(self.head(functional.dropout(hidden, self.dropout, self.training), edges))
