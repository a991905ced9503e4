"""Between nodes and edges: uplift (equation 5) and downlift (equation 9)."""

from typing import Literal

from torch import Tensor, nn

from latopo._arguments import Size, checked
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.neighborhoods import Neighborhoods, as_neighborhoods
from latopo.nn.reset import reset

__all__ = ["Aggregation", "Downlift", "Uplift"]

Aggregation = Literal["sum", "mean", "learnable"]


class _Lift(nn.Module):
    """A choice of ⊕, and for ``"learnable"`` a linear β behind the mean."""

    @checked
    def __init__(self, aggr: Aggregation = "mean", channels: Size | None = None) -> None:
        super().__init__()
        if (aggr == "learnable") != (channels is not None):
            raise LatopoError(
                f"{type(self).__name__}: channels belong to aggr='learnable', got {aggr!r} and {channels}"
            )
        self.aggr = aggr
        self.linear = None if channels is None else nn.Linear(channels, channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise β anew, if there is one."""
        reset(self.linear)

    def _finish(self, x: Tensor) -> Tensor:
        return x if self.linear is None else self.linear(x)

    def extra_repr(self) -> str:
        """The aggregation."""
        return f"aggr={self.aggr!r}"


class Uplift(_Lift):
    r"""Edge features from those of the two ends (equation 5 of the paper).

    .. math::
        \mathbf{x}_1(e) = \beta_1\left(\mathbf{x}_0(u) \oplus \mathbf{x}_0(v)\right), \qquad e = (u, v)

    Args:
        aggr: ``"sum"``, ``"mean"``, or ``"learnable"`` (a linear :math:`\beta_1` behind the mean).
        channels: width of the linear map, with ``"learnable"`` only.

    Shapes:
        - **x**: [N, F], **cells**: a complex or its neighbourhoods
        - **output**: [E, F]

    Example:
        >>> import torch
        >>> edge = CellComplex(2, torch.tensor([[0], [1]]))
        >>> Uplift("sum")(torch.tensor([[1.0], [2.0]]), edge)
        tensor([[3.]])
    """

    def forward(self, x: Tensor, cells: CellComplex | Neighborhoods) -> Tensor:
        """Features of each edge."""
        total = as_neighborhoods(cells).ends(x)
        return self._finish(total if self.aggr == "sum" else total / 2)


class Downlift(_Lift):
    r"""Node features from those of the edges at each node (equation 9 of the paper).

    .. math::
        \mathbf{x}_{0,down}(i) =
        \beta_0\left(\frac{1}{1 + \sum_{e \ni i} w_e}\sum_{e \ni i} w_e\, \mathbf{x}_1(e)\right)

    for ``"mean"`` and ``"learnable"``; ``"sum"`` leaves the fraction out. As in the graph convolution the degree has a
    1 in front: an edge whose weight goes to 0 fades out, and the weight of a node's only edge does not cancel.

    Args:
        aggr: ``"sum"``, ``"mean"``, or ``"learnable"`` (a linear :math:`\beta_0` behind the mean).
        channels: width of the linear map, with ``"learnable"`` only.

    Shapes:
        - **x**: [E, F], **cells**: a complex or its neighbourhoods, **edge_weight**: [E] or None, with a complex only
        - **output**: [N, F]

    Example:
        >>> import torch
        >>> edge = CellComplex(3, torch.tensor([[0], [1]]))
        >>> Downlift("mean")(torch.tensor([[4.0]]), edge)
        tensor([[2.],
                [2.],
                [0.]])
    """

    def forward(self, x: Tensor, cells: CellComplex | Neighborhoods, edge_weight: Tensor | None = None) -> Tensor:
        """Features of each node."""
        total, degree = as_neighborhoods(cells, edge_weight).around(x)
        return self._finish((total if self.aggr == "sum" else total / degree).to(x.dtype))
