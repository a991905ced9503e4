"""One answer from many: a weight for each branch and a temperature, fitted where their answers can be judged."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["Fusion", "fit_fusion"]

_STEPS = 50
_LEAST = 1e-12


class Fusion(NamedTuple):
    """How branches are fused.

    Attributes:
        weight: of each branch; they sum to 1, [B].
        temperature: factor of the fused log-probabilities; 1 for values.
    """

    weight: Tensor
    temperature: float

    def __call__(self, answers: Tensor) -> Tensor:
        """From log-probabilities or values of each branch, [B, n, k], to those of all, [n, k].

        Example:
            >>> Fusion(torch.tensor([0.5, 0.5]), 1.0)(torch.tensor([[[1.0]], [[3.0]]])).tolist()
            [[2.0]]
        """
        fused = torch.einsum("b,bnk->nk", self.weight.to(answers), answers)
        return fused if answers.size(2) == 1 else (self.temperature * fused).log_softmax(dim=1)


def fit_fusion(answers: Tensor, target: Tensor, num_classes: int, pull: float = 1.0) -> Fusion:
    r"""The weights and the temperature under which judged targets are likeliest.

    Minimises the mean negative log-likelihood of :math:`\mathrm{softmax}(\tau \sum_b w_b \log \mathbf{p}_b)`, or half
    the log of the mean squared error of :math:`\sum_b w_b \mathbf{v}_b`, plus
    :math:`\lambda / m\,(\|\mathbf{u}\|^2 + (\log\tau)^2)`, over :math:`\mathbf{w} = \mathrm{softmax}(\mathbf{u})` and
    τ, by L-BFGS. The pull λ to equal weights keeps a few judged nodes from picking one branch by chance.

    Args:
        answers: log-probabilities [B, m, classes] or values [B, m, 1] of m nodes that the branches did not learn from.
        target: their classes or values, [m].
        num_classes: 0 for values.
        pull: λ.

    Example:
        >>> right, wrong = torch.tensor([[0.9, 0.1]]).log(), torch.tensor([[0.2, 0.8]]).log()
        >>> answers = torch.stack([right, wrong]).repeat(1, 30, 1)
        >>> bool(fit_fusion(answers, torch.zeros(30, dtype=torch.int64), 2).weight[0] > 0.7)
        True
    """
    answers, count = answers.double(), max(target.numel(), 1)
    score = torch.zeros(answers.size(0), dtype=torch.float64, device=answers.device, requires_grad=True)
    heat = torch.zeros((), dtype=torch.float64, device=answers.device, requires_grad=True)
    optimizer = torch.optim.LBFGS([score, heat], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        fused = torch.einsum("b,bnk->nk", score.softmax(0), answers)
        if num_classes:
            fit = functional.cross_entropy(heat.exp() * fused, target)
        else:
            fit = 0.5 * (functional.mse_loss(fused[:, 0], target.double()) + _LEAST).log()
        value = fit + pull / count * (score.square().sum() + heat.square())
        value.backward()
        return value

    if answers.size(0) > 1 or num_classes:
        optimizer.step(loss)
    return Fusion(score.detach().softmax(0), float(heat.detach().exp()))
