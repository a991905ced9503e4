"""Rows from a few candidates each: search, solve, certify; more candidates for the rows that need them.

A pilot of some hundred rows is solved first. It tells how many candidates nearly all rows need, whether rows are too
dense to be searched for at all, and whether cells pay: for certified rows by how many of them the unvisited cells can
be ruled out for, for approximate ones by the share of the neighbours that is found.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from latopo._parallel import row_blocks
from latopo.neighbors.cell_index import CellIndex, cell_count
from latopo.neighbors.certificate import Proof, certified, solve
from latopo.neighbors.flat_index import FlatIndex
from latopo.neighbors.memory import Memory
from latopo.neighbors.scan import EdgeCounter, Piece, Rows, row_pointers
from latopo.neighbors.similarity import Inner

__all__ = ["CandidateSearch", "Outcome", "measured_recall"]

_PILOT = 256  # rows that are looked at first
_PILOT_WIDTH = 513  # and how many candidates they get
_WIDEST = 2048  # candidates a row is searched for at most; beyond, comparing all its pairs is as fast
_ROOM = 1.25  # candidates over what nearly all rows need
_ROOM_TO_MOVE = 2.0  # the same where the points are slow,
_SLOW = 0.2  # moving by less than this share of the horizon from call to call
_BLOCK_ENTRIES = 2**21  # candidates held at a time
_CELLS_FROM = 65_536  # columns from which on certified rows may come from cells
_FEWEST_PROBES = 4
_CELL_COST = 3.0  # time of a distance within a cell over that of one in a matrix product
_TARGET_RECALL = 0.98  # of the pilot; what is measured on other rows may be a little less
_JUDGED = 1000  # rows that the recall is measured on


@dataclass(frozen=True)
class Plan:
    """Where to search, for how many candidates, in how many cells."""

    index: FlatIndex | CellIndex
    width: int
    probes: int = 0


class Outcome(NamedTuple):
    """Support of the rows that could be solved, the rows that are left [L], and how it came about."""

    pieces: list[Piece]
    left: Tensor
    kind: str
    width: int
    reused: int
    certified: int


@dataclass
class CandidateSearch:
    """Finds the support of rows among the nearest columns, and remembers them for the next call if told to.

    Cells are kept in any case, for calls with the same columns.

    Attributes:
        approximate: take rows that the visited cells certify alone, without proof for the others.
        reuse: whether candidates are remembered.
        seed: of the cells.
    """

    approximate: bool = False
    reuse: bool = False
    seed: int = 0
    _memory: Memory | None = field(default=None, repr=False)
    _cells: tuple[Tensor, CellIndex] | None = field(default=None, repr=False)
    _room: float = field(default=_ROOM, repr=False)

    def find(self, rows: Rows, todo: Tensor, counter: EdgeCounter) -> Outcome:
        """Support of the rows numbered ``todo`` [T], ascending; the others are not looked at."""
        pieces, left = self._recall(rows, todo)
        reused, name = todo.numel() - left.numel(), ""
        width = 0 if self._memory is None else self._memory.near.size(1)
        # An approximate search remembers how far it has looked, which proves nothing of the cells it did not visit.
        proven = 0 if self.approximate else reused
        for piece in pieces:
            counter.add(int(piece.counts.sum()))
        plan = self._plan(rows, left) if left.numel() else None
        if plan is not None:
            if self.reuse and self._memory is None:
                self._memory = Memory.empty(rows)
            name, width = "cells" if isinstance(plan.index, CellIndex) else "flat", plan.width
            found, left, newly = self._rounds(rows, left, plan, counter)
            pieces, proven = pieces + found, proven + newly
        return Outcome(pieces, left, name, width, reused, proven)

    def _recall(self, rows: Rows, todo: Tensor) -> tuple[list[Piece], Tensor]:
        """Solve what the remembered candidates are enough for; forget them if that is less than half."""
        memory = self._memory
        if memory is None or not memory.fits(rows):
            self._memory = None
            return [], todo
        # More candidates than a row needs give it a farther horizon, which pays if the points are slow.
        self._room = _ROOM_TO_MOVE if memory.follow(rows) < _SLOW else _ROOM
        pieces, left = [], [todo[:0]]
        for block in _blocks(todo, memory.near.size(1)):
            proof = solve(rows.select(block), memory.near[block])
            good = certified(proof, memory.horizon[block], rows.similarity)
            pieces.append(proof.piece(good, block, store=True))
            left.append(block[~good])
        failed = torch.cat(left)
        if 2 * failed.numel() > todo.numel():
            self._memory = None
            return [], todo
        return pieces, failed

    def _rounds(
        self, rows: Rows, todo: Tensor, plan: Plan, counter: EdgeCounter
    ) -> tuple[list[Piece], Tensor, int]:  # fmt: skip
        """Search the rows, and again with twice as many candidates (and cells) those that are not certified."""
        index, width, probes = plan.index, plan.width, plan.probes
        pieces: list[Piece] = []
        proven = 0
        while todo.numel() and (width <= _WIDEST or width < 2 * index.count):
            found, todo, newly = self._round(rows, todo, Plan(index, width, probes), counter)
            pieces, proven = pieces + found, proven + newly
            width, probes = 2 * width, 2 * probes
            if isinstance(index, CellIndex) and not self.approximate and 4 * probes > index.cells:
                index, width = FlatIndex(rows.columns, index.inner), plan.width
            if width > _WIDEST and index.count > _WIDEST:
                break
        return pieces, todo, proven

    def _round(
        self, rows: Rows, todo: Tensor, plan: Plan, counter: EdgeCounter
    ) -> tuple[list[Piece], Tensor, int]:  # fmt: skip
        pieces, left, proven = [], [todo[:0]], 0
        for block in _blocks(todo, plan.width):
            part = rows.select(block)
            found = plan.index.search(part.points, plan.width, plan.probes)
            proof = solve(part, found.near)
            sure = certified(proof, found.horizon, rows.similarity)
            good = certified(proof, found.reach, rows.similarity) if self.approximate else sure
            if self._memory is not None:
                bound = found.reach if self.approximate else found.horizon
                self._memory.keep(block[good], found.near[good], bound[good])
            counter.add(int(proof.counts[good].sum()))
            pieces.append(proof.piece(good, block, not counter.full))
            left.append(block[~good])
            proven += int(sure[good].sum())
        return pieces, torch.cat(left), proven

    def _plan(self, rows: Rows, todo: Tensor) -> Plan | None:
        """How to search these rows; None if most of them are too dense for it."""
        inner = type(rows.similarity) is Inner
        flat = FlatIndex(rows.columns, inner)
        pilot = rows.select(_spread(todo, _PILOT))
        found = flat.search(pilot.points, _PILOT_WIDTH)
        proof = solve(pilot, found.near)
        good = certified(proof, found.horizon, rows.similarity)
        if not good.any() or good.double().mean() < 0.5:
            return None
        need = torch.where(good, proof.counts, _PILOT_WIDTH).double().quantile(0.98)
        width = 8 * math.ceil((float(need) * self._room + 4) / 8)  # four more: the row itself, and what proves it
        if todo.numel() < 4 * cell_count(flat.count) or flat.count < (1024 if self.approximate else _CELLS_FROM):
            return Plan(flat, width)
        cells = self._cell_index(rows.columns, inner)
        probes = self._probes(pilot, cells, width, proof, good)
        return Plan(flat, width) if probes is None else Plan(cells, width, probes)

    def _probes(self, pilot: Rows, cells: CellIndex, width: int, exact: Proof, good: Tensor) -> int | None:
        """In how many cells to look; None if the flat index is the better choice."""
        options = [_FEWEST_PROBES * 2**step for step in range(16) if _FEWEST_PROBES * 2**step < cells.cells]
        costs = []
        for probes in options:
            found = cells.search(pilot.points, width, probes)
            proof = solve(pilot, found.near)
            if self.approximate and _overlap(proof, exact, good) >= _TARGET_RECALL:
                return probes
            share = float(certified(proof, found.horizon, pilot.similarity).double().mean())
            costs.append(_CELL_COST * probes / cells.cells + 1 - share)
        if self.approximate or min(costs, default=1.0) > 0.5:
            return None
        return options[costs.index(min(costs))]

    def _cell_index(self, columns: Tensor, inner: bool) -> CellIndex:
        """Cells of these columns: those at hand if they are the same, else around the same centroids if reused."""
        centroids = None
        if self._cells is not None and self._cells[0].shape == columns.shape:
            before, index = self._cells
            if index.inner == inner and before.dtype == columns.dtype and torch.equal(before, columns):
                return index
            centroids = index.centroids if self.reuse else None
        index = CellIndex(columns, inner, self.seed, centroids)
        self._cells = columns, index  # at once: queries may come from several threads; prepared, so nobody changes them
        return index


def measured_recall(rows: Rows, searched: Tensor, ptr: Tensor, col: Tensor, width: int) -> float:
    """Share of the neighbours that sampled rows have by an exact search and also have in ``ptr``, ``col``."""
    sample = _spread(searched, _JUDGED)
    part = rows.select(sample)
    found = FlatIndex(rows.columns, type(rows.similarity) is Inner).search(part.points, 2 * width)
    proof = solve(part, found.near)
    good = certified(proof, found.horizon, rows.similarity)
    true = proof.piece(good, sample, store=True)
    starts, counts = ptr[:-1][true.rows], ptr.diff()[true.rows]
    position = torch.arange(int(counts.sum())) + torch.repeat_interleave(starts - row_pointers(counts)[:-1], counts)
    have = torch.repeat_interleave(true.rows, counts) * rows.columns.size(0) + col[position]
    want = torch.repeat_interleave(true.rows, true.counts) * rows.columns.size(0) + true.col
    return float(torch.isin(want, have).double().mean()) if want.numel() else 1.0


def _overlap(found: Proof, exact: Proof, good: Tensor) -> float:
    """Share of the exact support of the good rows that was found."""
    index = torch.arange(good.numel())
    have, want = (proof.piece(good, index, store=True) for proof in (found, exact))
    keys = [torch.repeat_interleave(part.rows, part.counts) * 2**32 + part.col for part in (want, have)]
    return float(torch.isin(*keys).double().mean())


def _spread(rows: Tensor, count: int) -> Tensor:
    """Some of the rows, evenly spaced."""
    step = max(rows.numel() // count, 1)
    return rows[step // 2 :: step][:count] if rows.numel() > count else rows


def _blocks(rows: Tensor, width: int) -> list[Tensor]:
    return [rows[start:stop] for start, stop in row_blocks(rows.numel(), max(_BLOCK_ENTRIES // max(width, 1), 256))]
