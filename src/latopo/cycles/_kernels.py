"""Compiled search for chordless cycles: induced paths grow from their smallest vertex until they close.

Every cycle is met exactly once: as the path ``start, second, ..., last`` from its smallest vertex, in the direction in
which ``second < last``. Work is cut at the positions of ``col``, each the first step ``start → second`` of a search, so
that the searches from one hub can run on several threads. What the functions share:

- ``ptr``, ``col``: the rows of a :class:`~latopo.cycles.simple_graph.SimpleGraph`; they ascend, so the neighbours after
  a given vertex are the tail of a row, read from its end.
- ``path`` [max_length]: the induced path; ``position`` [max_length]: for each of its vertices the position tried last.
- ``code`` [N]: 2 · (neighbours on the path, its start and end left out) + (1 if a neighbour of the start). The path may
  close at a vertex of code 1, and may grow to one of code 0, without making a chord. (While the last vertex but one is
  tried, lists count the path's end as well, so there it is 2; bits do not need that.)
- Which vertices a path may close at (neighbours of the start after the second): one by one or, if ``by_words`` and the
  start has more than a few neighbours after it and not too many, as bits, which are counted by the word (``words``
  above 0):
  - ``reach`` [N]: how many of them are adjacent; ``ends``: which ones, descending, those of a vertex from the place on
    at which its row begins in ``col``.
  - ``bits`` [N, words]: bit i is set if the i-th neighbour of the start after it, at ``later + i`` in ``col``, is
    adjacent. ``free`` [max_length, words]: the bits after the second vertex's that no vertex of the path has, up to
    each place. Words below ``low`` hold none of these.
- ``rank`` [max_length + 1]: how many cycles of each length were met before; entry 0: how many this block met.
- ``at`` [3]: where the search stands: the position of the first step (−1: none yet), the place on the path at which it
  goes on (0: the path is done) and the vertex to put there. All that a search knows is in arrays, so a kernel can
  return after so many ``steps`` (entries of ``col`` and ``ends`` that it read) and go on at the next call: Python
  answers Ctrl-C and keeps count in between.

The arrays are passed one by one, and what runs for each vertex of a path is inlined: calls would take a third of the
time.
"""

from typing import NamedTuple

import numpy as np

from latopo._numba import UNCOUNTED, njit
from latopo.cycles._writing import NEVER, CountArray, Output, WordArray, count_ones, next_rank, write_bits, write_ends
from latopo.cycles.simple_graph import IntArray

_FEW = 32  # neighbours of a start that are as soon looked at one by one
_MOST_WORDS = 8  # a row of ``bits`` is then a line of the cache


