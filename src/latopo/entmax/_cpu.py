"""The compiled α-entmax of ragged rows, for tensors on the CPU."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from latopo._numba import njit
from latopo._parallel import map_blocks
from latopo.entmax._kernels import alpha_weight, row_probability, row_threshold, row_weight

# Entries (and rows) per block: a millisecond or so of work, well above what starting a thread costs.
_BLOCK = 32_768


def _block_bounds(ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row numbers that cut the rows into blocks of about equal work, however ragged the rows are."""
    # A row counts for its entries and for itself, so that a million empty rows are cut as well.
    work = ptr + np.arange(len(ptr))
    cuts = np.arange(0, work[-1], _BLOCK)
    return np.append(np.unique(np.searchsorted(work, cuts)), len(ptr) - 1)


@njit(nogil=True, cache=True, error_model="numpy")
def _forward_rows(
    scores: NDArray[np.floating],
    ptr: NDArray[np.int64],
    alphas: NDArray[np.float64],
    first: int,
    last: int,
    prob: NDArray[np.floating],
) -> None:
    """Write the probabilities of the rows ``first`` to ``last`` (excluded); ``alphas`` has one entry or one per row."""
    for row in range(first, last):
        alpha = alphas[min(row, alphas.size - 1)]
        anchor, mass = row_threshold(scores, ptr[row], ptr[row + 1], alpha)
        power = mass ** (alpha - 1.0)
        for index in range(ptr[row], ptr[row + 1]):
            if mass > 0.0:
                prob[index] = row_probability(float(scores[index]), anchor, mass, power, alpha - 1.0)
            else:
                prob[index] = mass


@njit(nogil=True, cache=True, error_model="numpy")
def _gradient_at_smallest(prob: NDArray[np.floating], grad_prob: NDArray[np.floating], start: int, stop: int) -> float:
    """The incoming gradient at the row's smallest positive probability."""
    smallest = np.inf
    gradient = 0.0
    for index in range(start, stop):
        if 0.0 < prob[index] < smallest:
            smallest = float(prob[index])
            gradient = float(grad_prob[index])
    return gradient


@njit(nogil=True, cache=True, error_model="numpy")
def _backward_rows(
    prob: NDArray[np.floating],
    grad_prob: NDArray[np.floating],
    ptr: NDArray[np.int64],
    alphas: NDArray[np.float64],
    first: int,
    last: int,
    with_alpha: bool,
    grad_scores: NDArray[np.floating],
    grad_alphas: NDArray[np.float64],
) -> None:
    """Gradients of the rows ``first`` to ``last`` (excluded); ``grad_scores`` comes in as zeros.

    With w = p^(2−α) on the support and ḡ the w-weighted mean of the incoming gradient g, a score gets w (g − ḡ). The
    gradient of α, after cancelling what blows up as α → 1, is −Σ log²(p) ψ((α−1) log p) w (g − ḡ).
    """
    for row in range(first, last):
        alpha = alphas[min(row, alphas.size - 1)]
        # Measured from g at the smallest p: for α > 2 its weight dwarfs the others, and w (g − ḡ) would cancel.
        origin = _gradient_at_smallest(prob, grad_prob, ptr[row], ptr[row + 1])
        weights = 0.0
        weighted = 0.0
        for index in range(ptr[row], ptr[row + 1]):
            if prob[index] != 0.0:
                weight = row_weight(float(prob[index]), alpha)
                weights += weight
                weighted += weight * (float(grad_prob[index]) - origin)
                grad_scores[index] = weight
        for index in range(ptr[row], ptr[row + 1]):
            if prob[index] != 0.0:
                grad_score = float(grad_scores[index]) * (float(grad_prob[index]) - origin - weighted / weights)
                grad_scores[index] = grad_score
                if with_alpha:
                    grad_alphas[row] -= alpha_weight(float(prob[index]), alpha) * grad_score


def forward(scores: Tensor, ptr: Tensor, alpha: Tensor) -> Tensor:
    """Probabilities of contiguous float32 or float64 ``scores``; ``alpha`` is ``[1]`` or ``[R]``."""
    prob = torch.empty_like(scores)
    bounds = _block_bounds(ptr.numpy())
    arrays = scores.numpy(), ptr.numpy(), alpha.double().numpy()

    def solve(block: int, next_block: int) -> None:
        _forward_rows(*arrays, bounds[block], bounds[next_block], prob.numpy())

    map_blocks(solve, len(bounds) - 1, 1)
    return prob


def backward(prob: Tensor, grad_prob: Tensor, ptr: Tensor, alpha: Tensor, with_alpha: bool) -> tuple[Tensor, Tensor]:
    """Gradients by the scores and, per row, by α (zeros unless ``with_alpha``)."""
    grad_scores = torch.zeros_like(prob)
    grad_alphas = torch.zeros(len(ptr) - 1, dtype=torch.float64)
    bounds = _block_bounds(ptr.numpy())
    arrays = prob.numpy(), grad_prob.numpy(), ptr.numpy(), alpha.double().numpy()

    def solve(block: int, next_block: int) -> None:
        first, last = bounds[block], bounds[next_block]
        _backward_rows(*arrays, first, last, with_alpha, grad_scores.numpy(), grad_alphas.numpy())

    map_blocks(solve, len(bounds) - 1, 1)
    return grad_scores, grad_alphas
