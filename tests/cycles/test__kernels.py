import numpy as np
import pytest
import torch

from latopo.cycles._kernels import NEVER, Output, Search, lexicographic_order, search_block
from latopo.cycles.simple_graph import simple_graph


def count_by_blocks(graph, max_length, block, limit=NEVER, steps=10**9):
    none, empty = np.zeros(max_length + 1, np.int64), np.empty(0, np.int64)
    counts, calls = [], 0
    for first in range(0, graph.col.size, block):
        rank, last = np.zeros(max_length + 1, np.int64), min(first + block, graph.col.size)
        output = Output(none.copy(), none, none, empty, none, empty, graph.label)
        search, left = Search.begin(graph.ptr, max_length, first), -1
        while left < 0:
            left = search_block(graph.ptr, graph.col, search, first, last, limit, steps, rank, output)
            calls += 1
        counts.append(rank)
    return np.array(counts), calls


@pytest.mark.parametrize("steps", [0, 1, 7, 100, 10**9])
def test_a_search_that_returns_goes_on_where_it_was(steps):
    graph = simple_graph(torch.randint(25, (2, 90), generator=torch.Generator().manual_seed(0)), 25)
    whole, _ = count_by_blocks(graph, 6, graph.col.size)
    found, calls = count_by_blocks(graph, 6, graph.col.size, steps=steps)
    assert found.tolist() == whole.tolist()
    assert calls == 1 if steps == 10**9 else calls > 3


@pytest.mark.parametrize("block", [1, 2, 3, 7, 50])
def test_the_cut_into_blocks_does_not_matter(block):
    edge_index = torch.randint(25, (2, 90), generator=torch.Generator().manual_seed(0))
    graph = simple_graph(edge_index, 25)
    whole = count_by_blocks(graph, 6, graph.col.size)[0][0]
    assert whole[3:].min() > 5
    assert whole[0] == whole[3:].sum()
    assert count_by_blocks(graph, 6, block)[0].sum(axis=0).tolist() == whole.tolist()


def test_the_search_stops_beyond_the_limit():
    graph = simple_graph(torch.combinations(torch.arange(40)).T, 40)
    found = count_by_blocks(graph, 4, graph.col.size, limit=100)[0][0]
    assert 100 < found[0] < 100 + 40


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (500, 3), (500, 5)])
def test_order_is_lexicographic(shape):
    rows = np.random.default_rng(0).integers(0, 6, shape)
    assert rows[lexicographic_order(rows, 6)].tolist() == sorted(rows.tolist())