class Search(NamedTuple):
    """The state of a search, see above."""

    path: IntArray
    position: IntArray
    code: CountArray
    reach: CountArray
    ends: CountArray
    bits: WordArray
    free: WordArray
    at: IntArray

    @classmethod
    def begin(cls, ptr: IntArray, max_length: int, first: int) -> "Search":
        """A search whose first step stands from position ``first`` on."""
        path, nodes = np.zeros(max_length, np.int64), ptr.size - 1
        path[0] = np.searchsorted(ptr, first, side="right") - 1
        code, reach, ends = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.empty(ptr[-1], np.int32)
        words = min(-(-int(np.diff(ptr).max(initial=0)) // 64), _MOST_WORDS)
        bits, free = np.zeros((nodes, words), np.uint64), np.zeros((max_length, words), np.uint64)
        return cls(path, path.copy(), code, reach, ends, bits, free, np.array([-1, 0, 0]))


@njit(nogil=True, cache=True, **UNCOUNTED)
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
    return _search(ptr, col, search, first, last, limit, steps, rank, output, False)


@njit(nogil=True, cache=True, **UNCOUNTED)
def search_block_by_words(
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
    """The same for graphs with many neighbours; it has more to do where there are few."""
    return _search(ptr, col, search, first, last, limit, steps, rank, output, True)


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _search(
    ptr: IntArray,
    col: IntArray,
    search: Search,
    first: int,
    last: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
    by_words: bool,
) -> int:
    path, position, code, reach, ends, bits, free, at = search
    for length in range(3, path.size + 1):
        output.wanted[length] = next_rank(output.cursor[length], output.stop[length], output.picks)
    while path[0] < ptr.size - 1 and ptr[path[0]] < last:
        steps = _search_start(
            ptr, col, path, position, code, reach, ends, bits, free, at, first, last, limit, steps, rank, output,
            by_words,
        )  # fmt: skip
        if rank[0] > limit:
            break
        if steps < 0:
            return steps
        path[0] += 1
    return max(steps, 0)


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _search_start(
    ptr: IntArray,
    col: IntArray,
    path: IntArray,
    position: IntArray,
    code: CountArray,
    reach: CountArray,
    ends: CountArray,
    bits: WordArray,
    free: WordArray,
    at: IntArray,
    first: int,
    last: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
    by_words: bool,
) -> int:
    start, tally, counted = path[0], output.tally, output.counted
    end, step, noted = ptr[start + 1], at[0], tally.size > 0 and not counted
    later = _first_after(ptr, col, start)
    words = 0
    if by_words and _FEW < end - later <= 64 * bits.shape[1]:
        words = -(-(end - later) // 64)
    if step < 0:
        _add(ptr, col, start, start, code, 1)
        step = end - 1
    # From the largest second vertex down: each then only adds its own neighbours to the ends.
    while step >= max(first, later):
        if steps < 0 or rank[0] > limit:
            at[0] = step
            return steps
        fresh = at[1] == 0
        if step < last and step < end - 1 and not (counted and fresh and _pass_over(tally, step, rank, output.wanted)):
            if noted and fresh:
                _add_ranks(tally, step, rank, -1)
            steps = _search_from(
                ptr, col, path, position, code, reach, ends, bits, free, at, step, later, words, limit, steps, rank,
                output,
            )  # fmt: skip
            if at[1] > 0:
                at[0] = step
                return steps
            if noted:
                _add_ranks(tally, step, rank, 1)
        if words > 0:
            _mark(ptr, col, col[step], start, bits, step - later)
        else:
            _add_end(ptr, col, col[step], start, reach, ends)
        steps -= ptr[col[step] + 1] - ptr[col[step]]
        step -= 1
    for done in range(step + 1, end):
        if words > 0:
            _unmark(ptr, col, col[done], start, bits, done - later)
        else:
            _add(ptr, col, col[done], start, reach, -1)
    _add(ptr, col, start, start, code, -1)
    at[0] = -1
    return max(steps, 0)


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _add_ranks(tally: IntArray, step: int, rank: IntArray, sign: int) -> None:
    # Taken away before the step and added after it: what it has met remains.
    for length in range(3, rank.size):
        tally[step, length] += sign * rank[length]


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _pass_over(tally: IntArray, step: int, rank: IntArray, wanted: IntArray) -> bool:
    # Whether none of the cycles of a step is written; they are then behind us.
    for length in range(3, rank.size):
        if wanted[length] < rank[length] + tally[step, length]:
            return False
    for length in range(3, rank.size):
        rank[length] += tally[step, length]
    return True


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _first_after(ptr: IntArray, col: IntArray, vertex: int) -> int:
    # The position of the vertex's first neighbour after it.
    low, high = ptr[vertex], ptr[vertex + 1]
    while low < high:
        middle = (low + high) // 2
        if col[middle] > vertex:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _search_from(
    ptr: IntArray,
    col: IntArray,
    path: IntArray,
    position: IntArray,
    code: CountArray,
    reach: CountArray,
    ends: CountArray,
    bits: WordArray,
    free: WordArray,
    at: IntArray,
    step: int,
    later: int,
    words: int,
    limit: int,
    steps: int,
    rank: IntArray,
    output: Output,
) -> int:
    wanted, low = output.wanted, (step - later) // 64
    if at[1] > 0:
        place, vertex = at[1], at[2]
    else:
        place, vertex = 1, col[step]
        for word in range(low, words):
            free[0, word] = ~np.uint64(0)
        if words > 0:
            free[0, low] = (~np.uint64(0) << np.uint64((step - later) % 64)) << np.uint64(1)
    while place > 0 and steps >= 0 and rank[0] <= limit:
        steps -= ptr[vertex + 1] - ptr[vertex] + 8  # and what a vertex costs besides
        path[place] = vertex
        length = place + 2
        found = 0
        if words > 0 or reach[vertex] > 0:
            found = _count_ends(ptr, code, reach, ends, bits, free, place - 1, low, words, vertex)
        if wanted[length] < rank[length] + found:
            if words > 0:
                write_bits(col[later:], path[:length], bits[vertex, :words], free[place - 1], low, rank[length], output)
            else:
                write_ends(ptr, path[:length], code, reach, ends, rank[length], output)
        rank[length] += found
        rank[0] += found
        if length == path.size:  # of three
            place -= 1
        else:
            for word in range(low, words):
                free[place, word] = free[place - 1, word] & ~bits[vertex, word]
            position[place] = ptr[vertex + 1]
            if length + 1 < path.size or words == 0:
                _add(ptr, col, vertex, path[0], code, 2)
            if length + 1 == path.size:
                _, found, read = _count_next(
                    ptr, col, code, reach, ends, bits, free, place, low, words, vertex, path[0], position[place], NEVER
                )
                steps -= read + 2 * (ptr[vertex + 1] - ptr[vertex])
                if wanted[path.size] < rank[path.size] + found:
                    _write_next(
                        ptr, col, path, code, reach, ends, bits, free, place, low, later, words, rank[path.size], found,
                        output,
                    )  # fmt: skip
                rank[path.size] += found
                rank[0] += found
                if words == 0:
                    _add(ptr, col, vertex, path[0], code, -2)
                place -= 1
        place, vertex = _next_vertex(ptr, col, path, position, code, place)
    at[1], at[2] = place, vertex
    return steps


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _count_ends(
    ptr: IntArray, code: CountArray, reach: CountArray, ends: CountArray, bits: WordArray, free: WordArray, place: int,
    low: int, words: int, vertex: int,
) -> int:  # fmt: skip
    # At how many vertices a path that has gone on to this vertex from `place` may close.
    found = 0
    if words > 0:
        for word in range(low, words):
            found += count_ones(bits[vertex, word] & free[place, word])
    else:
        for position in range(ptr[vertex], ptr[vertex] + reach[vertex]):
            found += code[ends[position]] == 1
    return found


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _count_next(
    ptr: IntArray, col: IntArray, code: CountArray, reach: CountArray, ends: CountArray, bits: WordArray,
    free: WordArray, place: int, low: int, words: int, vertex: int, start: int, position: int, limit: int,
) -> tuple[int, int, int]:  # fmt: skip
    # The ends of all that may follow the vertex as the last but one, in its row before `position`: where the count
    # would exceed the limit, how many there are before, and how many entries were read. A loop of its own: the search
    # spends its time here.
    found = read = 0
    clear = 0 if words > 0 else 2  # with bits the end is not counted
    for before in range(position - 1, ptr[vertex] - 1, -1):
        other = col[before]
        if other <= start:
            break
        if code[other] == clear:  # of all the path, only its end is a neighbour
            here = _count_ends(ptr, code, reach, ends, bits, free, place, low, words, other)
            if found + here > limit:
                return before, found, read
            found += here
            read += words - low
    return -1, found, read


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _add(ptr: IntArray, col: IntArray, vertex: int, start: int, counter: CountArray, amount: int) -> None:
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        if col[position] <= start:
            break
        counter[col[position]] += amount


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _add_end(ptr: IntArray, col: IntArray, vertex: int, start: int, reach: CountArray, ends: CountArray) -> None:
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        other = col[position]
        if other <= start:
            break
        ends[ptr[other] + reach[other]] = vertex
        reach[other] += 1


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _mark(ptr: IntArray, col: IntArray, vertex: int, start: int, bits: WordArray, place: int) -> None:
    word, bit = place // 64, np.uint64(1) << np.uint64(place % 64)
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        if col[position] <= start:
            break
        bits[col[position], word] |= bit


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
def _unmark(ptr: IntArray, col: IntArray, vertex: int, start: int, bits: WordArray, place: int) -> None:
    word = place // 64
    for position in range(ptr[vertex + 1] - 1, ptr[vertex] - 1, -1):
        if col[position] <= start:
            break
        bits[col[position], word] = 0


@njit(nogil=True, cache=True, forceinline=True, **UNCOUNTED)
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


@njit(nogil=True, cache=True, **UNCOUNTED)
def _write_next(
    ptr: IntArray, col: IntArray, path: IntArray, code: CountArray, reach: CountArray, ends: CountArray,
    bits: WordArray, free: WordArray, place: int, low: int, later: int, words: int, rank: int, found: int,
    output: Output,
) -> None:  # fmt: skip
    wanted, length, vertex, start = output.wanted, path.size, path[place], path[0]
    position, beyond = ptr[vertex + 1], rank + found
    while words == 0 and position > ptr[vertex] and col[position - 1] > start:
        position -= 1
        if code[col[position]] == 2 and reach[col[position]] > 0:
            path[place + 1] = col[position]
            rank = write_ends(ptr, path, code, reach, ends, rank, output)
    while words > 0 and wanted[length] < beyond:
        position, found, _ = _count_next(
            ptr, col, code, reach, ends, bits, free, place, low, words, vertex, start, position, wanted[length] - rank
        )
        path[place + 1] = col[position]
        row = bits[col[position], :words]
        rank = write_bits(col[later:], path, row, free[place], low, rank + found, output)
