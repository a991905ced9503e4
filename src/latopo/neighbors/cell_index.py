r"""The nearest columns among those of a few cells, and what the other cells can hold.

The columns are cut into cells around centroids (k-means on a sample, by faiss), and a row looks into the cells whose
centroids are nearest to it. A cell l keeps its radius :math:`r_l = \max_{j \in l} |\mathbf{y}_j - \mathbf{c}_l|`; by
the triangle inequality no column of a cell that was not visited is nearer than

.. math::
    \min_{l\ \text{not visited}} |\mathbf{x}_i - \mathbf{c}_l| - r_l
    \qquad \text{(inner products: at most } \max_l\ \mathbf{x}_i^\top\mathbf{c}_l + |\mathbf{x}_i| r_l \text{)}.

Where clusters lie apart this certifies rows after a few cells. Where they do not, the bound says nothing, and the
answer is as good as the recall that is measured.
"""

import numpy as np
import torch
from torch import Tensor

from latopo._parallel import row_blocks
from latopo.neighbors.flat_index import Nearest, faiss_session, last_reach, rounding, single

__all__ = ["CellIndex", "cell_count"]

_BLOCK_ENTRIES = 2**23  # distances to centroids held at a time
_ITERATIONS = 8
_POINTS_PER_CELL = 64  # of the sample that the centroids are found on


def cell_count(columns: int) -> int:
    """About four times the root of the number of columns, a power of two.

    Example:
        >>> cell_count(1_000_000), cell_count(10)
        (4096, 8)
    """
    return 2 ** max(round(np.log2(4 * max(columns, 1) ** 0.5)), 0) if columns >= 16 else max(min(columns, 8), 1)


class CellIndex:
    """Columns [M, d] in cells, to be searched by distance or by ``inner`` product.

    Args:
        columns: the points.
        inner: whether the largest inner products are wanted, not the smallest distances.
        seed: of the k-means.
        centroids: those of an earlier index, in place of new ones; the cells are those of the present columns.

    Example:
        >>> x = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
        >>> found = CellIndex(x, inner=False).search(x[:2], 4, probes=3)
        >>> found.near[:, 0].tolist()
        [0, 1]
    """

    def __init__(self, columns: Tensor, inner: bool, seed: int = 0, centroids: Tensor | None = None) -> None:
        self.inner, self.count = inner, columns.size(0)
        self.longest = float(columns.norm(dim=1).amax()) if inner else 0.0
        points = single(columns)
        self.centroids = _centroids(points, seed) if centroids is None else centroids
        with faiss_session() as faiss:
            cells = faiss.knn(points.numpy(), self.centroids.numpy(), 1)[1][:, 0].copy()
            quantizer = (faiss.IndexFlatIP if inner else faiss.IndexFlatL2)(points.size(1))
            quantizer.add(self.centroids.numpy())
            metric = faiss.METRIC_INNER_PRODUCT if inner else faiss.METRIC_L2
            self._index = faiss.IndexIVFFlat(quantizer, points.size(1), len(self.centroids), metric)
            self._index.add_core(len(points), faiss.swig_ptr(points.numpy()), None, faiss.swig_ptr(cells))
        self.quantizer = quantizer  # the index does not keep it alive
        self.radius = self._radii(points, torch.from_numpy(cells))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.centroids.size(0)

    def search(self, points: Tensor, count: int, probes: int) -> Nearest:
        """The ``count`` nearest columns of each point among those of the ``probes`` cells it is nearest to."""
        probes = min(probes, self.cells)
        queries = single(points)
        with faiss_session():
            self._index.nprobe = probes
            near_cells, cells = self.quantizer.search(queries.numpy(), probes)
            found, near = self._index.search_preassigned(
                queries.numpy(), min(count, self.count), cells, near_cells
            )  # fmt: skip
        last = torch.from_numpy(found[:, -1]).double()
        everything = -torch.inf if self.inner else torch.inf
        reach = last_reach(points, last, self.inner, self.longest)
        reach[torch.from_numpy(near[:, -1]) < 0] = everything  # the list holds all columns of these cells
        if count >= self.count and probes == self.cells:
            return Nearest(torch.from_numpy(near).int(), reach, torch.full_like(reach, everything))
        beyond = self._beyond(queries, torch.from_numpy(cells))
        horizon = torch.maximum(reach, beyond) if self.inner else torch.minimum(reach, beyond)
        return Nearest(torch.from_numpy(near).int(), reach, horizon)

    def _radii(self, points: Tensor, cells: Tensor) -> Tensor:
        """Distance of each cell's farthest column from its centroid, [cells]."""
        radius = torch.zeros(self.cells)
        for start, stop in row_blocks(len(points), _BLOCK_ENTRIES // points.size(1)):
            part = cells[start:stop]
            distance = (points[start:stop] - self.centroids[part]).norm(dim=1)
            radius.scatter_reduce_(0, part, distance, "amax")
        return radius * (1 + rounding(points.size(1)))

    def _beyond(self, queries: Tensor, visited: Tensor) -> Tensor:
        """A bound for the columns of the cells not visited, float64 [R]."""
        square, error = self.centroids.square().sum(1), rounding(queries.size(1))
        bounds = []
        for start, stop in row_blocks(len(queries), max(_BLOCK_ENTRIES // self.cells, 1)):
            part = queries[start:stop]
            length = part.norm(dim=1, keepdim=True)
            product = part @ self.centroids.t()
            if self.inner:
                bound = product.add_(length * (self.radius + error * square.sqrt()))
                bounds.append(bound.scatter_(1, visited[start:stop], -torch.inf).amax(1))
            else:
                # (a + b)² ≤ 2 (a² + b²), so the error is taken off the two squares.
                shrunk = product.mul_(-2).add_((1 - 2 * error) * square).add_((1 - 2 * error) * length.square())
                bound = shrunk.clamp_(min=0).sqrt_().sub_(self.radius)
                bounds.append(bound.scatter_(1, visited[start:stop], torch.inf).amin(1))
        found = torch.cat(bounds).double()
        return found if self.inner else found.clamp(min=0)


def _centroids(points: Tensor, seed: int) -> Tensor:
    """Centroids of k-means on a sample of the points."""
    with faiss_session() as faiss:
        kmeans = faiss.Kmeans(
            points.size(1), cell_count(len(points)), niter=_ITERATIONS, seed=seed + 1, min_points_per_centroid=1,
            max_points_per_centroid=_POINTS_PER_CELL,
        )  # fmt: skip
        kmeans.train(points.numpy())
    return torch.from_numpy(kmeans.centroids.copy())
