r"""The support of all rows by a walk over a tree of boxes: exact, and fast where the points fill few dimensions.

The support of a row lies within :math:`d_{\min} + \sigma_i / (\gamma(\alpha - 1))` of its point (Euclidean distance),
where :math:`d_{\min}` is the distance of its nearest neighbour. So a row need only look into the boxes that are nearer
than that, and the bound shrinks as nearer points are met. There is nothing to certify. Latent features, though 32 wide,
mostly vary along a few directions; rotated to their principal axes, a few coordinates tell most points apart.

Distances are computed in single precision from rotated coordinates r, with an error of at most
:math:`(d + 16)\,u\,t + 4u|\mathbf{r}_i|` for a distance t and the unit roundoff u = 2⁻²⁴. The bound has room for it,
and who is in the support is decided with the points themselves.
"""

import math

import numpy as np
import torch
from torch import Tensor

from latopo._parallel import map_blocks, row_blocks
from latopo.neighbors import _tree, fused
from latopo.neighbors._kernels import IntArray
from latopo.neighbors.scan import EdgeCounter, Piece, Rows

__all__ = ["box_tree", "tree_scan"]

_LEAF = 64  # points of a leaf, at most
_AXES = 8  # coordinates of a box
_WIDEST = 128  # coordinates of a point; the rotation is quadratic in them
_PILOT = 8  # leaves that are looked at first
_SHARE = 0.2  # of all pairs; beyond, a flat index is faster
_BLOCK = 16  # leaves a thread takes at a time
_BLOCK_TERMS = 2**30  # and at most so many coordinates of pairs: Ctrl-C waits for a block
_SLICE = 2**23  # coordinates that one call looks at while the tree is built


def box_tree(points: Tensor) -> _tree.Tree:
    """The tree of the points [N, d].

    Example:
        >>> box_tree(torch.randn(1000, 3)).tiles.shape
        (16, 3, 63)
    """
    rotated = _principal(points)
    count, width = rotated.shape
    depth = max(math.ceil(math.log2(max(count / _LEAF, 1))), 0)
    leaves, axes = 1 << depth, min(width, _AXES)
    order = np.arange(count)
    for level in range(depth):
        for first, last in row_blocks(1 << level, (_SLICE << level) // (count * axes)):
            _tree.split(rotated, order, level, first, last, axes)
    tiles = np.full((leaves, width, -(-count // leaves)), np.inf, np.float32)
    low, high = (np.zeros((2 * leaves - 1, axes), np.float32) for _ in range(2))
    _tree.fill(rotated, order, depth, tiles, low, high)
    return _tree.Tree(tiles, low, high, order, np.linalg.norm(rotated, axis=1), depth)


def tree_scan(rows: Rows, todo: Tensor, counter: EdgeCounter) -> list[Piece] | None:
    """Support of the rows ``todo`` [T] of points among each other; None if a flat search would be faster.

    Their deviations are known, and α is above 1.

    Example:
        >>> from dataclasses import replace
        >>> from latopo.neighbors.similarity import Euclidean
        >>> x = torch.arange(2000.0)[:, None]
        >>> rows = replace(Rows.of(x, None, Euclidean(), 50.0, 2.0), deviation=torch.full((2000,), 20.0))
        >>> pieces = tree_scan(rows, torch.arange(2000), EdgeCounter(10_000))
        >>> int(sum(piece.counts.sum() for piece in pieces))  # both neighbours of all points but the first and last
        3998
    """
    if not 0 < rows.points.size(1) <= _WIDEST or not todo.numel():
        return None
    walk = _Walk(rows, todo)
    if walk.share() > _SHARE:
        return None

    def block(first: int, last: int) -> Piece:
        piece = walk.piece(first, last, not counter.full)
        counter.add(int(piece.counts.sum()))
        return piece

    terms = math.ceil(_SHARE * _LEAF * rows.points.numel())  # of a leaf
    return map_blocks(block, walk.leaves, min(_BLOCK, _BLOCK_TERMS // terms))


class _Walk:
    """A walk over the tree for some rows."""

    def __init__(self, rows: Rows, todo: Tensor) -> None:
        self.tree, self.gain = box_tree(rows.points), rows.gain
        self.points, self.deviation = map(fused.as_array, (rows.points, rows.deviation))
        self.alpha, self.kind = rows.alpha.double().numpy(), fused.KIND[type(rows.similarity)]
        self.wanted = np.zeros(len(rows), np.bool_)
        self.wanted[todo.numpy()] = True
        self.top, self.counts = np.zeros(len(rows), self.points.dtype), np.zeros(len(rows), np.int64)

    @property
    def leaves(self) -> int:
        return len(self.tree.tiles)

    def share(self) -> float:
        """The share of all pairs that the rows of some leaves look at."""
        pilot, looked = np.unique(np.linspace(0, self.leaves - 1, _PILOT).astype(int)), np.zeros(1, np.int64)
        for leaf in pilot:
            self._scan(leaf, leaf + 1, False, looked)
        rows = sum(int(self.wanted[self._members(leaf, leaf + 1)].sum()) for leaf in pilot)
        return float(looked[0]) / max(rows * len(self.points), 1)

    def piece(self, first: int, last: int, store: bool) -> Piece:
        """Support of the rows of these leaves; without their columns if not ``store``."""
        col = self._scan(first, last, store, np.zeros(1, np.int64))
        ids = self._members(first, last)
        ids = ids[self.wanted[ids]]
        return Piece(*map(torch.from_numpy, (ids, self.counts[ids], self.top[ids], col)))

    def _members(self, first: int, last: int) -> IntArray:
        count, depth = len(self.points), self.tree.depth
        return self.tree.order[first * count >> depth : last * count >> depth]

    def _scan(self, first: int, last: int, store: bool, looked: IntArray) -> IntArray:
        relative = (self.points.shape[1] + 16) * 2.0**-24
        return _tree.scan_leaves(
            first, last, self.tree, self.points, self.kind, self.gain, self.alpha, self.deviation, self.wanted,
            relative, store, self.top, self.counts, looked,
        )  # fmt: skip


def _principal(points: Tensor) -> _tree.Single:
    """The points, centred, along their principal axes, those of most variance first, float32 [N, d]."""
    centred = points.detach().double()
    centred = centred - centred.mean(0)
    axes = torch.linalg.eigh(centred.t() @ centred)[1].flip(1)
    return (centred @ axes).float().contiguous().numpy()
