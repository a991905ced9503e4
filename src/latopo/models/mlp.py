"""Two layers on each node's own features: the baseline that sees no structure."""

from typing import Any

from torch import Tensor
from torch.nn import Linear, functional

from latopo.models.features import FeatureLinear
from latopo.models.model import Model, ModelOutput
from latopo.models.settings import BaselineSettings
from latopo.nn.checks import check_features

__all__ = ["MLP"]


class MLP(Model):
    """Linear, ReLU, dropout, linear. A given graph is ignored.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> MLP(4, 3)(torch.ones(5, 4)).prediction.shape
        torch.Size([5, 3])
    """

    default = BaselineSettings()
    uses_graph = False

    def __init__(
        self, in_channels: int, out_channels: int, settings: BaselineSettings | None = None, **changes: Any
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        self.first = FeatureLinear(in_channels, self.settings.hidden_channels)
        self.head = Linear(self.settings.hidden_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Predict every node from its own features."""
        check_features("MLP", x, self.in_channels)
        hidden = functional.dropout(self.first(x).relu(), self.settings.dropout, self.training)
        return ModelOutput(self.head(hidden), hidden)
