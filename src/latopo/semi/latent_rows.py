"""The latent graph of the input: sparse α-entmax rows, one gain for all of them that holds the mean degree."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from latopo._parallel import row_blocks
from latopo.entmax import segment_entmax
from latopo.neighbors import get_similarity

__all__ = ["ALPHA", "LatentRows", "Nearest", "edges_of", "join_rows", "latent_rows", "nearest"]

ALPHA = 1.5
_BLOCK = 512
# Candidates per wanted neighbour: enough for every row's support at the mean degree, but for cliques of equal rows.
_CANDIDATES = 6
_LEAST_GAIN, _MOST_GAIN, _HALVINGS = 0.05, 1000.0, 14
_LEAST_DEVIATION = 1e-6
_SPARSE = 0.05  # share of entries from which on the dense product is faster


class Nearest(NamedTuple):
    """The most similar columns of each row.

    Attributes:
        score: standardised similarities (z_ij − μ_i) / σ_i, descending, [n, m].
        column: whose, int64 [n, m].
        deviation: σ_i; 0 in a constant row, [n].
    """

    score: Tensor
    column: Tensor
    deviation: Tensor

    def entmax(self, gain: float, width: int) -> Any:
        """The rows as a sparse matrix [n, width]; a constant row chooses nobody."""
        count, candidates = self.score.shape
        ptr = torch.arange(count + 1) * candidates
        prob = segment_entmax(gain * self.score.reshape(-1), ptr, ALPHA).reshape(count, candidates)
        prob = prob * (self.deviation > 0)[:, None]
        chosen = prob > 0
        ptr = torch.cat([ptr[:1], chosen.sum(dim=1).cumsum(0)])
        return sparse.csr_array((prob[chosen].numpy(), self.column[chosen].numpy(), ptr.numpy()), (count, width))


def nearest(points: Any, similarity: str, count: int, anchors: Any = None) -> Nearest:
    """The ``count`` most similar anchors of each point, the point itself left out where points look at each other.

    Mean and deviation are those over *all* others, in one pass over blocks of rows.

    Args:
        points: [n, d], dense or, for inner products, sparse CSR.
        similarity: ``"inner"`` or ``"euclidean"``, as in :func:`latopo.entmax_neighbors`.
        count: how many.
        anchors: [m, d]; by default the points themselves.

    Example:
        >>> nearest(np.array([[0.0], [1.0], [3.0], [3.5]]), "euclidean", 1).column.flatten().tolist()
        [1, 0, 3, 2]
    """
    among = _fast(points if anchors is None else anchors.astype(np.float64))
    others = among.shape[0] - (anchors is None)
    parts = []
    for start, stop in row_blocks(points.shape[0], _BLOCK):
        z = _pairwise(points[start:stop].astype(among.dtype), among, similarity)
        own = (torch.arange(stop - start), torch.arange(start, stop))
        if anchors is None:
            z[own] = 0
        mean = z.sum(dim=1, keepdim=True) / others
        deviation = (z.square().sum(dim=1, keepdim=True) / others - mean.square()).clamp(min=0).sqrt()
        if anchors is None:
            z[own] = -torch.inf
        top, column = z.topk(min(count, others), dim=1)
        score = (top - mean) / deviation.clamp(min=_LEAST_DEVIATION)
        parts.append((score, column, torch.where(deviation > _LEAST_DEVIATION, deviation, 0.0)[:, 0]))
    return Nearest(*(torch.cat(part) for part in zip(*parts, strict=True)))


def _fast(points: Any) -> Any:
    """Sparse points with many entries as a dense array."""
    dense = sparse.issparse(points) and points.nnz > _SPARSE * math.prod(points.shape)
    return points.toarray() if dense else points


def _pairwise(points: Any, among: Any, similarity: str) -> Tensor:
    if sparse.issparse(among):
        return torch.from_numpy((points @ among.T).toarray())
    rows = points.toarray() if sparse.issparse(points) else points
    return get_similarity(similarity).pairwise(torch.from_numpy(rows), torch.from_numpy(among))


class LatentRows(NamedTuple):
    """The rows of the latent graph.

    Attributes:
        rows: p_i, sparse [n, n]; each sums to 1, or is empty where all others are equally similar.
        gain: γ at which a row has ``degree`` entries on average.
        degree: that degree.
        near: the candidates and their scores.
    """

    rows: Any
    gain: float
    degree: int
    near: Nearest


def latent_rows(points: Any, similarity: str, degree: int) -> LatentRows:
    r"""Every point chooses its neighbours by :math:`\boldsymbol{\alpha}_{ENT}(\gamma(\mathbf{z}_i - \mu_i)/\sigma_i)`.

    The gain γ is found by bisection on the candidates of one search. At most a third of the others are wanted.

    Example:
        >>> x = np.random.RandomState(0).randn(200, 2)
        >>> found = latent_rows(x, "euclidean", degree=5)
        >>> round(found.rows.nnz / 200, 1), bool(np.allclose(found.rows.sum(axis=1), 1))
        (5.0, True)
    """
    degree = max(min(degree, (points.shape[0] - 1) // 3), 1)
    near = nearest(points, similarity, _CANDIDATES * degree)
    wanted = degree * int((near.deviation > 0).sum())
    low, high = math.log(_LEAST_GAIN), math.log(_MOST_GAIN)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rows = near.entmax(math.exp(middle), points.shape[0])
        low, high = (middle, high) if rows.nnz > wanted else (low, middle)
    return LatentRows(rows, math.exp(middle), degree, near)


def join_rows(points: Any, anchors: Any, similarity: str, gain: float, degree: int) -> Any:
    """Rows of new points over the fitted ones [q, n] at their gain, each on its own, in double precision.

    Example:
        >>> fitted = np.array([[0.0], [1.0], [3.0]])
        >>> join_rows(np.array([[2.8]]), fitted, "euclidean", gain=5.0, degree=1).toarray().tolist()
        [[0.0, 0.0, 1.0]]
    """
    return nearest(points, similarity, _CANDIDATES * degree, anchors).entmax(gain, anchors.shape[0])


def edges_of(rows: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The undirected edges u < v [2, E] of directed rows, and their probabilities (p_i(j) + p_j(i)) / 2.

    Example:
        >>> edges_of(sparse.csr_array(np.array([[0.0, 1.0], [0.5, 0.0]])))[1].tolist()
        [0.75]
    """
    upper = sparse.triu((rows + rows.T) / 2, k=1).tocoo()
    order = np.lexsort((upper.col, upper.row))
    edges = np.stack([upper.row[order], upper.col[order]]).astype(np.int64)
    return edges, upper.data[order]
