"""Compiled search for chordless cycles: induced paths grow from their smallest vertex until they close.

Every cycle is met exactly once: as the path ``start, second, ..., last`` from its smallest vertex, in the direction in
which ``second < last``. Work is cut at the positions of ``col``, each the first step ``start → second`` of a search, so
that the searches from one hub can run on several threads. What the functions share:

- ``ptr``, ``col``: the rows of a :class:`~latopo.cycles.simple_graph.SimpleGraph`; they ascend, so the neighbours after
  a given vertex are the tail of a row, read from its end.
- ``path`` [max_length]: the induced path; ``position`` [max_length]: for each of its vertices the position tried last.
- ``code`` [N]: 2 · (neighbours on the path, its start and end left out) + (1 if a neighbour of the start). The path may
  close at a vertex of code 1, and may grow to one of code 0, without making a chord.
- ``reach`` [N]: how many vertices at which the path may close (neighbours of the start after the second) are adjacent.
- ``ends``: which ones these are, descending, those of a vertex from the place on at which its row begins in ``col``.
- ``rank`` [max_length + 1]: how many cycles of each length were met before; entry 0: how many this block met.
- ``at`` [3]: where the search stands: the position of the first step (−1: none yet), the place on the path at which it
  goes on (0: the path is done) and the vertex to put there. All that a search knows is in arrays, so a kernel can
  return after so many ``steps`` (entries of ``col`` and ``ends`` that it read) and go on at the next call: Python
  answers Ctrl-C and keeps count in between.

The arrays are passed one by one, and what runs for each vertex of a path is inlined: numba counts references, with
atomic operations, at each call and each access to a tuple's field. That made the search three to four times slower.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from latopo._numba import njit
from latopo.cycles.simple_graph import IntArray

CountArray = npt.NDArray[np.int32]
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
    """

    wanted: IntArray
    cursor: IntArray
    stop: IntArray
    picks: IntArray
    offset: IntArray
    rows: IntArray
    label: IntArray


class Search(NamedTuple):
    """The state of a search, see above."""

    path: IntArray
    position: IntArray
    code: CountArray
    reach: CountArray
    ends: CountArray
    at: IntArray

    @classmethod
    def begin(cls, ptr: IntArray, max_length: int, first: int) -> "Search":
        """A search whose first step stands from position ``first`` on."""
        path, nodes = np.zeros(max_length, np.int64), ptr.size - 1
        path[0] = np.searchsorted(ptr, first, side="right") - 1
        code, reach, ends = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.empty(ptr[-1], np.int32)
        return cls(path, path.copy(), code, reach, ends, np.array([-1, 0, 0]))


@njit(nogil=True, cache=True)
def search_block(
    ptr: IntArray,
    col: IntArray,
    search: Search,
    first: int,
    last: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
) -> int:
    """Meet every cycle whose first step stands from position ``first`` to before ``last``; stop beyond ``limit``.

    Returns the steps that are left; below 0 the search is not done, and goes on when called again.
    """
    path, position, code, reach, ends, at = search
    for length in range(3, path.size + 1):
        output.wanted[length] = _next_rank(output.cursor[length], output.stop[length], output.picks)
    while path[0] < ptr.size - 1 and ptr[path[0]] < last:
        steps = _search_start(ptr, col, path, position, code, reach, ends, at, first, last, limit, steps, rank, output)
        if rank[0] > limit:
            break
        if steps < 0:
            return steps
        path[0] += 1
    return max(steps, 0)


@njit(nogil=True, cache=True, forceinline=True)
def _search_start(
    ptr: IntArray,
    col: IntArray,
    path: IntArray,
    position: IntArray,
    code: CountArray,
    reach: CountArray,
    ends: CountArray,
    at: IntArray,
    first: int,
    last: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
) -> int:
    start = path[0]
    end, step = ptr[start + 1], at[0]
    if step < 0:
        _add(ptr, col, start, start, code, 1)
        step = end - 1
    # From the largest second vertex down: each then only adds its own neighbours to `reach`.
    while step >= max(first, ptr[start]) and col[step] > start:
        if steps < 0 or rank[0] > limit:
            at[0] = step
            return steps
        if step < last and step < end - 1:
            steps = _search_from(ptr, col, path, position, code, reach, ends, at, col[step], limit, steps, rank, output)
            if at[1] > 0:
                at[0] = step
                return steps
        _add_end(ptr, col, col[step], start, reach, ends)
        steps -= ptr[col[step] + 1] - ptr[col[step]]
        step -= 1
    for done in range(step + 1, end):
        _add(ptr, col, col[done], start, reach, -1)
    _add(ptr, col, start, start, code, -1)
    at[0] = -1
    return max(steps, 0)


@njit(nogil=True, cache=True, forceinline=True)
def _search_from(
    ptr: IntArray,
    col: IntArray,
    path: IntArray,
    position: IntArray,
    code: CountArray,
    reach: CountArray,
    ends: CountArray,
    at: IntArray,
    second: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
) -> int:
    wanted = output.wanted
    place, vertex = (at[1], at[2]) if at[1] > 0 else (1, second)
    while place > 0 and steps >= 0 and rank[0] <= limit:
        steps -= ptr[vertex + 1] - ptr[vertex] + 8  # and what a vertex costs besides
        path[place] = vertex
        length = place + 2
        if reach[vertex] > 0:
            found = _count_ends(ptr, code, reach, ends, vertex)
            if wanted[length] < rank[length] + found:
                _write(ptr, path[:length], code, reach, ends, rank[length], output)
            rank[length] += found
            rank[0] += found
        if length < path.size:
            _add(ptr, col, vertex, path[0], code, 2)
            position[place] = ptr[vertex + 1]
            if length + 1 == path.size:
                found, read = _count_next(ptr, col, code, reach, ends, vertex, path[0])
                steps -= read + 2 * (ptr[vertex + 1] - ptr[vertex])
                if wanted[path.size] < rank[path.size] + found:
                    _write_next(ptr, col, path, code, reach, ends, rank[path.size], output)
                rank[path.size] += found
                rank[0] += found
                position[place] = ptr[vertex]
        else:
            place -= 1
        place, vertex = _next_vertex(ptr, col, path, position, code, place)
    at[1], at[2] = place, vertex
    return steps


