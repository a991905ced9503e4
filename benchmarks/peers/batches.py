"""Many small graphs in one pass: the layer on a batch of point clouds against an EdgeConv on its own neighbours."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from latopo._parallel import one_thread
from latopo.bench.harness import Measurement, race
from latopo.nn import DCM

__all__ = ["DenseEdgeConv", "measure"]

WIDTH = 32
K = 10


class DenseEdgeConv(nn.Module):
    """An EdgeConv (a two-layer MLP of x_i and x_j − x_i, maximum over j) on the k nearest neighbours by ``cdist``.

    All clouds have the same size, so distances and neighbours are dense tensors: the fastest form there is.

    Shapes:
        - **x**: [clouds, points, width]
        - **output**: the same
    """

    def __init__(self, width: int = WIDTH, k: int = K) -> None:
        super().__init__()
        self.k = k
        self.mlp = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Convolve every cloud."""
        with torch.no_grad():
            distance = torch.cdist(x, x)
            distance.diagonal(dim1=1, dim2=2).fill_(torch.inf)
            near = distance.topk(self.k, largest=False).indices
        first = torch.arange(x.size(0))[:, None, None] * x.size(1)
        own = x[:, :, None].expand(-1, -1, self.k, -1)
        other = x.flatten(0, 1).index_select(0, (near + first).flatten()).view_as(own)
        return self.mlp(torch.cat([own, other - own], dim=-1)).amax(dim=2)


def ours(layer: DCM, x: Tensor, batch: Tensor) -> None:
    """Forward and backward of the layer on the whole batch."""
    out, _ = layer(x.flatten(0, 1), batch=batch)
    out.square().sum().backward()


def theirs(layer: nn.Module, x: Tensor) -> None:
    """Forward and backward of the peer."""
    layer(x).square().sum().backward()


def measure(quick: bool = False) -> list[Measurement]:
    """The two bars: at most three times the peer's time."""
    with one_thread():
        return [_compare(*shape, bar=1 / 3) for shape in ([(8, 30), (4, 100)] if quick else [(128, 30), (32, 100)])]


def _compare(clouds: int, points: int, bar: float) -> Measurement:
    torch.manual_seed(0)
    x = torch.randn(clouds, points, WIDTH, requires_grad=True)
    batch = torch.arange(clouds).repeat_interleave(points)
    layer, peer = DCM(WIDTH, WIDTH), DenseEdgeConv()
    sides: list[Callable[[], None]] = [partial(ours, layer, x, batch), partial(theirs, peer, x)]
    for side in sides:
        side()  # compiles
    row = race(
        f"DCM on {clouds} clouds of {points} points, forward + backward",
        sides[0],
        f"EdgeConv on {K} nearest neighbours by cdist",
        sides[1],
        repeats=15,
        bar=bar,
    )
    with torch.no_grad():
        _, cells = layer(x.flatten(0, 1), batch=batch)
    return replace(row, note=f"width {WIDTH}, one thread; {cells.num_edges:,} edges, {cells.num_polygons:,} polygons")
