r"""The Hodge decomposition of a signal on edges.

.. math::
    \mathbf{x} = \underbrace{B_1^\top \boldsymbol\varphi}_{gradient} + \underbrace{B_2 \boldsymbol\psi}_{curl} +
    \underbrace{\mathbf{h}}_{harmonic}, \qquad B_1 \mathbf{h} = 0, \; B_2^\top \mathbf{h} = 0

The three parts are orthogonal, so the first two are least-squares fits, each by itself. With edge weights w the inner
product is :math:`\sum_e w_e x_e y_e`, the curl part :math:`W^{-1} B_2 \boldsymbol\psi`, and the harmonic part has
:math:`B_1 W \mathbf{h} = 0`. In :math:`\sqrt{w}\,\mathbf{x}` that is the plain problem for :math:`B_1 \sqrt{W}` and
:math:`\sqrt{W}^{-1} B_2`. Weights of polygons would change :math:`\boldsymbol\psi` and none of the parts.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from latopo._arguments import checked
from latopo.complex.adjacency import check_node_rows
from latopo.complex.cell_input import ArrayLike
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["HodgeDecomposition", "hodge_decomposition"]

Floats = NDArray[np.float64]

_MAX_ITERATIONS = 20_000
_MAX_BAND = 3e7  # entries of a factor: 240 MB
_MAX_OPERATIONS = 1e10  # of a factorisation: some seconds


class HodgeDecomposition(NamedTuple):
    """The parts of an edge signal, each of its shape: their sum is the signal.

    Attributes:
        gradient: differences of a potential on the nodes, B₁ᵀφ.
        curl: circulations around polygons, B₂ψ.
        harmonic: the rest: flows around holes, without sources and without circulation around any polygon.
    """

    gradient: Tensor
    curl: Tensor
    harmonic: Tensor


@checked
def hodge_decomposition(
    cx: "CellComplex", x: ArrayLike, edge_weight: ArrayLike | None = None, *, tolerance: float = 1e-10
) -> HodgeDecomposition:
    """Split a signal on the edges, [E] or [E, d], into gradient, curl and harmonic part.

    The signal of an edge u < v is positive from u to v. Computed by conjugate gradients on the CPU in double precision;
    no gradient flows back.

    Args:
        cx: the complex.
        x: [E] or [E, d], a tensor, an array or a list.
        edge_weight: [E], positive; the weights of the inner product in which the parts are orthogonal.
        tolerance: of the residual of the normal equations, relative to the norms of matrix and signal.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]])
        >>> parts = triangle.hodge_decomposition(torch.tensor([1.0, 0.0, 0.0]))
        >>> parts.gradient, parts.curl
        (tensor([ 0.6667,  0.3333, -0.3333]), tensor([ 0.3333, -0.3333,  0.3333]))
    """
    check_node_rows("hodge_decomposition", cx)
    x = torch.as_tensor(x)
    signal, root = _read_signal(cx, x), _read_weight(cx, edge_weight)
    scaled = (signal if signal.ndim == 2 else signal[:, None]) * root
    first, second = (_to_scipy(cx.boundary(rank, torch.float64)) for rank in (1, 2))
    gradient = _project(first.T.multiply(root).tocsr(), scaled, tolerance)
    curl = _project(second.multiply(1 / root).tocsr(), scaled, tolerance)
    parts = (gradient, curl, scaled - gradient - curl)
    return HodgeDecomposition(*(torch.from_numpy((part / root).reshape(signal.shape)).to(x) for part in parts))


def _read_signal(cx: "CellComplex", x: Tensor) -> Floats:
    if not x.is_floating_point() or x.dim() not in (1, 2) or x.size(0) != cx.num_edges:
        raise LatopoError(
            f"CellComplex.hodge_decomposition: x must be floating point of shape [{cx.num_edges}] or "
            f"[{cx.num_edges}, d], got {x.dtype} {list(x.shape)}"
        )
    signal = x.detach().to("cpu", torch.float64).numpy()
    if not np.isfinite(signal).all():
        raise LatopoError("CellComplex.hodge_decomposition: x has entries that are not finite")
    return signal


def _read_weight(cx: "CellComplex", edge_weight: ArrayLike | None) -> Floats:
    """Square roots of the weights, [E, 1]."""
    if edge_weight is None:
        return np.ones((cx.num_edges, 1))
    weight = torch.as_tensor(edge_weight).detach().to("cpu", torch.float64).numpy()
    if weight.shape != (cx.num_edges,) or not (np.isfinite(weight) & (weight > 0)).all():
        raise LatopoError(
            f"CellComplex.hodge_decomposition: edge_weight must be finite and positive of shape [{cx.num_edges}], got "
            f"shape {list(weight.shape)}{f', smallest {weight.min():.3g}' if weight.size else ''}; leave edges of "
            "weight 0 out"
        )
    return np.sqrt(weight)[:, None]


def _to_scipy(matrix: Tensor) -> Any:
    return csr_array((matrix.values().cpu().numpy(), matrix.indices().cpu().numpy()), shape=tuple(matrix.shape))


def _project(matrix: Any, x: Floats, tolerance: float) -> Floats:
    """The orthogonal projection of the columns of x onto the column space of a sparse matrix.

    Conjugate gradients on the normal equations, all columns at once.
    """
    fit, rest = np.zeros_like(x), x.copy()
    if 0 in matrix.shape or not x.size:
        return fit
    transposed = matrix.T.tocsr()
    diagonal = transposed.multiply(transposed).sum(axis=1)  # of the normal matrix
    precondition = _preconditioner(matrix, transposed, np.where(diagonal > 0, diagonal, 1.0))
    residual = transposed @ rest
    goal = tolerance * diagonal.max() ** 0.5 * np.linalg.norm(x, axis=0)
    step = precondition(residual)
    size = (residual * step).sum(axis=0)
    for _ in range(_MAX_ITERATIONS):
        open_columns = np.linalg.norm(residual, axis=0) > goal
        if not open_columns.any():
            return fit
        change = matrix @ step
        # A column that is done stays as it is: its next step would be noise divided by noise.
        length = _ratio(size, (change * change).sum(axis=0), open_columns)
        fit += length * change
        rest -= length * change
        residual = transposed @ rest
        better = precondition(residual)
        size, before = (residual * better).sum(axis=0), size
        step = better + _ratio(size, before, open_columns) * step
    raise LatopoError(
        f"CellComplex.hodge_decomposition: not within tolerance={tolerance:g} after {_MAX_ITERATIONS:,} iterations; "
        "raise the tolerance"
    )


def _ratio(above: Floats, below: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=where & (below > 0))


def _preconditioner(matrix: Any, transposed: Any, diagonal: Floats) -> Callable[[Floats], Floats]:
    """The banded Cholesky factors of the normal matrix where the band is narrow, its diagonal otherwise.

    The two complete each other: iterations with the diagonal are many where a graph is long (paths, grids, surfaces),
    and there the band is narrow; where it is wide (expanders, neighbours in many dimensions) they are few.
    """
    if (np.diff(matrix.indptr).astype(float) ** 2).sum() > _MAX_BAND:  # an edge in a thousand polygons, say
        return lambda x: x / diagonal[:, None]
    normal = (transposed @ matrix).tocsr()
    order = reverse_cuthill_mckee(normal, symmetric_mode=True)
    place = np.argsort(order)
    entries = normal.tocoo()
    row, column = place[entries.row], place[entries.col]
    width = int(np.abs(row - column).max(initial=0)) + 1
    if diagonal.size * width > _MAX_BAND or diagonal.size * width**2 > _MAX_OPERATIONS:
        return lambda x: x / diagonal[:, None]
    band = np.zeros((width, diagonal.size))
    lower = row >= column
    band[(row - column)[lower], column[lower]] = entries.data[lower]
    # The matrix may be singular; with a little more on the diagonal it is not, and still nearly the same.
    band[0] += 1e-10 * diagonal[order] + (band[0] == 0)
    factor = cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False)
    return lambda x: cho_solve_banded((factor, True), x[order], check_finite=False)[place]
