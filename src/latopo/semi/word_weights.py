"""A metric that is trained: one weight per word, learned through entmax, diffusion and head, pulled back to 1."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from latopo.data.features import csr_from_scipy
from latopo.entmax import segment_entmax
from latopo.semi.diffusion import RESTART, diffuse
from latopo.semi.latent_rows import ALPHA
from latopo.semi.linear import logistic, logits, softmax
from latopo.semi.self_training import Balance, guesses, row_weights, self_train
from latopo.semi.space import Space

__all__ = ["learn_word_weights"]

FloatArray = NDArray[np.floating[Any]]

_CANDIDATES, _THROUGH = 60, 3
_STEPS, _RATE, _HEAD_RATE, _PULL = 20, 0.1, 0.02, 10.0
_C, _RHO = 1.0, 4.0
_FEATURE_SIZE = 0.06  # spread of the features at which the head's rate suits it


def learn_word_weights(
    space: Space, raw: FloatArray, target: FloatArray, labelled: NDArray[np.int64], prior: FloatArray | None = None
) -> FloatArray:
    r"""Factors :math:`e^{u_f / 2}` of the words, [d], for :math:`s_{ij} = \sum_f e^{u_f} w_{if} w_{jf}`.

    Twenty steps of Adam from u = 0 on

    .. math::
        \min_{\mathbf{u}, \mathbf{V}}\; \mathrm{CE} + \tfrac{1}{2}\|\mathbf{V}\|^2 + 10\,\|\mathbf{u}\|^2

    where the cross-entropy of labels and guesses is that of features diffused over the graph that u gives, each row's
    60 nearest being its candidates. The pull keeps the metric near the given one: trained towards purer edges it loses.

    Args:
        space: of the given metric; its points are sparse.
        raw: features to diffuse, [n, r].
        target: one-hot labels, [n, k].
        labelled: numbers of the labelled rows.
        prior: known shares of the classes, [k].
    """
    balance: Balance = 0.5 if prior is None else "prior"
    head = self_train(space.operator, space.hidden, target, labelled, _C, _RHO, balance, prior)
    guess = guesses(space.operator, softmax(logits(space.hidden, head)), target, labelled, balance, prior)
    weight = row_weights(len(target), labelled, _RHO).astype(raw.dtype)
    centred = raw - raw.mean(axis=0)
    features = (centred / np.abs(centred).std() * _FEATURE_SIZE).astype(np.float32)
    first = logistic(diffuse(space.operator, features), guess, weight, _C)
    graph = _WeighedGraph(space)
    log_weight = torch.zeros(space.fitted.points.shape[1], requires_grad=True)
    v = torch.tensor(first, dtype=torch.float32, requires_grad=True)
    x, q, w = (torch.from_numpy(np.asarray(part, np.float32)) for part in (features, guess, weight))
    optimizer = torch.optim.Adam([{"params": [log_weight], "lr": _RATE}, {"params": [v], "lr": _HEAD_RATE}])
    for _ in range(_STEPS):
        z = graph.diffuse(x @ v[:-1], log_weight) + v[-1]  # diffusion commutes with a linear head
        loss = -(w[:, None] * q * z.log_softmax(dim=1)).sum()
        loss = loss + v[:-1].square().sum() / (2 * _C) + _PULL * log_weight.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (log_weight.detach() / 2).exp().numpy()


class _WeighedGraph:
    """The latent graph as a function of the words' weights, on fixed candidates."""

    def __init__(self, space: Space) -> None:
        near = space.graph.near
        score, column = near.score[:, :_CANDIDATES], near.column[:, :_CANDIDATES]
        self.count, width = score.shape
        self.row, self.column = torch.arange(self.count).repeat_interleave(width), column.flatten()
        points = sparse.csr_array(space.fitted.points)
        shared = sparse.csr_array(points[self.row.numpy()].multiply(points[self.column.numpy()]))
        self.shared, self.transposed = csr_from_scipy(shared), csr_from_scipy(shared.T)
        similarity = torch.from_numpy(np.asarray(shared.sum(axis=1)).reshape(self.count, width))
        # The row's deviation again, from two of its scores: the candidates alone do not have it.
        spread = (score[:, 0] - score[:, -1]).clamp(min=1e-6)
        deviation = ((similarity[:, 0] - similarity[:, -1]) / spread).clamp(min=1e-4)
        self.scale = (space.fitted.gain / deviation).float().repeat_interleave(width)
        self.alive = (near.deviation > 0).repeat_interleave(width)
        self.ptr, self.loop = torch.arange(self.count + 1) * width, 1 / space.fitted.degree

    def diffuse(self, z: Tensor, log_weight: Tensor) -> Tensor:
        """A few steps of diffusion of z [n, k], with gradients to both."""
        similarity: Any = _Product.apply(self.shared, self.transposed, log_weight.exp()[:, None])
        prob = segment_entmax(self.scale * similarity[:, 0], self.ptr, ALPHA) * self.alive
        chosen = prob > 0
        row, column, half = self.row[chosen], self.column[chosen], prob[chosen] / 2
        degree = torch.zeros(self.count).index_add(0, row, half).index_add(0, column, half) + self.loop
        root = degree**-0.5
        weight = (half * root[row] * root[column])[:, None]
        hidden = z
        for _ in range(_THROUGH):
            heard = torch.zeros_like(hidden).index_add(0, row, weight * hidden[column])
            heard = heard.index_add(0, column, weight * hidden[row]) + (self.loop / degree)[:, None] * hidden
            hidden = (1 - RESTART) * heard + RESTART * z
        return hidden


class _Product(torch.autograd.Function):
    """A constant sparse matrix times a dense one."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transposed: Tensor, x: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:  # type: ignore[override]
        return None, None, ctx.transposed @ gradient
