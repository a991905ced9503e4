"""Message passing between edges and polygons, which have features of their own."""

from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.neighborhoods import Neighborhoods, as_neighborhoods

__all__ = ["PolygonConv"]


class PolygonConv(nn.Module):
    r"""Polygons hear their sides, and edges hear the polygons at them.

    .. math::
        \mathbf{x}_2(c) = \mathrm{ReLU}\left(\frac{1}{|c|}\sum_{e \in c} \mathbf{x}_1(e)\mathbf{W}_2
        + \mathbf{b}_{|c|}\right), \qquad
        \mathbf{x}_{1,out}(e) = \mathbf{x}_1(e)\mathbf{W} + \frac{1}{1 + \sum_{c \ni e} w_c}
        \sum_{c \ni e} w_c\, \mathbf{x}_2(c) \mathbf{W}_1

    with an embedding :math:`\mathbf{b}_k` of the length. The paper has no such features: there a polygon only says
    which edges hear each other (:class:`~latopo.nn.CellConv`).

    Args:
        channels: width of edges and polygons.
        max_length: longest polygon.

    Shapes:
        - **x**: [E, channels], **cells**: a complex or its neighbourhoods
        - **output**: edges [E, channels] and polygons [P, channels], by length, then row

    Example:
        >>> import torch
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> edges, polygons = PolygonConv(4, max_length=6)(torch.ones(3, 4), triangle)
        >>> edges.shape, polygons.shape
        (torch.Size([3, 4]), torch.Size([1, 4]))
    """

    def __init__(self, channels: int, max_length: int) -> None:
        super().__init__()
        if max_length < 3:
            raise LatopoError(f"PolygonConv: polygons have at least 3 sides, got max_length={max_length}")
        self.channels, self.max_length = channels, max_length
        self.sides = nn.Linear(channels, channels, bias=False)
        self.length = nn.Embedding(max_length - 2, channels)
        self.own, self.above = nn.Linear(channels, channels), nn.Linear(channels, channels, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot weights, zero bias and length."""
        for linear in (self.sides, self.own, self.above):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.own.bias)
        nn.init.zeros_(self.length.weight)

    def forward(self, x: Tensor, cells: CellComplex | Neighborhoods) -> tuple[Tensor, Tensor]:
        """Features of the edges, having heard their polygons, and of the polygons."""
        if x.dim() != 2 or x.size(1) != self.channels:
            raise LatopoError(f"PolygonConv: x has shape {list(x.shape)}, expected [edges, channels={self.channels}]")
        neighborhoods = as_neighborhoods(cells)
        mean, length = neighborhoods.sides(x)
        if length.numel() and int(length.max()) > self.max_length:
            raise LatopoError(
                f"PolygonConv: a polygon has {int(length.max())} sides, expected at most max_length={self.max_length}"
            )
        polygons = (self.sides(mean) + self.length(length - 3)).relu()
        total, degree = neighborhoods.above(self.above(polygons))
        return self.own(x) + (total / degree).to(x.dtype), polygons

    def extra_repr(self) -> str:
        """Width and longest polygon."""
        return f"{self.channels}, max_length={self.max_length}"
