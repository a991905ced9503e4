"""Diffusion over the latent graph, of features, guesses and targets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["RESTART", "diffuse", "diffusion_operator", "spread_targets"]

FloatArray = NDArray[np.floating[Any]]

STEPS, RESTART = 5, 0.2
_SPREAD_STEPS, _SPREAD_RESTART = 50, 0.05


def diffusion_operator(rows: Any, loop: float) -> Any:
    r""":math:`\mathbf{D}^{-1/2}(\mathbf{W} + \ell\mathbf{I})\mathbf{D}^{-1/2}` with W = (P + Pᵀ) / 2, sparse [n, n].

    The loop ℓ (one over the degree) leaves a row without neighbours as it is.

    Example:
        >>> diffusion_operator(sparse.csr_array((2, 2)), 0.1).toarray().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    weight = (rows + rows.T) / 2 + loop * sparse.eye_array(rows.shape[0], dtype=rows.dtype)
    scale = sparse.diags_array(np.asarray(weight.sum(axis=1)).ravel() ** -0.5)
    return sparse.csr_array(scale @ weight @ scale).astype(rows.dtype)


def diffuse(operator: Any, x: FloatArray, steps: int = STEPS, restart: float = RESTART) -> FloatArray:
    r"""The ``steps``-th of :math:`\mathbf{H} \leftarrow (1 - r)\mathbf{A}\mathbf{H} + r\mathbf{X}`, from H = X, [n, d].

    Example:
        >>> diffuse(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0], [0.0]]), steps=1).tolist()
        [[0.2], [0.8]]
    """
    hidden = x
    for _ in range(steps):
        hidden = (1 - restart) * (operator @ hidden) + restart * x
    return hidden


def spread_targets(operator: Any, target: FloatArray) -> FloatArray:
    """Class probabilities by labels that spread far, every class with the same mass, [n, classes]; 0 where none came.

    Args:
        operator: from :func:`diffusion_operator`.
        target: one-hot labels [n, classes], zero rows where there is none.

    Example:
        >>> chain = sparse.csr_array(np.diag(np.ones(3), 1))
        >>> target = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
        >>> spread_targets(diffusion_operator(chain, 0.1), target).argmax(axis=1).tolist()
        [0, 0, 1, 1]
    """
    mass = diffuse(operator, target / np.maximum(target.sum(axis=0), 1), _SPREAD_STEPS, _SPREAD_RESTART)
    mass = mass / np.maximum(mass.sum(axis=0), 1e-12)
    total = mass.sum(axis=1, keepdims=True)
    return np.divide(mass, total, out=np.zeros_like(mass), where=total > 1e-12)


def spread_values(operator: Any, value: FloatArray, known: NDArray[np.bool_]) -> FloatArray:
    """Values by spreading: the mean of the known ones, weighed by what reaches a row, [n]; their plain mean elsewhere.

    Example:
        >>> chain = sparse.csr_array(np.diag(np.ones(2), 1))
        >>> known = np.array([True, False, True])
        >>> np.round(spread_values(diffusion_operator(chain, 0.1), np.array([0.0, 9.0, 2.0]), known)[1], 1)
        np.float64(1.0)
    """
    reached = diffuse(operator, np.column_stack([value * known, known]), _SPREAD_STEPS, _SPREAD_RESTART)
    mean = np.full(len(value), value[known].mean())
    return np.divide(reached[:, 0], reached[:, 1], out=mean, where=reached[:, 1] > 1e-12)
