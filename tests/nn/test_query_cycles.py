import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import induced_cycles
from latopo.errors import TooManyStepsError
from latopo.nn import query_cycles as module
from latopo.nn.checks import simple_edges
from latopo.nn.query_cycles import WalkGraph, query_cycles


def random_graph(num_nodes: int, seed: int, share: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(num_nodes))
    return pairs[torch.rand(len(pairs), generator=generator) < share].t()


def as_sets(cycles: torch.Tensor) -> set[tuple[int, ...]]:
    return {tuple(row) for row in cycles.tolist()}


@given(st.integers(3, 12), st.integers(0, 10**6), st.floats(0.1, 0.7), st.integers(3, 6))
@settings(max_examples=60, deadline=None)
def test_cycles_are_those_of_the_graph_with_the_query_in_it(num_nodes, seed, share, max_length):
    edge_index = random_graph(num_nodes, seed, share)
    generator = torch.Generator().manual_seed(seed + 1)
    chosen = (torch.rand(2, num_nodes, generator=generator) < 0.5).nonzero()
    row, col = chosen[:, 0], chosen[:, 1]
    graph = WalkGraph.of(simple_edges("test", edge_index, num_nodes), num_nodes)
    found = query_cycles(row, col, torch.ones_like(row, dtype=torch.bool), graph, max_length)
    for query in range(2):
        anchors = col[row == query]
        joined = torch.cat([edge_index, torch.stack([anchors, torch.full_like(anchors, num_nodes)])], dim=1)
        for length, cycles in induced_cycles(joined, num_nodes + 1, max_length).items():
            through = cycles[(cycles == num_nodes).any(1)]
            expected = {frozenset(cycle) for cycle in through.tolist()}
            mine = found[length].path[found[length].query == query]
            assert {frozenset([*path, num_nodes]) for path in mine.tolist()} == expected
            assert len(mine) == len(through)  # each once
            assert bool((mine[:, 0] < mine[:, -1]).all())


def test_edges_that_may_not_be_sides_still_are_chords():
    square = WalkGraph.of(torch.tensor([[0, 1], [1, 2]]), 3)  # 0 - 1 - 2
    row, col = torch.zeros(3, dtype=torch.int64), torch.arange(3)
    use = torch.tensor([True, False, True])
    found = query_cycles(row, col, use, square, 4)
    assert found[3].path.numel() == 0  # both triangles need the edge to 1
    assert found[4].path.numel() == 0  # and the square has it as a chord


def test_no_queries_and_no_edges():
    empty = torch.empty(0, dtype=torch.int64)
    found = query_cycles(empty, empty, empty.bool(), WalkGraph.of(torch.empty(2, 0, dtype=torch.int64), 5), 5)
    assert {length: tuple(part.path.shape) for length, part in found.items()} == {3: (0, 2), 4: (0, 3), 5: (0, 4)}


def test_edge_ids():
    graph = WalkGraph.of(torch.tensor([[0, 1], [2, 2]]), 3)
    assert graph.edge_ids(torch.tensor([[2, 0]]), torch.tensor([[1, 1]])).tolist() == [[1, -1]]
    assert graph.neighbor.tolist() == [2, 2]  # 0 and 1 are dead ends


def test_queries_that_walk_too_many_paths_together_walk_one_by_one(monkeypatch):
    graph = WalkGraph.of(simple_edges("test", random_graph(12, 0, 0.4), 12), 12)
    row, col = torch.arange(5).repeat_interleave(4), torch.arange(20) % 12
    arguments = row, col.view(5, 4).sort(1).values.flatten(), torch.ones(20, dtype=torch.bool), graph, 6
    together = query_cycles(*arguments)
    assert sum(len(part.query) for part in together.values()) > 20
    monkeypatch.setattr(module, "_MAX_ENTRIES", 2500)
    with pytest.raises(TooManyStepsError):
        module._walk(*arguments)
    apart = query_cycles(*arguments)
    for length, part in together.items():
        assert torch.equal(apart[length].query, part.query)
        assert torch.equal(apart[length].path, part.path)
    monkeypatch.setattr(module, "_MAX_ENTRIES", 10)
    with pytest.raises(TooManyStepsError, match="paths of 3 vertices lead from a query"):
        query_cycles(*arguments)


def test_no_cycle_is_longer_than_the_graph():
    graph = WalkGraph.of(torch.tensor([[0, 1], [1, 2]]), 3)
    row, col = torch.zeros(2, dtype=torch.int64), torch.tensor([0, 2])
    found = query_cycles(row, col, torch.ones(2, dtype=torch.bool), graph, 10**9)
    assert found[4].path.tolist() == [[0, 1, 2]]
    assert max(found) == 1000
