from importlib import import_module

import numpy as np
import pytest
import torch

from latopo.cycles import count_induced_cycles, sample_induced_cycles
from latopo.cycles._kernels import Search, search_block, search_block_by_words
from latopo.cycles._writing import NEVER, Output
from latopo.cycles.simple_graph import simple_graph


def count_by_blocks(graph, max_length, block, limit=NEVER, steps=10**9, search_block=search_block):
    none, empty = np.zeros(max_length + 1, np.int64), np.empty(0, np.int64)
    counts, calls = [], 0
    for first in range(0, graph.col.size, block):
        rank, last = np.zeros(max_length + 1, np.int64), min(first + block, graph.col.size)
        output = Output(none.copy(), none, none, empty, none, empty, graph.label, empty.reshape(0, 0), counted=False)
        search, left = Search.begin(graph.ptr, max_length, first), -1
        while left < 0:
            left = search_block(graph.ptr, graph.col, search, first, last, limit, steps, rank, output)
            calls += 1
        counts.append(rank)
    return np.array(counts), calls


def sparse():
    return torch.randint(25, (2, 90), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("steps", [0, 1, 7, 100, 10**9])
@pytest.mark.parametrize("kernel", [search_block, search_block_by_words])
def test_a_search_that_returns_goes_on_where_it_was(kernel, steps):
    # The words need a start with more than 32 neighbours after it.
    graph = simple_graph(sparse() if kernel is search_block else dense(50, 0.8), 50)
    whole, _ = count_by_blocks(graph, 6, graph.col.size)
    found, calls = count_by_blocks(graph, 6, graph.col.size, steps=steps, search_block=kernel)
    assert found.tolist() == whole.tolist()
    assert calls == 1 if steps == 10**9 else calls > 3


def dense(nodes, share, hubs=0):
    """A random graph in which each pair is joined with this probability, and a few vertices to all others."""
    joined = torch.rand(nodes, nodes, generator=torch.Generator().manual_seed(1)) < share
    joined[:hubs] = True
    return joined.triu(1).nonzero().T


def by_matrices(edge_index, nodes):
    """Triangles, and chordless squares: pairs of neighbours that two strangers share, joined pairs left out."""
    joined = torch.zeros(nodes, nodes, dtype=torch.float64)
    joined[edge_index[0], edge_index[1]] = 1
    joined = joined + joined.T
    shared = (joined @ joined)[(joined + torch.eye(nodes) == 0).triu(1)]
    squares = (shared * (shared - 1)).sum() / 2
    for one, other in edge_index.T.tolist():
        both = (joined[one] * joined[other]).nonzero().flatten()
        squares -= (both.numel() * (both.numel() - 1) - joined[both][:, both].sum()) / 2
    return [int(torch.trace(joined @ joined @ joined) / 6), int(squares / 2)]


# The starts have up to so many neighbours after them: one by one, one word, several words, more than there is room for.
@pytest.mark.parametrize(("nodes", "share", "hubs"), [(40, 0.5, 0), (70, 0.7, 0), (200, 0.5, 0), (640, 0.02, 2)])
@pytest.mark.parametrize("kernel", [search_block, search_block_by_words])
def test_vertices_to_close_at_are_counted_one_by_one_or_by_the_word(kernel, nodes, share, hubs):
    edge_index = dense(nodes, share, hubs)
    graph = simple_graph(edge_index, nodes)
    expected = by_matrices(edge_index, nodes)
    for block, steps in ((graph.col.size, 10**9), (37, 10**9), (graph.col.size, 500)):
        found = count_by_blocks(graph, 4, block, steps=steps, search_block=kernel)[0]
        assert found.sum(axis=0)[3:].tolist() == expected


@pytest.mark.parametrize("budget", [None, 500])
def test_both_kernels_write_the_same_cycles_in_the_same_order(budget, monkeypatch):
    module = import_module("latopo.cycles.induced_cycles")
    edge_index, found = dense(80, 0.7), []
    for words in (False, True):
        monkeypatch.setattr(module, "_is_dense", lambda graph, words=words: words)
        generator = torch.Generator().manual_seed(3)
        found.append(sample_induced_cycles(edge_index, max_length=4, budget=budget, generator=generator)[0])
    assert len(found[0][4]) > 50
    assert all(torch.equal(rows, found[1][length]) for length, rows in found[0].items())


def test_words_are_for_graphs_whose_edges_are_mostly_at_busy_vertices():
    module = import_module("latopo.cycles.induced_cycles")
    graphs = [(dense(100, 0.9), 100), (dense(100, 0.5), 100), (dense(200, 0.01, hubs=1), 200)]
    assert [module._is_dense(simple_graph(*graph)) for graph in graphs] == [True, False, False]


@pytest.mark.parametrize("budget", [None, 3000])
def test_cycles_that_are_counted_by_the_word_are_written_each_once(budget):
    edge_index = dense(100, 0.8)
    joined = torch.zeros(100, 100, dtype=torch.bool)
    joined[edge_index[0], edge_index[1]] = joined[edge_index[1], edge_index[0]] = True
    cycles, count = sample_induced_cycles(edge_index, max_length=5, budget=budget)
    assert count == sum(count_induced_cycles(edge_index, max_length=5).values()) > 30_000
    assert sum(map(len, cycles.values())) == (budget or count)
    for length, rows in cycles.items():
        assert rows.unique(dim=0).shape == rows.shape
        assert (rows[:, 0] == rows.min(1).values).all()
        assert (rows[:, 1] < rows[:, -1]).all()
        for step in range(1, length):
            assert (joined[rows, rows.roll(step, 1)] == (step in (1, length - 1))).all()
    if budget is None:
        assert [len(cycles[3]), len(cycles[4])] == by_matrices(edge_index, 100)


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
