"""Which branch to believe: weights from the likelihood of held-out labels, after a temperature per branch."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.semi.linear import softmax

__all__ = ["Judgement", "branch_weights", "judge_classes", "judge_values", "tempered"]

FloatArray = NDArray[np.floating[Any]]

_TEMPERATURES = np.exp(np.linspace(-1.5, 2.5, 17))
_PULL = 0.02


class Judgement(NamedTuple):
    """What held-out labels say of a branch.

    Attributes:
        temperature: factor of its log-probabilities; for values, its standard error.
        loss: mean negative log-likelihood.
        score: accuracy, or R².
    """

    temperature: float
    loss: float
    score: float


def tempered(probability: FloatArray, temperature: float) -> FloatArray:
    """Probabilities [n, k] made surer (above 1) or less sure.

    Example:
        >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(3).tolist()
        [[0.667, 0.333]]
    """
    return softmax(temperature * np.log(np.clip(probability, 1e-6, 1)))


def judge_classes(probability: FloatArray, label: NDArray[np.int64]) -> Judgement:
    """The temperature of 17 that makes the labels [m] likeliest, with a small pull to 1.

    Example:
        >>> timid = np.array([[0.6, 0.4], [0.4, 0.6]])
        >>> judge_classes(timid, np.array([0, 1])).temperature > 1
        True
    """

    def loss(temperature: float) -> float:
        hit = tempered(probability, temperature)[np.arange(len(label)), label]
        return float(-np.log(hit + 1e-9).mean() + _PULL * np.log(temperature) ** 2)

    best = min(_TEMPERATURES, key=loss)
    return Judgement(float(best), loss(best), float((probability.argmax(axis=1) == label).mean()))


def judge_values(guess: FloatArray, value: FloatArray) -> Judgement:
    """The likelihood of values [m] under a normal error of the size that is seen.

    Example:
        >>> judge_values(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])).score
        0.5
    """
    square, total = float(((guess - value) ** 2).mean()), float(((value - value.mean()) ** 2).mean())
    error = np.sqrt(max(square, 1e-12))
    return Judgement(float(error), float(np.log(error) + 0.5), 1 - square / total if total else 0.0)


def branch_weights(losses: FloatArray, count: int, sharpness: float = 1.0) -> FloatArray:
    """Weights that sum to 1: the likelihood of ``count`` held-out labels to the power ``sharpness``, [branches].

    Example:
        >>> branch_weights(np.array([0.1, 0.1, 0.9]), 20).round(2).tolist()
        [0.5, 0.5, 0.0]
    """
    weight = np.exp(-sharpness * count * (losses - losses.min()))
    return weight / weight.sum()
