"""Self-training: labels first, then labels and diffused, sharpened, balanced guesses of all rows."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from latopo.semi.diffusion import diffuse
from latopo.semi.linear import logistic, logits, softmax

__all__ = ["Balance", "guesses", "row_weights", "self_train", "sharpen"]

FloatArray = NDArray[np.floating[Any]]
Balance = float | Literal["prior"]

_ROUNDS, _GUESS_STEPS = 6, 2
_POWER, _PRIOR_POWER, _SCALINGS = 2, 3, 5
_WARM_STEPS = 15


def sharpen(guess: FloatArray, balance: Balance, prior: FloatArray | None = None) -> FloatArray:
    """Guesses [n, k] made surer, without one class taking all rows.

    Args:
        guess: class probabilities.
        balance: exponent by which the mass of each class is divided out (1: all classes get alike), or ``"prior"``: the
            masses are scaled to known shares.
        prior: these shares, [k].

    Example:
        >>> sharpen(np.array([[0.8, 0.2], [0.6, 0.4]]), balance=1.0).argmax(axis=1).tolist()
        [0, 1]
    """
    if balance != "prior":
        mass: FloatArray = guess**_POWER / guess.sum(axis=0) ** balance
        return mass / mass.sum(axis=1, keepdims=True)
    assert prior is not None
    sure = guess**_PRIOR_POWER
    sure = sure / sure.sum(axis=1, keepdims=True)
    for _ in range(_SCALINGS):
        sure = sure * (prior / sure.mean(axis=0))
        sure = sure / sure.sum(axis=1, keepdims=True)
    return sure


def guesses(
    operator: Any, probability: FloatArray, target: FloatArray, labelled: NDArray[np.int64], balance: Balance,
    prior: FloatArray | None = None,
) -> FloatArray:  # fmt: skip
    """Diffused and sharpened guesses of all rows, [n, k]; labels stay."""
    guess = diffuse(operator, probability, _GUESS_STEPS)
    guess = sharpen(guess / guess.sum(axis=1, keepdims=True), balance, prior).astype(probability.dtype)
    guess[labelled] = target[labelled]
    return guess


def row_weights(count: int, labelled: NDArray[np.int64], rho: float) -> FloatArray:
    """Weight 1 for a label; all rows without one together weigh about ρ times the labels, [n]."""
    weight = np.full(count, rho * len(labelled) / count)
    weight[labelled] = 1
    return weight


def self_train(
    operator: Any, x: FloatArray, target: FloatArray, labelled: NDArray[np.int64], c: float, rho: float,
    balance: Balance, prior: FloatArray | None = None,
) -> FloatArray:  # fmt: skip
    """A logistic head on labels and, in six rounds, on the guesses that it comes to.

    Args:
        operator: the graph that guesses are diffused over.
        x: features [n, d].
        target: one-hot labels [n, k]; rows without a label are not read.
        labelled: numbers of the labelled rows.
        c: C of the head.
        rho: total weight of the guesses, as a multiple of the labels'; 0: no self-training.
        balance, prior: see :func:`sharpen`.

    Example:
        >>> from scipy import sparse
        >>> x = np.array([[-2.0], [-1.5], [1.5], [2.0]])
        >>> target = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
        >>> head = self_train(sparse.eye_array(4), x, target, np.array([0, 3]), c=1.0, rho=2.0, balance=1.0)
        >>> logits(x, head).argmax(axis=1).tolist()
        [0, 0, 1, 1]
    """
    head = logistic(x, target, row_weights(len(x), labelled, 0.0).astype(x.dtype), c)
    for _ in range(_ROUNDS if rho else 0):
        guess = guesses(operator, softmax(logits(x, head)), target, labelled, balance, prior)
        head = logistic(x, guess, row_weights(len(x), labelled, rho).astype(x.dtype), c, head, _WARM_STEPS)
    return head
