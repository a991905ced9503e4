"""From the features of named branches to a prediction."""

from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Head", "WeighedHead"]

# Adam moves a parameter by about its rate in a step; weights of branches may have to change by far more in 100 epochs.
_PACE = 10.0


class Head(nn.Module):
    r"""The sum of the branches' read-outs, :math:`\sum_b \mathbf{X}_b \mathbf{W}_b + \mathbf{b}`.

    Args:
        widths: width of each branch by its name, in the order in which their features stand side by side.
        out_channels: classes, or 1 for regression.

    Shapes:
        - **features**: [N, sum of the widths]
        - **output**: [N, out_channels]

    Example:
        >>> head = Head({"latent": 4, "own": 2}, 3)
        >>> features = torch.ones(5, 6)
        >>> features[:, 4:] = 0
        >>> torch.equal(head.alone(features, "own"), head.linear.bias.expand(5, 3))
        True
    """

    def __init__(self, widths: dict[str, int], out_channels: int) -> None:
        super().__init__()
        ends = accumulate(widths.values())
        self.columns = {name: slice(end - width, end) for (name, width), end in zip(widths.items(), ends, strict=True)}
        self.linear = nn.Linear(sum(widths.values()), out_channels)

    def forward(self, features: Tensor) -> Tensor:
        """Predict from all branches."""
        return self.linear(features)

    def alone(self, features: Tensor, branch: str) -> Tensor:
        """Predict from one branch."""
        return self._read_out(features, branch, self.linear.bias)

    def _read_out(self, features: Tensor, branch: str, bias: Tensor | None = None) -> Tensor:
        columns = self.columns[branch]
        return functional.linear(features[:, columns], self.linear.weight[:, columns], bias)

    def reset_parameters(self) -> None:
        """Initialise the linear map anew."""
        self.linear.reset_parameters()


class WeighedHead(Head):
    r"""A head whose branches have weights, :math:`B \sum_b w_b \mathbf{X}_b \mathbf{W}_b + \mathbf{b}`, w a softmax.

    The prediction passes no gradient to the weights; :meth:`weighed` is the same and passes it to nothing else.
    """

    def __init__(self, widths: dict[str, int], out_channels: int) -> None:
        super().__init__(widths, out_channels)
        self.raw = nn.Parameter(torch.zeros(len(widths)))

    def reset_parameters(self) -> None:
        """Initialise the linear map anew, and weigh all branches alike."""
        super().reset_parameters()
        nn.init.zeros_(self.raw)

    def forward(self, features: Tensor) -> Tensor:
        """Predict from all branches."""
        return (self._factors().detach() * self._scores(features)).sum(dim=0) + self.linear.bias

    def weighed(self, features: Tensor) -> Tensor:
        """The prediction as the weights of the branches see it."""
        return (self._factors() * self._scores(features).detach()).sum(dim=0) + self.linear.bias.detach()

    def branch_weights(self) -> dict[str, float]:
        """The weights by branch; they sum to 1."""
        return dict(zip(self.columns, self._shares().tolist(), strict=True))

    def _shares(self) -> Tensor:
        return functional.softmax(_PACE * self.raw, dim=0)

    def _factors(self) -> Tensor:
        return len(self.columns) * self._shares()[:, None, None]

    def _scores(self, features: Tensor) -> Tensor:
        return torch.stack([self._read_out(features, branch) for branch in self.columns])
