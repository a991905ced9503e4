r"""Candidates of an earlier step, and how far their horizon has come nearer since.

Let a row's candidates have the horizon h (every other column was at least that far), and let the points have moved
since: up to a common factor s, point i by :math:`\delta_i = |\mathbf{x}'_i - s\mathbf{x}_i|`, no column by more than Δ.
Then every other column is still at least

.. math::
    h' = s\,h - \delta_i - \Delta

away (triangle inequality). The factor takes out a common growth, which changes no row; a common shift is taken out
before, where it changes nothing. Inner products that were at most h are at most
:math:`s\,t\,h + s|\mathbf{x}_i|\Delta + \delta_i \max_j|\mathbf{y}'_j|`, with factors s of the rows and t of the
columns.

The bound is carried from step to step, so rows may have been searched at different times. Nothing is ever assumed: a
row whose certificate fails under its horizon is searched again.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from latopo.neighbors.scan import Rows
from latopo.neighbors.similarity import Inner

__all__ = ["Memory"]

_WIDEST = 128  # candidates a row that are kept


@dataclass
class Memory:
    """Candidates of all rows at the positions of the last call.

    Attributes:
        points: [N, d], columns: [M, d], own: [N]: the rows of the last call.
        near: candidates, −1: none, int32 [N, k].
        horizon: their horizons, float64 [N]; 0 (inner products: infinity) where nothing is remembered.
        inner: whether horizons are inner products.
    """

    points: Tensor
    columns: Tensor
    own: Tensor
    near: Tensor
    horizon: Tensor
    inner: bool

    @classmethod
    def empty(cls, rows: Rows) -> "Memory":
        """Nothing remembered yet of these rows."""
        inner = type(rows.similarity) is Inner
        near = torch.full((len(rows), 0), -1, dtype=torch.int32)
        horizon = torch.full((len(rows),), torch.inf if inner else 0.0, dtype=torch.float64)
        return cls(rows.points, rows.columns, rows.own, near, horizon, inner)

    def fits(self, rows: Rows) -> bool:
        """Whether these can be the same rows and columns, moved."""
        return (
            self.points.shape == rows.points.shape
            and self.columns.shape == rows.columns.shape
            and self.points.dtype == rows.points.dtype
            and self.inner == (type(rows.similarity) is Inner)
            and torch.equal(self.own, rows.own)
        )

    def follow(self, rows: Rows) -> float:
        """Take the points' present positions, and let the horizons come nearer by as much as they have moved.

        Returns by which share of itself the horizon of the middle row came nearer.
        """
        column_factor = _factor(self.columns, rows.columns)
        row_factor = _factor(self.points, rows.points) if self.inner else column_factor
        moved = _moved(self.columns, rows.columns, column_factor).amax()
        own = _moved(self.points, rows.points, row_factor)
        if self.inner:
            length = row_factor * self.points.double().norm(dim=1)
            longest = rows.columns.double().norm(dim=1).amax()
            nearer, still = length * moved + own * longest, row_factor * column_factor * self.horizon
            self.horizon = still + nearer
        else:
            nearer, still = own + moved, column_factor * self.horizon
            self.horizon = (still - nearer).clamp(min=0)
        self.points, self.columns = rows.points, rows.columns
        return float((nearer / still.abs()).median())

    def keep(self, index: Tensor, near: Tensor, horizon: Tensor) -> None:
        """Remember the candidates of the rows ``index`` [R]; those of a few dense rows are not worth the room."""
        width = near.size(1)
        if width > max(_WIDEST, self.near.size(1)):
            return
        if width > self.near.size(1):
            room = torch.full((self.near.size(0), width - self.near.size(1)), -1, dtype=torch.int32)
            self.near = torch.cat([self.near, room], dim=1)
        self.near[index, :width] = near
        self.near[index, width:] = -1
        self.horizon[index] = horizon


def _factor(before: Tensor, after: Tensor) -> float:
    """The common factor that brings the earlier points nearest to the present ones; 1 if that is not positive."""
    product, square = float((before * after).sum()), float(before.square().sum())
    return product / square if product > 0 and square > 0 else 1.0


def _moved(before: Tensor, after: Tensor, factor: float) -> Tensor:
    """How far each point has moved, float64 [N], with room for the rounding of the difference."""
    room = 4 * torch.finfo(before.dtype).eps
    distance = torch.empty(before.size(0), dtype=torch.float64)
    for old, new, out in zip(before.split(2**16), after.split(2**16), distance.split(2**16), strict=True):
        old, new = factor * old.double(), new.double()
        out.copy_((new - old).norm(dim=1) + room * (new.norm(dim=1) + old.norm(dim=1)))
    return distance
