r"""When a few candidates are enough: the certificate of a row.

Let a row be solved on a set of candidates, with the threshold τ, so that
:math:`p_j = [(\alpha - 1) s_j - \tau]_+^{1/(\alpha - 1)}`. If every column outside of the set has a similarity of at
most the *horizon* h, and a column at the horizon would get probability 0, then all of them would: adding them with
probability 0 satisfies the optimality conditions of the full row, whose solution is unique. So the row is exact.

A horizon comes from a search (the last of the m nearest, less the rounding of the search; the nearest that an unvisited
cell can hold), or from an earlier one and how far the points have moved since (:mod:`latopo.neighbors.memory`). It is
kept as a Euclidean distance that all outside columns keep at least, or as an inner product that they do not exceed.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from latopo._parallel import map_blocks
from latopo.neighbors import _support, fused
from latopo.neighbors.scan import Piece, Rows
from latopo.neighbors.similarity import Euclidean, Inner, Similarity

__all__ = ["Proof", "certified", "solve"]

_BLOCK = 1024  # rows a thread takes at a time


class Proof(NamedTuple):
    """Rows solved on their candidates.

    Attributes:
        counts: how many candidates have positive probability, int64 [R].
        top: the largest similarity, [R].
        edge: the similarity up to which a further column would have probability 0, float64 [R].
        support: the columns of positive probability, ascending, in the first ``counts`` places, int32 [R, k].
    """

    counts: Tensor
    top: Tensor
    edge: Tensor
    support: Tensor

    def piece(self, accepted: Tensor, rows: Tensor, store: bool) -> Piece:
        """The accepted rows, whose numbers are ``rows[accepted]``; without their columns if not ``store``."""
        counts = self.counts[accepted]
        if not store:
            return Piece(rows[accepted], counts, self.top[accepted], torch.empty(0, dtype=torch.int64))
        inside = torch.arange(self.support.size(1)) < counts[:, None]
        return Piece(rows[accepted], counts, self.top[accepted], self.support[accepted][inside].long())


def solve(rows: Rows, near: Tensor) -> Proof:
    """Solve each row on its candidates ``near`` (−1: none), int32 [R, k].

    Example:
        >>> from dataclasses import replace
        >>> x = torch.tensor([[0.0], [1.0], [1.5], [9.0]])
        >>> rows = replace(Rows.of(x[:1], x[1:], Euclidean(), 1.0, 2.0), deviation=torch.tensor([1.0]))
        >>> proof = solve(rows, near=torch.tensor([[0, 1]], dtype=torch.int32))
        >>> proof.counts.tolist(), proof.edge.tolist()  # nothing beyond a distance of 1.75 can matter
        ([2], [-1.75])
        >>> certified(proof, torch.tensor([1.5]), Euclidean()), certified(proof, torch.tensor([9.0]), Euclidean())
        (tensor([False]), tensor([True]))
    """
    count, width = near.shape
    proof = Proof(
        torch.zeros(count, dtype=torch.int64),
        torch.zeros(count, dtype=rows.points.dtype),
        torch.zeros(count, dtype=torch.float64),
        torch.empty(count, width, dtype=torch.int32),
    )
    points, columns, own, deviation = map(fused.as_array, (rows.points, rows.columns, rows.own, rows.deviation))
    kind, candidates, alpha = fused.KIND[type(rows.similarity)], near.numpy(), rows.alpha.double().numpy()
    counts, top, edge, support = (part.numpy() for part in proof)

    def block(start: int, stop: int) -> None:
        part = slice(start, stop)
        _support.support_rows(
            points[part], columns, own[part], kind, candidates[part], rows.gain, alpha[part], deviation[part],
            top[part], edge[part], counts[part], support[part],
        )  # fmt: skip

    map_blocks(block, count, _BLOCK)
    return proof


def certified(proof: Proof, horizon: Tensor, similarity: Similarity) -> Tensor:
    """Whether a column at the horizon [R] would have probability 0, bool [R]."""
    limit = horizon.double()
    if type(similarity) is not Inner:
        limit = -limit if type(similarity) is Euclidean else -limit.square()
    return limit <= proof.edge
