"""Compiled writing of the cycles that a search meets: those whose ranks are wanted, smallest name first."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from latopo._numba import UNCOUNTED, njit
from latopo.cycles.simple_graph import IntArray

CountArray = npt.NDArray[np.int32]
WordArray = npt.NDArray[np.uint64]
NEVER = np.iinfo(np.int64).max


class Output(NamedTuple):
    """Which of the cycles met are written, and where.

    Attributes:
        wanted: [max_length + 1], the rank of the next cycle to write, ``NEVER`` if there is none.
        cursor: [max_length + 1], the number of that cycle among those to write.
        stop: [max_length + 1], where the cycles to write end.
        picks: the ranks of the cycles to write, ascending; empty if all are.
        offset: [max_length + 1], where in ``rows`` the next cycle goes.
        rows: flat storage of the cycles.
        label: [N], the caller's names of the vertices.
        tally: [positions, max_length + 1], the cycles of each first step by length; empty if nobody wants them.
        counted: whether ``tally`` is known, and what holds no cycle to write can be left out.
    """

    wanted: IntArray
    cursor: IntArray
    stop: IntArray
    picks: IntArray
    offset: IntArray
    rows: IntArray
    label: IntArray
    tally: IntArray
    counted: bool


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def count_ones(word: Any) -> Any:
    # How many bits are set; LLVM makes one instruction of it.
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True, cache=True, **UNCOUNTED)
def write_ends(
    ptr: IntArray, cycle: IntArray, code: CountArray, reach: CountArray, ends: CountArray, rank: int, output: Output
) -> int:
    # `cycle` lacks its last vertex; the choices for it have consecutive ranks, from `rank` on. Returns the rank after.
    length, vertex = cycle.size, cycle[cycle.size - 2]
    wanted, offset, rows, label = output.wanted, output.offset, output.rows, output.label
    cursor, stop, picks = output.cursor, output.stop, output.picks
    for position in range(ptr[vertex], ptr[vertex] + reach[vertex]):
        if code[ends[position]] == 1:
            if wanted[length] == rank:
                cycle[length - 1] = ends[position]
                _write_cycle(cycle, rows, label, wanted, offset, cursor, stop, picks)
            rank += 1
    return rank


@njit(nogil=True, cache=True, **UNCOUNTED)
def write_bits(
    neighbors: IntArray, cycle: IntArray, bits: WordArray, free: WordArray, low: int, rank: int, output: Output
) -> int:
    # The same with the bits of the last vertex but one, those that are free, and the start's neighbours after it.
    length, wanted, offset, rows, label = cycle.size, output.wanted, output.offset, output.rows, output.label
    cursor, stop, picks = output.cursor, output.stop, output.picks
    for word in range(bits.size - 1, low - 1, -1):
        left, bit = bits[word] & free[word], 63
        beyond = rank + count_ones(left)
        while wanted[length] < beyond:
            while not (left >> np.uint64(bit)) & np.uint64(1):
                bit -= 1
            if wanted[length] == rank:
                cycle[length - 1] = neighbors[64 * word + bit]
                _write_cycle(cycle, rows, label, wanted, offset, cursor, stop, picks)
            rank, bit = rank + 1, bit - 1
        rank = beyond
    return rank


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _write_cycle(
    cycle: IntArray, rows: IntArray, label: IntArray, wanted: IntArray, offset: IntArray, cursor: IntArray,
    stop: IntArray, picks: IntArray,
) -> None:  # fmt: skip
    length = cycle.size
    _write_row(cycle, rows, offset[length], label)
    offset[length] += length
    cursor[length] += 1
    wanted[length] = next_rank(cursor[length], stop[length], picks)


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def next_rank(cursor: int, stop: int, picks: IntArray) -> int:
    if cursor == stop:
        return NEVER
    return picks[cursor] if picks.size > 0 else cursor


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _write_row(cycle: IntArray, rows: IntArray, offset: int, label: IntArray) -> None:
    # Smallest name first, then its smaller neighbour.
    length, place = cycle.size, 0
    for other in range(1, length):
        if label[cycle[other]] < label[cycle[place]]:
            place = other
    after, before = cycle[(place + 1) % length], cycle[(place + length - 1) % length]
    step = 1 if label[after] < label[before] else length - 1
    for column in range(length):
        rows[offset + column] = label[cycle[place]]
        place += step
        if place >= length:
            place -= length
