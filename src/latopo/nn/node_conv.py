"""Message passing on nodes: the graph convolution (equation 14 of the paper)."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from latopo._arguments import Size, checked
from latopo._precision import widen
from latopo.errors import LatopoError
from latopo.nn.checks import check_like, check_once, check_weight

if TYPE_CHECKING:
    from latopo.nn.neighborhoods import Neighborhoods

__all__ = ["NodeConv", "graph_product"]


def graph_product(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
    r"""Normalised adjacency with self-loops times x, for undirected edges that are listed once.

    .. math::
        \mathbf{y}_i = \sum_{j \in \mathcal{N}(i) \cup \{i\}} \frac{w_{ij}}{\sqrt{d_i d_j}} \mathbf{x}_j, \qquad
        d_i = 1 + \sum_{j \in \mathcal{N}(i)} w_{ij}

    With the 1 of the self-loop in the degree, an edge whose weight goes to 0 fades out; without it the weight of a
    node's only edge would cancel.

    Args:
        x: [N, F].
        edge_index: [2, E], each undirected edge once.
        edge_weight: [E], 1 by default.

    Example:
        >>> graph_product(torch.tensor([[1.0], [3.0]]), torch.tensor([[0], [1]]))
        tensor([[2.0000],
                [2.0000]])
    """
    start, end = edge_index
    dtype, x = x.dtype, widen(x)
    weight = x.new_ones(start.numel()) if edge_weight is None else edge_weight.to(x.dtype)
    degree = x.new_ones(x.size(0)).index_add(0, start, weight).index_add(0, end, weight)
    scale = degree.rsqrt()[:, None]
    scaled = scale * x
    # index_select, not [...]: the gradient of the latter adds up in an order that changes from run to run on threads.
    to_start, to_end = scaled.index_select(0, end), scaled.index_select(0, start)
    total = scaled.index_add(0, start, weight[:, None] * to_start).index_add(0, end, weight[:, None] * to_end)
    return (scale * total).to(dtype)


class NodeConv(nn.Module):
    r"""Graph convolution with self-loops, :math:`\hat{\mathbf{A}} \mathbf{X} \mathbf{W} + \mathbf{b}` (equation 14).

    Without a graph it is the linear layer :math:`\mathbf{X}\mathbf{W} + \mathbf{b}`.

    Args:
        in_channels: F_in.
        out_channels: F_out.
        bias: whether there is a :math:`\mathbf{b}`.

    Shapes:
        - **x**: [N, F_in], **graph**: edge_index [2, E] with each undirected edge once, neighbourhoods, or None,
          **edge_weight**: [E] or None, with an edge_index only
        - **output**: [N, F_out]

    Example:
        >>> NodeConv(4, 8)(torch.ones(3, 4), torch.tensor([[0], [1]])).shape
        torch.Size([3, 8])
    """

    @checked
    def __init__(self, in_channels: Size, out_channels: Size, bias: bool = True) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot weights, zero bias."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    @checked
    def forward(
        self, x: Tensor, graph: "Tensor | Neighborhoods | None" = None, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Convolve x over the graph."""
        if x.dim() != 2 or x.size(1) != self.in_channels:
            raise LatopoError(f"NodeConv: x has shape {list(x.shape)}, expected [N, in_channels={self.in_channels}]")
        check_like("NodeConv", x, self.weight)
        if graph is not None and not isinstance(graph, Tensor) and not hasattr(graph, "nodes"):
            raise LatopoError(f"NodeConv: graph must be an edge_index or neighbourhoods, got {type(graph).__name__}")
        x = x @ self.weight
        if isinstance(graph, Tensor):
            check_once("NodeConv", graph, x.size(0))
            check_weight("NodeConv", "edge_weight", edge_weight, graph.size(1))
            x = graph_product(x, graph, edge_weight)
        elif edge_weight is not None:
            raise LatopoError("NodeConv: edge_weight goes with an edge_index only")
        elif graph is not None:
            x = graph.nodes(x)
        return x if self.bias is None else x + self.bias

    def extra_repr(self) -> str:
        """Channels."""
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"
