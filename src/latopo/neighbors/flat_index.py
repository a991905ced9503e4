r"""The nearest columns of each row, exactly, by faiss' flat index, and how far its single precision can be trusted.

faiss ranks by :math:`\hat D_{ij} = |\mathbf{x}_i|^2 + |\mathbf{y}_j|^2 - 2\mathbf{x}_i^\top\mathbf{y}_j` in float32.
With the unit roundoff u = 2⁻²⁴, a sum of d products is off by at most d u times the sum of their sizes, so with
:math:`e(a, b) = 2(d + 8)\,u\,(a + b)^2`

.. math::
    |\hat D_{ij} - D_{ij}| \le e(|\mathbf{x}_i|, |\mathbf{y}_j|),

rounding of double precision coordinates, and the single precision of the kernel that looks at the candidates, included.
Let :math:`\hat D` be the last of the m distances found. A column outside of the list has
:math:`D_{ij} \ge \hat D - e(|\mathbf{x}_i|, |\mathbf{x}_i| + \hat D^{1/2})`: this is clear if :math:`D_{ij} \ge \hat
D`; if not, then :math:`|\mathbf{y}_j| \le |\mathbf{x}_i| + \hat D^{1/2}`, and :math:`\hat D_{ij} \ge \hat D`. The bound
looks at the row's surroundings only: a far outlier does not spoil the others. For inner products the longest column has
to do,
:math:`e = 2(d + 8)\,u\,|\mathbf{x}_i| \max_j |\mathbf{y}_j|`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, NamedTuple

import torch
from torch import Tensor

__all__ = ["FlatIndex", "Nearest", "faiss_session", "rounding", "single"]

# From so many queries on faiss multiplies matrices (its own start is thousands), in blocks of so many queries.
_ALONE = RLock()  # the settings of faiss are those of the process, the probes of an index those of all who search it
_TUNED = {"distance_compute_blas_threshold": 20, "distance_compute_blas_query_bs": 512}


class Nearest(NamedTuple):
    """What a search found.

    Attributes:
        near: numbers of the columns, −1 where there are no more, int32 [R, k].
        reach: every column *looked at* and not listed is at least as far (at most as similar), float64 [R].
        horizon: the same of every column there is, float64 [R].
    """

    near: Tensor
    reach: Tensor
    horizon: Tensor


@contextmanager
def faiss_session() -> Iterator[Any]:
    """The faiss module with torch's number of threads, for one thread at a time; settings are put back afterwards."""
    import faiss

    with _ALONE, _tuned(faiss):
        yield faiss


@contextmanager
def _tuned(faiss: Any) -> Iterator[None]:
    threads, before = faiss.omp_get_max_threads(), {name: getattr(faiss.cvar, name) for name in _TUNED}
    try:
        faiss.omp_set_num_threads(torch.get_num_threads())
        for name, value in _TUNED.items():
            setattr(faiss.cvar, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(faiss.cvar, name, value)
        faiss.omp_set_num_threads(threads)


class FlatIndex:
    """All columns [M, d], to be searched exhaustively by distance or by ``inner`` product.

    Example:
        >>> index = FlatIndex(torch.tensor([[0.0], [1.0], [3.0]]), inner=False)
        >>> found = index.search(torch.tensor([[0.2]]), 2)
        >>> found.near.tolist(), round(found.horizon.item(), 3)
        ([[0, 1]], 0.8)
    """

    def __init__(self, columns: Tensor, inner: bool) -> None:
        self.inner, self.count, self.columns = inner, columns.size(0), single(columns)
        self.longest = float(columns.norm(dim=1).amax()) if inner else 0.0

    def search(self, points: Tensor, count: int, probes: int = 0) -> Nearest:
        """The ``count`` nearest columns of each point (all if there are fewer); ``probes`` is for other indexes."""
        taken = min(count, self.count)
        with faiss_session() as faiss:
            metric = faiss.METRIC_INNER_PRODUCT if self.inner else faiss.METRIC_L2
            found, near = faiss.knn(single(points).numpy(), self.columns.numpy(), taken, metric=metric)
        last = torch.from_numpy(found[:, -1]).double()
        reach = torch.full_like(last, -torch.inf if self.inner else torch.inf)
        if taken < self.count:
            reach = last_reach(points, last, self.inner, self.longest)
        return Nearest(torch.from_numpy(near).int(), reach, reach)


def single(points: Tensor) -> Tensor:
    """The points as faiss takes them: float32, row after row."""
    return points.detach().float().contiguous()


def last_reach(points: Tensor, last: Tensor, inner: bool, longest: float) -> Tensor:
    """From the last value of each list [R] to a bound for what is not in it [R]."""
    length = points.detach().double().norm(dim=1)
    if inner:
        return last + rounding(points.size(1)) * length * longest
    around = length + last.clamp(min=0).sqrt()
    return (last - rounding(points.size(1)) * (length + around).square()).clamp(min=0).sqrt()


def rounding(width: int) -> float:
    """Relative error of a product of ``width`` coordinates in single precision, twice what it can be."""
    return 2 * (width + 8) * 2.0**-24
