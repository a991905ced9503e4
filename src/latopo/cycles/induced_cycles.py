"""All chordless cycles of a graph up to a length: the candidates for polygons."""

from threading import Event
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from latopo._arguments import AtLeastOne, Bounds, checked
from latopo._parallel import map_blocks, row_blocks
from latopo.cycles._kernels import Search, search_block, search_block_by_words
from latopo.cycles._order import lexicographic_order
from latopo.cycles._writing import Output
from latopo.cycles.sampling import sample_ranks
from latopo.cycles.simple_graph import IntArray, SimpleGraph, check_edge_index, simple_graph
from latopo.errors import TooManyCellsError, TooManyStepsError

Length = Annotated[int, Bounds(3)]
Amount = Annotated[int, Bounds(0)]

# Counting goes on to here (some seconds) before it gives up on an exact figure for the error message.
COUNT_LIMIT = 10**9
MAX_STEPS = 5 * 10**10
_NO_LIMIT = np.iinfo(np.int64).max
_MANY = 64
_SLICE = 2 * 10**7  # steps between two looks at the count and at Ctrl-C: about a tenth of a second
_MOST_ROOM = 2**23  # vertices of cycles that a search that counts may write down on the way
_MOST_TALLIES = 2**23  # and counts of the cycles of single first steps
_ALL_LENGTHS = 1000  # longest length that is listed even if the graph has fewer vertices


@checked
def induced_cycles(
    edge_index: Tensor,
    num_nodes: int | None = None,
    max_length: Length = 4,
    *,
    max_cycles: Amount = 10**7,
    max_steps: AtLeastOne = MAX_STEPS,
    budget: Amount | None = None,
    generator: Generator | None = None,
) -> dict[int, Tensor]:
    """All chordless (induced) cycles of length 3 to ``max_length``, each once: the paper's candidates for polygons.

    The graph is the simple undirected one under ``edge_index``; directions, repetitions and self-loops do not matter. A
    row lists a cycle's vertices in cyclic order, smallest first, second < last; rows are sorted lexicographically.

    Cycles are counted before memory is taken. The time grows with the number of cycles and of paths that never close,
    also with a budget (on dense graphs a core counts 100 to 500 million cycles per second); the memory grows with the
    edges and with what is returned. Ctrl-C stops a search at once.

    Args:
        edge_index: [2, E], integers, on any device; the answer is on the same one.
        num_nodes: the number of vertices; ``None`` stands for the largest index + 1.
        max_length: the largest cycle length, at least 3; no cycle has more vertices than the graph.
        max_cycles: the most cycles returned. Beyond it :class:`~latopo.errors.TooManyCellsError` names the exact count,
            or "more than 1,000,000,000" where counting stopped; with a budget counting does not stop.
        max_steps: the most entries of lists that the search reads (minutes on one core); beyond it
            :class:`~latopo.errors.TooManyStepsError` names remedies.
        budget: return a uniform sample of this many cycles, drawn from all lengths together, if there are more.
        generator: the randomness for ``budget``. The sample depends on its state and not on the number of threads.

    Returns:
        ``{length: LongTensor [C_length, length]}`` with every length from 3 to ``max_length``, also if there are none;
        beyond 1,000 only lengths up to the number of vertices with edges.

    Example:
        >>> square_and_triangle = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 3, 0, 4, 2]])
        >>> induced_cycles(square_and_triangle, num_nodes=5)
        {3: tensor([[2, 3, 4]]), 4: tensor([[0, 1, 2, 3]])}
    """
    return sample_induced_cycles(
        edge_index, num_nodes, max_length, max_cycles=max_cycles, max_steps=max_steps, budget=budget,
        generator=generator,
    )[0]  # fmt: skip