@njit(nogil=True, cache=True, forceinline=True)
def _count_ends(ptr: IntArray, code: CountArray, reach: CountArray, ends: CountArray, vertex: int) -> int:
    found = 0
    for position in range(ptr[vertex], ptr[vertex] + reach[vertex]):
        found += code[ends[position]] == 1
    return found


@njit(nogil=True, cache=True, forceinline=True)
def _count_next(
    ptr: IntArray, col: IntArray, code: CountArray, reach: CountArray, ends: CountArray, vertex: int, start: int
) -> tuple[int, int]:
    # The ends of all that may follow the vertex as the last but one, and how many were read. A loop of its own: the
    # search spends its time here.
    found = read = 0
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        other = col[position]
        if other <= start:
            break
        if code[other] == 2 and reach[other] > 0:
            found += _count_ends(ptr, code, reach, ends, other)
            read += reach[other]
    return found, read


@njit(nogil=True, cache=True, forceinline=True)
def _add(ptr: IntArray, col: IntArray, vertex: int, start: int, counter: CountArray, amount: int) -> None:
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        if col[position] <= start:
            break
        counter[col[position]] += amount


@njit(nogil=True, cache=True, forceinline=True)
def _add_end(ptr: IntArray, col: IntArray, vertex: int, start: int, reach: CountArray, ends: CountArray) -> None:
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        other = col[position]
        if other <= start:
            break
        ends[ptr[other] + reach[other]] = vertex
        reach[other] += 1


@njit(nogil=True, cache=True, forceinline=True)
def _next_vertex(
    ptr: IntArray, col: IntArray, path: IntArray, position: IntArray, code: CountArray, place: int
) -> tuple[int, int]:
    # Back along the path from `place` until it may grow: the place and the vertex to put there; place 0 if it is done.
    while place > 0:
        position[place] -= 1
        if position[place] < ptr[path[place]] or col[position[place]] <= path[0]:
            _add(ptr, col, path[place], path[0], code, -2)
            place -= 1
        elif code[col[position[place]]] == 2:  # of all the path, only its end is a neighbour
            return place + 1, col[position[place]]
    return 0, 0


@njit(nogil=True, cache=True)
def _write_next(
    ptr: IntArray, col: IntArray, path: IntArray, code: CountArray, reach: CountArray, ends: CountArray, rank: int,
    output: Output,
) -> None:  # fmt: skip
    vertex = path[path.size - 3]
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        other = col[position]
        if other <= path[0]:
            break
        if code[other] == 2 and reach[other] > 0:
            path[path.size - 2] = other
            rank = _write(ptr, path, code, reach, ends, rank, output)


@njit(nogil=True, cache=True)
def _write(
    ptr: IntArray, cycle: IntArray, code: CountArray, reach: CountArray, ends: CountArray, rank: int, output: Output
) -> int:
    # `cycle` lacks its last vertex; the choices for it have consecutive ranks, from `rank` on.
    wanted, offset, rows, label = output.wanted, output.offset, output.rows, output.label
    cursor, stop, picks = output.cursor, output.stop, output.picks
    length = cycle.size
    vertex = cycle[length - 2]
    for position in range(ptr[vertex], ptr[vertex] + reach[vertex]):
        if code[ends[position]] == 1:
            if wanted[length] == rank:
                cycle[length - 1] = ends[position]
                _write_row(cycle, rows, offset[length], label)
                offset[length] += length
                cursor[length] += 1
                wanted[length] = _next_rank(cursor[length], stop[length], picks)
            rank += 1
    return rank


@njit(nogil=True, cache=True, forceinline=True)
def _next_rank(cursor: int, stop: int, picks: IntArray) -> int:
    if cursor == stop:
        return NEVER
    return picks[cursor] if picks.size > 0 else cursor


@njit(nogil=True, cache=True, forceinline=True)
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


def lexicographic_order(rows: IntArray, num_nodes: int) -> IntArray:
    """The order that sorts ``rows`` [R, k] of numbers below ``num_nodes``: k counting sorts, O(k · (R + num_nodes))."""
    count, columns = rows.shape
    order, other = np.arange(count), np.empty(count, np.int64)
    for column in range(columns - 1, -1, -1):
        _sort_by(rows[:, column], order, np.zeros(num_nodes + 1, np.int64), other)
        order, other = other, order
    return order


@njit(nogil=True, cache=True)
def _sort_by(values: IntArray, order: IntArray, slot: IntArray, out: IntArray) -> None:
    # The order, sorted by the values and stable, into `out`; `slot` is zeros for each value and one more.
    for row in range(values.size):
        slot[values[row] + 1] += 1
    slot[:] = np.cumsum(slot)
    for place in range(order.size):
        value = values[order[place]]
        out[slot[value]] = order[place]
        slot[value] += 1
