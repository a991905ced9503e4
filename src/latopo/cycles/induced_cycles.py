"""All chordless cycles of a graph up to a length: the candidates for polygons."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from latopo._parallel import map_blocks, row_blocks
from latopo.cycles._kernels import Output, lexicographic_order, search_block
from latopo.cycles.sampling import sample_ranks
from latopo.cycles.simple_graph import IntArray, SimpleGraph, check_edge_index, simple_graph
from latopo.errors import LatopoError, TooManyCellsError

# Counting goes on to here (some seconds) before it gives up on an exact figure for the error message.
COUNT_LIMIT = 10**9
_NO_LIMIT = np.iinfo(np.int64).max


def induced_cycles(
    edge_index: Tensor,
    num_nodes: int | None = None,
    max_length: int = 4,
    *,
    max_cycles: int = 10**7,
    budget: int | None = None,
    generator: Generator | None = None,
) -> dict[int, Tensor]:
    """All chordless (induced) cycles of length 3 to ``max_length``, each once: the paper's candidates for polygons.

    The graph is the simple undirected one under ``edge_index``; directions, repetitions and self-loops do not matter. A
    row lists a cycle's vertices in cyclic order, smallest first, second < last; rows are sorted lexicographically.

    Cycles are counted before memory is taken. The time grows with the number of cycles, also with a budget (on
    dense graphs a core counts 100 to 500 million per second); the memory grows with what is returned.

    Args:
        edge_index: [2, E], integers, on any device; the answer is on the same one.
        num_nodes: the number of vertices; ``None`` stands for the largest index + 1.
        max_length: the largest cycle length, at least 3.
        max_cycles: the most cycles returned. Beyond it :class:`~latopo.errors.TooManyCellsError` names the exact count,
            or "more than 1,000,000,000" where counting stopped; with a budget counting does not stop.
        budget: return a uniform sample of this many cycles, drawn from all lengths together, if there are more.
        generator: the randomness for ``budget``. The sample depends on its state and not on the number of threads.

    Returns:
        ``{length: LongTensor [C_length, length]}`` with every length from 3 to ``max_length``, also if there are none.

    Example:
        >>> square_and_triangle = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 3, 0, 4, 2]])
        >>> induced_cycles(square_and_triangle, num_nodes=5)
        {3: tensor([[2, 3, 4]]), 4: tensor([[0, 1, 2, 3]])}
    """
    return sample_induced_cycles(
        edge_index, num_nodes, max_length, max_cycles=max_cycles, budget=budget, generator=generator
    )[0]


def sample_induced_cycles(
    edge_index: Tensor,
    num_nodes: int | None = None,
    max_length: int = 4,
    *,
    max_cycles: int = 10**7,
    budget: int | None = None,
    generator: Generator | None = None,
) -> tuple[dict[int, Tensor], int]:
    """As :func:`induced_cycles`, with the number of cycles that the graph has, whatever the budget leaves of them.

    Example:
        >>> cycles, count = sample_induced_cycles(torch.combinations(torch.arange(250)).T, budget=10)
        >>> cycles[3].shape, count
        (torch.Size([10, 3]), 2573000)
    """
    num_nodes = check_edge_index("induced_cycles", edge_index, num_nodes)
    _check_at_least("induced_cycles", "max_length", max_length, 3)
    _check_at_least("induced_cycles", "max_cycles", max_cycles, 0)
    if budget is not None:
        _check_at_least("induced_cycles", "budget", budget, 0)
    graph = simple_graph(edge_index, num_nodes)
    limit = max(max_cycles, COUNT_LIMIT) if budget is None else _NO_LIMIT
    counts = _count(graph, max_length, limit)
    total = int(counts.sum())
    size = total if budget is None else min(total, budget)
    if size > max_cycles:
        raise _too_many(total, limit, size, max_cycles)
    picks = np.empty(0, np.int64) if size == total else sample_ranks(total, size, generator).numpy()
    cycles = _collect(graph, max_length, counts, size, picks)
    return {length: torch.from_numpy(rows).to(edge_index.device) for length, rows in cycles.items()}, total


def count_induced_cycles(edge_index: Tensor, num_nodes: int | None = None, max_length: int = 4) -> dict[int, int]:
    """How many chordless cycles of each length 3 to ``max_length`` there are, exactly and without storing them.

    Example:
        >>> count_induced_cycles(torch.combinations(torch.arange(250)).T)
        {3: 2573000, 4: 0}
    """
    num_nodes = check_edge_index("count_induced_cycles", edge_index, num_nodes)
    _check_at_least("count_induced_cycles", "max_length", max_length, 3)
    counts = _count(simple_graph(edge_index, num_nodes), max_length, _NO_LIMIT).sum(axis=0)
    return {length: int(counts[length]) for length in range(3, max_length + 1)}


def _check_at_least(caller: str, name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise LatopoError(f"{caller}: {name} must be an integer of at least {least}, got {value!r}")


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


def _block(graph: SimpleGraph) -> int:
    # From the graph alone: cycles are ranked in the order of blocks, and a sample must not depend on the threads. Below
    # about 4,096 steps starting threads costs more than they bring.
    return max(4096, -(-graph.col.size // 128))


def _count(graph: SimpleGraph, max_length: int, limit: int) -> IntArray:
    # [blocks, max_length + 1]; beyond the limit the counts are cut short, but their sum exceeds it in any case.
    block = _block(graph)
    found = np.zeros((len(row_blocks(graph.col.size, block)), max_length + 1), np.int64)
    none, empty = np.zeros(max_length + 1, np.int64), np.empty(0, np.int64)
    nothing = Output(none.copy(), none, none, empty, none, empty, graph.label)

    def count(first: int, last: int) -> None:
        if found[:, 0].sum() <= limit:
            rank = np.zeros(max_length + 1, np.int64)  # not a row of `found`: threads would share its cache line
            search_block(graph.ptr, graph.col, max_length, first, last, limit, rank, nothing)
            found[first // block] = rank

    map_blocks(count, graph.col.size, block)
    found[:, 0] = 0
    return found


class _Plan(NamedTuple):
    """What each block writes, all [blocks, max_length + 1]: see :class:`~latopo.cycles._kernels.Output`."""

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


def _collect(graph: SimpleGraph, max_length: int, counts: IntArray, size: int, picks: IntArray) -> dict[int, IntArray]:
    block = _block(graph)
    plan = _plan(counts, picks, everything=size == counts.sum())
    wanted = (plan.stop - plan.cursor).sum(axis=0)
    ends = np.cumsum(wanted * np.arange(max_length + 1))
    rows = np.empty(ends[-1], np.int64)

    def fill(first: int, last: int) -> None:
        number = first // block
        rank, cursor, stop, offset = (part[number].copy() for part in plan)
        if (cursor < stop).any():
            output = Output(np.empty_like(rank), cursor, stop, picks, offset, rows, graph.label)
            search_block(graph.ptr, graph.col, max_length, first, last, _NO_LIMIT, rank, output)

    map_blocks(fill, graph.col.size, block)
    cycles = {length: rows[ends[length - 1] : ends[length]].reshape(-1, length) for length in range(3, max_length + 1)}
    return {length: part[lexicographic_order(part, graph.label.size)] for length, part in cycles.items()}