@checked
def sample_induced_cycles(
    edge_index: Tensor,
    num_nodes: int | None = None,
    max_length: Length = 4,
    *,
    max_cycles: Amount = 10**7,
    max_steps: AtLeastOne = MAX_STEPS,
    budget: Amount | None = None,
    generator: Generator | None = None,
    memory: "CycleMemory | None" = None,
) -> tuple[dict[int, Tensor], int]:
    """As :func:`induced_cycles`, with the number of cycles that the graph has, whatever the budget leaves of them.

    With a ``memory`` the search is not repeated for the graph of the last call.

    Example:
        >>> cycles, count = sample_induced_cycles(torch.combinations(torch.arange(250)).T, budget=10)
        >>> cycles[3].shape, count
        (torch.Size([10, 3]), 2573000)
    """
    num_nodes = check_edge_index("induced_cycles", edge_index, num_nodes)
    limit = max(max_cycles, COUNT_LIMIT) if budget is None else _NO_LIMIT
    # What is made in inference mode could not be used in a training step.
    memory = CycleMemory() if memory is None or torch.is_inference_mode_enabled() else memory
    counted = memory.counted(edge_index, num_nodes, max_length, limit, max_steps)
    graph, met, total = counted.graph, counted.met, int(counted.counts.sum())
    size = total if budget is None else min(total, budget)
    if size > max_cycles:
        raise _too_many(total, limit, size, max_cycles)
    if size == total and memory.cycles is not None:
        return dict(memory.cycles), total
    picks = np.empty(0, np.int64) if size == total else sample_ranks(total, size, generator).numpy()
    met = _collect(counted, size, picks) if met is None else _picked(met, picks) if size < total else met
    found = {k: graph.names[part[lexicographic_order(part, graph.label.size)]] for k, part in met.items() if len(part)}
    lengths = range(3, _longest(graph, max_length, _ALL_LENGTHS) + 1)
    rows = {length: found.get(length, np.empty((0, length), np.int64)) for length in lengths}
    cycles = {length: torch.from_numpy(part).to(edge_index.device) for length, part in rows.items()}
    memory.cycles = dict(cycles) if size == total else None
    return cycles, total


class CycleMemory:
    """The graph of the last search with its cycles: an evaluation and the training step after it have the same one.

    A graph is searched once, not twice (to count, and to write), if the cycles of each block fit into room for half as
    many again as the last graph had there; the first graph gets room for at least six of each length per edge.

    Attributes:
        cycles: all cycles of that graph, if they were wanted.

    Example:
        >>> square, memory = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), CycleMemory()
        >>> sample_induced_cycles(square, memory=memory)[1], sample_induced_cycles(square, memory=memory)[1]
        (1, 1)
    """

    def __init__(self) -> None:
        self.cycles: dict[int, Tensor] | None = None
        self._key: tuple[Tensor, tuple[int, ...]] | None = None
        self._counted: _Counted | None = None

    def __reduce__(self) -> tuple[type["CycleMemory"], tuple[()]]:
        return CycleMemory, ()  # copies and pickles of a model need not carry it

    def counted(self, edge_index: Tensor, num_nodes: int, *options: int) -> "_Counted":
        """The simple graph, its counts of cycles and maybe these; what is known of another graph is dropped.

        The options are those of the count: the largest length and the two limits.
        """
        if self._counted is None or not self._knows(edge_index, (num_nodes, *options)):
            graph = simple_graph(edge_index, num_nodes)
            before = _guess(graph, options[0]) if self._counted is None else self._counted.counts
            counted = _count(graph, *options, before=before)
            self._key, self._counted, self.cycles = (edge_index.clone(), (num_nodes, *options)), counted, None
        return self._counted

    def _knows(self, edge_index: Tensor, options: tuple[int, ...]) -> bool:
        if self._key is None or self._key[1] != options or self._key[0].device != edge_index.device:
            return False
        return torch.equal(self._key[0], edge_index)


@checked
def count_induced_cycles(
    edge_index: Tensor, num_nodes: int | None = None, max_length: Length = 4, *, max_steps: AtLeastOne = MAX_STEPS
) -> dict[int, int]:
    """How many chordless cycles of each length 3 to ``max_length`` there are, exactly and without storing them.

    Example:
        >>> count_induced_cycles(torch.combinations(torch.arange(250)).T)
        {3: 2573000, 4: 0}
    """
    num_nodes = check_edge_index("count_induced_cycles", edge_index, num_nodes)
    graph = simple_graph(edge_index, num_nodes)
    found = _count(graph, max_length, _NO_LIMIT, max_steps).counts
    counts = dict(enumerate(found.sum(axis=0).tolist()))
    return {length: counts.get(length, 0) for length in range(3, _longest(graph, max_length, _ALL_LENGTHS) + 1)}


def _too_many(total: int, limit: int, size: int, max_cycles: int) -> TooManyCellsError:
    count = f"more than {limit:,}" if total > limit else f"{total:,}"
    asked = f" (and budget={size:,})" if size < total else ""
    return TooManyCellsError(
        f"induced_cycles: the graph has {count} chordless cycles{asked}, expected at most max_cycles={max_cycles:,}; "
        "merge duplicate points, raise the gain for a sparser graph, lower max_length, give a budget of at most "
        "max_cycles (a uniform sample), or raise max_cycles",
        count=min(total, limit),
        limit=max_cycles,
    )


