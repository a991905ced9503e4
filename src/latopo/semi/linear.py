"""Linear heads: logistic regression on soft, weighted labels, and ridge regression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["logistic", "logits", "ridge", "softmax"]

FloatArray = NDArray[np.floating[Any]]


def softmax(z: FloatArray) -> FloatArray:
    """Softmax of every row.

    Example:
        >>> softmax(np.zeros((1, 2))).tolist()
        [[0.5, 0.5]]
    """
    power = np.exp(z - z.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def logits(x: FloatArray, head: FloatArray) -> FloatArray:
    """x [n, d] times the head [d + 1, k], whose last row is the intercept."""
    return x @ head[:-1] + head[-1]


def logistic(
    x: FloatArray, target: FloatArray, weight: FloatArray, c: float, start: FloatArray | None = None, steps: int = 60
) -> FloatArray:
    r"""The head that minimises :math:`-\sum_i w_i \sum_k t_{ik} \log p_{ik} + \|\mathbf{V}\|^2 / (2C)`, by L-BFGS.

    Args:
        x: [n, d].
        target: probabilities of the classes, [n, k].
        weight: of the rows, [n]; those of weight 0 are not looked at.
        c: C; the intercept is not pulled.
        start: a head to begin with.
        steps: most steps of L-BFGS.

    Returns:
        [d + 1, k], the intercept last.

    Example:
        >>> x, target = np.array([[-1.0], [1.0]]), np.eye(2)
        >>> head = logistic(x, target, np.ones(2), c=10.0)
        >>> logits(x, head).argmax(axis=1).tolist()
        [0, 1]
    """
    used = weight > 0
    rows, wanted, weights = np.ascontiguousarray(x[used]), target[used], weight[used][:, None]
    width, classes = x.shape[1], target.shape[1]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        head = flat.reshape(width + 1, classes).astype(x.dtype)
        z = logits(rows, head)
        z -= z.max(axis=1, keepdims=True)
        log = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        slope = weights * (np.exp(log) - wanted)
        gradient = np.vstack([rows.T @ slope + head[:-1] / c, slope.sum(axis=0, keepdims=True)])
        value = -(weights * wanted * log).sum() + (head[:-1] ** 2).sum() / (2 * c)
        return float(value), gradient.ravel().astype(np.float64)

    first = np.zeros((width + 1, classes)) if start is None else start.astype(np.float64)
    found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return found.x.reshape(width + 1, classes).astype(x.dtype)


def ridge(x: FloatArray, value: FloatArray, c: float) -> FloatArray:
    r"""The head [d + 1, 1] that minimises :math:`\sum_i (y_i - \hat y_i)^2 + \|\mathbf{V}\|^2 / C`, exactly.

    Example:
        >>> ridge(np.array([[0.0], [2.0]]), np.array([1.0, 5.0]), c=1e9).round(3).tolist()
        [[2.0], [1.0]]
    """
    center, mean = x.mean(axis=0), value.mean()
    rows = x - center
    if rows.shape[0] < rows.shape[1]:  # the smaller of the two systems
        inner = np.linalg.solve(rows @ rows.T + np.eye(len(rows)) / c, value - mean)
        slope = rows.T @ inner
    else:
        slope = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]) / c, rows.T @ (value - mean))
    return np.append(slope, mean - center @ slope)[:, None]
