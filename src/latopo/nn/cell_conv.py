"""Message passing on edges: the cell convolution (equation 15 of the paper)."""

from torch import Tensor, nn

from latopo._arguments import Size, checked
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.checks import check_like
from latopo.nn.neighborhoods import Neighborhoods, as_neighborhoods

__all__ = ["CellConv"]


class CellConv(nn.Module):
    r"""Convolution of edge features over the upper and lower neighbours of each edge (equation 15).

    .. math::
        \mathbf{x}_{1,out}(e) = \sum_{f \in \mathcal{N}_u(e)} a_{u}(e,f)\,\mathbf{x}_1(f)\mathbf{W}_u
        + \sum_{f \in \mathcal{N}_d(e)} a_{d}(e,f)\,\mathbf{x}_1(f)\mathbf{W}_d + \mathbf{x}_1(e)\mathbf{W}

    (the paper prints :math:`\mathbf{x}_1(j)` in the skip term; its index is that of the edge itself). Upper neighbours
    share a polygon and count once for each shared one, lower neighbours share a node. As in a GCN
    :math:`a(e,f) = w / \sqrt{d(e)\,d(f)}` with the degrees :math:`d(e) = 1 + \sum_f w(e,f)`. The weight w of a lower
    neighbour is its edge weight. That of an upper neighbour is the weight of the shared polygon, times the smallest
    edge weight on its boundary: a polygon fades out with any of its edges, as it would vanish with it.

    Args:
        in_channels: F_in.
        out_channels: F_out.
        bias: whether a bias is added.

    Shapes:
        - **x**: [E, F_in], **cells**: a complex or its neighbourhoods, **edge_weight**: [E] or None,
          **polygon_weight**: [P] or None, both with a complex only
        - **output**: [E, F_out]

    Example:
        >>> import torch
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> CellConv(4, 8)(torch.ones(3, 4), triangle).shape
        torch.Size([3, 8])
    """

    @checked
    def __init__(self, in_channels: Size, out_channels: Size, bias: bool = True) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.upper = nn.Linear(in_channels, out_channels, bias=False)
        self.lower = nn.Linear(in_channels, out_channels, bias=False)
        self.skip = nn.Linear(in_channels, out_channels, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot weights, zero bias."""
        for linear in (self.upper, self.lower, self.skip):
            nn.init.xavier_uniform_(linear.weight)
        if self.skip.bias is not None:
            nn.init.zeros_(self.skip.bias)

    @checked
    def forward(
        self,
        x: Tensor,
        cells: CellComplex | Neighborhoods,
        edge_weight: Tensor | None = None,
        polygon_weight: Tensor | None = None,
    ) -> Tensor:
        """Convolve the edge features x over a complex with these weights, or over neighbourhoods that have theirs."""
        if x.dim() != 2 or x.size(1) != self.in_channels:
            raise LatopoError(
                f"CellConv: x has shape {list(x.shape)}, expected [edges, in_channels={self.in_channels}]"
            )
        check_like("CellConv", x, self.skip.weight)
        upper, lower = as_neighborhoods(cells, edge_weight, polygon_weight).edges(x)
        return self.upper(upper) + self.lower(lower) + self.skip(x)

    def extra_repr(self) -> str:
        """Channels."""
        return f"{self.in_channels}, {self.out_channels}"