def _longest(graph: SimpleGraph, max_length: int, least: int = 3) -> int:
    """``max_length``, or the number of vertices if that is less."""
    return min(max_length, max(graph.label.size, least))


def _block(graph: SimpleGraph, longest: int) -> int:
    # From the graph alone: cycles are ranked in the order of blocks, and a sample must not depend on the threads. Below
    # about 4,096 steps starting threads costs more than they bring. What is kept per block grows with the lengths.
    blocks = min(128, max(2**17 // longest, 1))
    return max(4096, -(-graph.col.size // blocks))


def _is_dense(graph: SimpleGraph) -> bool:
    """Whether more than half of the edges are at vertices with so many neighbours that words of bits are faster."""
    degree = np.diff(graph.ptr)
    return bool(2 * degree[degree > _MANY].sum() > graph.col.size)


class _Searcher:
    """Searches of blocks on several threads, which together may take ``max_steps`` steps, and stop together."""

    def __init__(self, graph: SimpleGraph, longest: int, max_steps: int) -> None:
        self.graph, self.longest, self.max_steps = graph, longest, max_steps
        self.block = _block(graph, longest)
        self.search_block = search_block_by_words if _is_dense(graph) else search_block
        self.halt = Event()
        self._steps: dict[int, int] = {}

    def blocks(self) -> int:
        return len(row_blocks(self.graph.col.size, self.block))

    def run(self, first: int, last: int, limit: int, rank: IntArray, output: Output) -> None:
        ptr, col = self.graph.ptr, self.graph.col
        search = Search.begin(ptr, self.longest, first)
        self._steps[first] = 0
        left = -1
        while left < 0 and not self.halt.is_set():
            left = self.search_block(ptr, col, search, first, last, limit, _SLICE, rank, output)
            self._steps[first] += _SLICE - left
            if sum(self._steps.copy().values()) > self.max_steps:
                raise _too_many_steps(self.max_steps, self.longest)


def _too_many_steps(max_steps: int, longest: int) -> TooManyStepsError:
    return TooManyStepsError(
        f"induced_cycles: the search for chordless cycles of up to {longest} vertices takes more than "
        f"max_steps={max_steps:,} steps; lower max_length, raise the gain or lower the degree for a sparser graph, "
        "merge duplicate points, or raise max_steps"
    )


class _Counted(NamedTuple):
    """A search that counts.

    Attributes:
        graph: what was searched.
        counts: cycles by block and length, [blocks, longest + 1].
        met: all cycles by length, rows of vertex numbers in the order of their ranks; None if there was no room.
        tally: cycles by first step and length, see :class:`~latopo.cycles._writing.Output`; empty if that is too much.
    """

    graph: SimpleGraph
    counts: IntArray
    met: dict[int, IntArray] | None
    tally: IntArray


def _count(
    graph: SimpleGraph, max_length: int, limit: int, max_steps: int, *, before: IntArray | None = None
) -> _Counted:  # fmt: skip
    # Beyond the limit the counts are cut short, but their sum exceeds it in any case.
    searcher = _Searcher(graph, _longest(graph, max_length), max_steps)
    found = np.zeros((searcher.blocks(), searcher.longest + 1), np.int64)
    room = _room(found, before)
    ends = np.cumsum(room * np.arange(room.shape[1]), axis=1)
    written = [np.empty(0, np.int64)] * len(found)
    # Only for a second search, and that will hardly be if there is room in the first.
    tallies = 0 if room.any() or graph.col.size * found.shape[1] > _MOST_TALLIES else graph.col.size
    tally = np.zeros((tallies, found.shape[1]), np.int64)

    def count(first: int, last: int) -> None:
        if found[:, 0].sum() <= limit:
            block = first // searcher.block
            rows = np.empty(ends[block, -1], np.int64)
            rank = np.zeros(searcher.longest + 1, np.int64)  # not a row of `found`: threads would share its cache line
            stop, starts = room[block].copy(), np.append(0, ends[block, :-1])
            none = np.empty(0, np.int64)
            output = Output(rank.copy(), rank.copy(), stop, none, starts, rows, graph.label, tally, counted=False)
            searcher.run(first, last, limit, rank, output)
            found[block], written[block] = rank, rows

    map_blocks(count, graph.col.size, searcher.block, searcher.halt)
    found[:, 0] = 0
    return _Counted(graph, found, _met(found, room, ends, written), tally)


def _met(counts: IntArray, room: IntArray, ends: IntArray, written: list[IntArray]) -> dict[int, IntArray] | None:
    """What the blocks have written, length by length; None unless they had room for everything."""
    if not written or not room.any() or (counts > room).any():
        return None
    met = {}
    for length in range(3, counts.shape[1]):
        taken = zip(written, ends[:, length - 1], counts[:, length], strict=True)
        met[length] = np.concatenate([rows[at : at + n * length] for rows, at, n in taken]).reshape(-1, length)
    return met


def _guess(graph: SimpleGraph, max_length: int) -> IntArray:
    """Counts as if there were four cycles of each length per edge, one row for all blocks, [1, longest + 1]."""
    longest = _longest(graph, max_length)
    return np.full((1, longest + 1), 2 * _block(graph, longest))


def _room(counts: IntArray, before: IntArray | None) -> IntArray:
    """Room in each block for half as many cycles again as the last graph had there or next to it; none if too much.

    ``counts`` has the shape of the answer, [blocks, longest + 1].
    """
    none = np.zeros_like(counts)
    if before is None or not before.size or before.shape[1] != counts.shape[1]:
        return none
    place = np.arange(len(counts)) * len(before) // max(len(counts), 1)
    near = [before[np.clip(place + step, 0, len(before) - 1)] for step in (-1, 0, 1)]
    room: IntArray = np.max(near, axis=0) * 3 // 2 + 64
    room[:, :3] = 0
    # In float64: of many vertices and a great length the whole number would be beyond 64 bits.
    return room if (room * np.arange(room.shape[1], dtype=np.float64)).sum() <= _MOST_ROOM else none


def _picked(met: dict[int, IntArray], picks: IntArray) -> dict[int, IntArray]:
    """The cycles of these ranks, which run over the lengths first."""
    ends = np.cumsum([len(rows) for rows in met.values()])
    cuts = np.searchsorted(picks, ends)
    starts = zip(np.append(0, ends), np.append(0, cuts), cuts, strict=False)
    return {
        length: rows[picks[low:high] - first]
        for (length, rows), (first, low, high) in zip(met.items(), starts, strict=True)
    }


class _Plan(NamedTuple):
    """What each block writes, all [blocks, max_length + 1]: see :class:`~latopo.cycles._writing.Output`."""

    rank: IntArray
    cursor: IntArray
    stop: IntArray
    offset: IntArray


def _plan(counts: IntArray, picks: IntArray, everything: bool) -> _Plan:
    # Ranks and storage run over the lengths first, then over the blocks.
    rank = _sums_before(counts)
    cursor, stop = rank, rank + counts
    if not everything:
        cursor, stop = np.searchsorted(picks, rank), np.searchsorted(picks, stop)
    return _Plan(rank, cursor, stop, _sums_before((stop - cursor) * np.arange(counts.shape[1])))


def _sums_before(counts: IntArray) -> IntArray:
    flat = counts.T.ravel()
    return np.ascontiguousarray((np.cumsum(flat) - flat).reshape(counts.shape[::-1]).T)


def _collect(counted: _Counted, size: int, picks: IntArray) -> dict[int, IntArray]:
    """The picked cycles by length, or all if their number is that of all."""
    graph, counts, _, tally = counted
    searcher = _Searcher(graph, counts.shape[1] - 1, _NO_LIMIT)
    plan = _plan(counts, picks, everything=size == counts.sum())
    wanted = (plan.stop - plan.cursor).sum(axis=0)
    ends = np.cumsum(wanted * np.arange(counts.shape[1]))
    rows = np.empty(ends[-1], np.int64)

    def fill(first: int, last: int) -> None:
        rank, cursor, stop, offset = (part[first // searcher.block].copy() for part in plan)
        if (cursor < stop).any():
            output = Output(
                np.empty_like(rank), cursor, stop, picks, offset, rows, graph.label, tally, counted=tally.size > 0
            )
            searcher.run(first, last, _NO_LIMIT, rank, output)

    map_blocks(fill, graph.col.size, searcher.block, searcher.halt)
    return {k: rows[ends[k - 1] : ends[k]].reshape(-1, k) for k in range(3, counts.shape[1])}
