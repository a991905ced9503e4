"""What the rows of the Gumbel top-k trick choose, found in a tree of boxes: a row looks at near points only."""

import numpy as np
from torch import Tensor

from latopo._parallel import map_blocks
from latopo.neighbors import _topk_tree, fused
from latopo.neighbors._curved import CurvedPoints
from latopo.neighbors._kernels import IntArray
from latopo.neighbors.tree import box_tree

__all__ = ["TopKTree"]

_WIDEST = 128  # coordinates of a point: the rotation is quadratic in them
_FARTHEST = 1e12  # coordinates whose squares single precision still has
_PILOT = 8  # leaves that are looked at first
_BLOCK = 16  # leaves a thread takes at a time
_BLOCK_PAIRS = 2**22  # and at most so many pairs that are candidates
_BLOCK_MOVES = 2**28  # and of chosen columns, at worst: Ctrl-C waits for a block


class TopKTree:
    """A tree over points [N, d]; a score is minus ``rate``, which is positive, times a squared straight distance.

    The noise is that of :mod:`latopo.neighbors._topk` for this ``seed``, and None is no noise.
    """

    def __init__(self, points: Tensor, rate: float, seed: np.uint64 | None) -> None:
        self.points, self.tree, self.rate = fused.as_array(points), box_tree(points), rate
        self.noise, self.seed = seed is not None, np.uint64(0) if seed is None else seed
        self.relative = (points.size(1) + 16) * 2.0**-24

    @property
    def leaves(self) -> int:
        """How many there are."""
        return len(self.tree.tiles)

    @property
    def block(self) -> int:
        """How many of them to ask :meth:`candidates` for at once."""
        return max(min(_BLOCK, _BLOCK_PAIRS * self.leaves // len(self.points) ** 2), 1)

    @staticmethod
    def serves(points: Tensor) -> bool:
        """Whether far points can be told from near ones in single precision."""
        return 0 < points.size(1) <= _WIDEST and float(points.abs().amax()) < _FARTHEST

    def choose(self, k: int, share: float) -> IntArray | None:
        """Columns of the k largest scores of every row, ascending, [N, k]; None if it looks at more of all pairs.

        Example:
            >>> import torch
            >>> tree = TopKTree(torch.arange(2000.0)[:, None], 1.0, None)
            >>> tree.choose(2, share=0.2)[[0, 1000]].tolist()
            [[1, 2], [999, 1001]]
        """
        count = len(self.points)
        out, looked = np.empty((count, k), np.int64), np.zeros(1, np.int64)

        def block(first: int, last: int, looked: IntArray) -> None:
            _topk_tree.choose_leaves(
                first, last, self.tree, self.points, self.rate, self.relative, self.noise, self.seed, out, looked,
            )  # fmt: skip

        pilot = np.unique(np.linspace(0, self.leaves - 1, _PILOT).astype(int))
        for leaf in pilot:
            block(leaf, leaf + 1, looked)
        if looked[0] > share * len(pilot) / self.leaves * count**2:
            return None
        size = max(min(_BLOCK, _BLOCK_MOVES * self.leaves // (count**2 * k)), 1)
        map_blocks(lambda first, last: block(first, last, np.zeros(1, np.int64)), self.leaves, size)
        return out

    def candidates(
        self, first: int, last: int, k: int, curved: CurvedPoints, room: float
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Columns that may have one of the k largest values, if straight distances, less ``room``, bound the true ones.

        Of the rows of the leaves ``first`` to ``last`` (excluded): their numbers, how many columns each has, and the
        columns, row by row. ``curved`` are the points in the order of the tree.
        """
        count, depth = len(self.points), self.tree.depth
        rows, sizes = self.tree.order[first * count >> depth : last * count >> depth], np.zeros(count, np.int64)
        col = _topk_tree.find_in_leaves(
            first, last, self.tree, curved, room, self.rate, self.relative, self.noise, self.seed, k, sizes
        )
        return rows, sizes[rows], col
