"""Auxiliary node features: what similarity is measured on."""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from latopo.nn.node_conv import NodeConv
from latopo.nn.reset import reset

__all__ = ["AuxiliaryEncoder"]


class AuxiliaryEncoder(nn.Module):
    r"""The paper's :math:`\nu_0`: an MLP without a graph, a GCN with one, by the same weights (table 12 of the paper).

    ReLU between the layers, none after the last.

    Args:
        channels: widths, input first; (32, 32, 32, 32) is the paper's.
        last_bias: whether the last layer has a bias; under a similarity of differences it would cancel.
        dropout: before each layer; none by default, since it makes the graph jump from step to step.

    Shapes:
        - **x**: [N, channels[0]], **edge_index**: [2, E], each undirected edge once, or None
        - **output**: [N, channels[-1]]

    Example:
        >>> import torch
        >>> AuxiliaryEncoder((4, 8, 2))(torch.ones(3, 4)).shape
        torch.Size([3, 2])
    """

    def __init__(
        self, channels: tuple[int, ...] = (32, 32, 32, 32), last_bias: bool = False, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.dropout = dropout
        last = len(channels) - 2
        self.layers = nn.ModuleList(
            NodeConv(before, after, bias=at < last or last_bias)
            for at, (before, after) in enumerate(pairwise(channels))
        )

    def reset_parameters(self) -> None:
        """Initialise every layer anew."""
        reset(self.layers)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> Tensor:
        """Auxiliary features of x."""
        for at, layer in enumerate(self.layers):
            x = layer(functional.dropout(x.relu() if at else x, self.dropout, self.training), edge_index)
        return x
