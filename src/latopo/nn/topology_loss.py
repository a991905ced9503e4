"""The reward that trains 0/1 cells (appendix A of the paper)."""

from typing import Annotated, Literal, NamedTuple

import torch
from torch import Tensor, nn

from latopo._arguments import Bounds, Chance, checked
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.nn.alpha_dgm import LatentGraph

__all__ = ["EdgeForm", "TopologyLoss", "TopologyLossParts"]

EdgeForm = Literal["undirected", "score", "log", "literal"]


class TopologyLossParts(NamedTuple):
    """The two parts of the loss, scalar tensors."""

    edges: Tensor
    polygons: Tensor

    @property
    def total(self) -> Tensor:
        """Their sum."""
        return self.edges + self.polygons


class TopologyLoss(nn.Module):
    r"""Rewards cells around nodes that are predicted better than usual, and penalises the others.

    .. math::
        L_{GL} = \sum_i \delta_i \sum_j p_i(j), \qquad
        L_{PL} = \sum_i \delta_i \sum_{c \ni i} p(c), \qquad \delta_i = \mathbb{E}(a_i) - a_i

    (equations 10, 11 and 13), where :math:`\mathbb{E}(a_i)` is a moving average over the steps in which node i was in
    the mask (equation 12), started at 1 / classes. For classification :math:`a_i` is 1 if the prediction is right and 0
    otherwise; for regression :math:`a_i = 1 - (y_i - \hat y_i)^2 / \mathrm{Var}(y)`, clipped to [−1, 1], started at 0.

    Read literally, the edge loss teaches nothing: :math:`\sum_j p_i(j) = 1` whatever the parameters are. The forms:

    - ``"undirected"``: :math:`\delta_i \sum_{e \ni i} p_e` with :math:`p_e = (p_i(j) + p_j(i)) / 2`; the incoming
      half varies.
    - ``"score"``: :math:`\delta_i` times the mean over the chosen j of :math:`(z_{ij} - \mu_i) / \sigma_i`, the
      analogue of the DGM's unnormalised log-score. It moves the features; gain and α of the α-DGM are not in it.
    - ``"log"``: :math:`\delta_i \sum_j \log p_i(j)`, p at least 1e-6; mostly rewards spread. Kept to show it.
    - ``"literal"``: as printed, without gradient: all there is to it is rounding noise, which Adam turns into drift.

    Args:
        num_nodes: N; the moving averages are kept per node and saved with the module.
        num_classes: number of classes; 0 for regression.
        edge_form: one of the above. All but ``"undirected"`` need the :class:`~latopo.nn.LatentGraph`.
        momentum: μ of equation 12.
        reduction: ``"mean"`` over the nodes in the mask, or ``"sum"`` (the paper's).

    Shapes:
        - **prediction**: [N, classes], or [N] for regression, **y**: [N], **mask**: [N] bool or None
        - **output**: :class:`TopologyLossParts`

    Example:
        >>> complex = CellComplex(2, torch.tensor([[0], [1]]), edge_prob=torch.tensor([0.5]))
        >>> loss = TopologyLoss(num_nodes=2, num_classes=2)
        >>> prediction = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> loss(prediction, torch.tensor([0, 1]), complex)  # both right: δ = 1/2 − 1
        TopologyLossParts(edges=tensor(-0.2500), polygons=tensor(0.))
    """

    average: Tensor

    @checked
    def __init__(
        self,
        num_nodes: Annotated[int, Bounds(0, 2**31)],
        num_classes: Annotated[int, Bounds(0)],
        edge_form: EdgeForm = "undirected",
        momentum: Chance = 0.9,
        reduction: Literal["mean", "sum"] = "mean",
    ) -> None:
        super().__init__()
        self.num_classes, self.edge_form, self.momentum, self.reduction = num_classes, edge_form, momentum, reduction
        self.register_buffer("average", torch.empty(num_nodes))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Forget the averages."""
        self.average.fill_(1 / self.num_classes if self.num_classes else 0.0)

    @checked
    def forward(
        self,
        prediction: Tensor,
        y: Tensor,
        complex: CellComplex,
        mask: Tensor | None = None,
        graph: LatentGraph | None = None,
    ) -> TopologyLossParts:
        """Both parts of the loss; in training mode the averages of the nodes in the mask move on."""
        self._check(prediction, y, complex, mask)
        if mask is None:
            mask = torch.ones(complex.num_nodes, dtype=torch.bool, device=y.device)
        reward = self._reward(prediction.detach(), y, mask)
        count = 1.0 if self.reduction == "sum" else max(int(mask.sum()), 1)
        edges = self._edge_part(reward, complex, graph) / count
        return TopologyLossParts(edges, self._polygon_part(reward, complex) / count)

    def _check(self, prediction: Tensor, y: Tensor, complex: CellComplex, mask: Tensor | None) -> None:
        count = self.average.numel()
        if complex.num_nodes != count:
            raise LatopoError(f"TopologyLoss: made for num_nodes={count}, got a complex of {complex.num_nodes} nodes")
        if y.shape != (count,):
            raise LatopoError(f"TopologyLoss: y has shape {list(y.shape)}, expected [{count}]")
        expected = (count, self.num_classes) if self.num_classes else (count,)
        if prediction.shape != expected and (self.num_classes or prediction.shape != (count, 1)):
            raise LatopoError(f"TopologyLoss: prediction has shape {list(prediction.shape)}, expected {list(expected)}")
        if prediction.dtype == torch.bool or prediction.is_complex():
            raise LatopoError(f"TopologyLoss: prediction must be real numbers, got {prediction.dtype}")
        if mask is not None and (mask.dtype != torch.bool or mask.shape != (count,)):
            raise LatopoError(
                f"TopologyLoss: mask must be bool of shape [{count}], got {mask.dtype} of shape {list(mask.shape)}"
            )

    @torch.no_grad()
    def _reward(self, prediction: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        """δ_i for the nodes in the mask, 0 elsewhere, [N]."""
        if self.num_classes:
            quality = (prediction.argmax(-1) == y).to(self.average.dtype)
        else:
            target, guess = y.to(self.average.dtype), prediction.reshape(y.shape).to(self.average.dtype)
            spread = target[mask].var(correction=0).clamp(min=torch.finfo(target.dtype).tiny)
            quality = (1 - (target - guess).square() / spread).clamp(-1, 1)
        reward = torch.where(mask, self.average - quality, 0.0)
        if self.training:
            moved = self.momentum * self.average + (1 - self.momentum) * quality
            self.average.copy_(torch.where(mask, moved, self.average))
        return reward

    def _edge_part(self, reward: Tensor, complex: CellComplex, graph: LatentGraph | None) -> Tensor:
        if self.edge_form == "undirected":
            if complex.edge_prob is None:
                raise LatopoError("TopologyLoss: the complex has no edge probabilities to reward")
            prob = complex.edge_prob
            return (reward[complex.edge_index].sum(0).to(prob.dtype) * prob).sum()
        if graph is None:
            raise LatopoError(
                f"TopologyLoss: edge_form={self.edge_form!r} needs graph=, the LatentGraph of DCM.infer(x).graph"
            )
        row_reward = reward[graph.row].to(graph.prob.dtype)
        if self.edge_form == "literal":
            return (row_reward * graph.prob.detach()).sum()
        if self.edge_form == "log":
            return (row_reward * graph.prob.clamp(min=1e-6).log()).sum()
        chosen = torch.bincount(graph.row, minlength=complex.num_nodes)
        return (row_reward * graph.score / chosen[graph.row]).sum()

    def _polygon_part(self, reward: Tensor, complex: CellComplex) -> Tensor:
        if complex.polygon_prob is None:
            return reward.new_zeros(())
        inside = [reward[rows].sum(1) for rows in complex.polygons.values()]
        total = torch.cat([reward[:0], *inside]).to(complex.polygon_prob.dtype)
        return (total * complex.polygon_prob).sum()

    def extra_repr(self) -> str:
        """The form."""
        return f"edge_form={self.edge_form!r}, momentum={self.momentum}, reduction={self.reduction!r}"
