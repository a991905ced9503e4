import importlib
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.cycles import count_induced_cycles, induced_cycles
from latopo.errors import LatopoError, TooManyCellsError, TooManyStepsError

STRUCTURED = {
    "grid": nx.grid_2d_graph(5, 6),
    "torus": nx.grid_2d_graph(4, 5, periodic=True),
    "cube": nx.hypercube_graph(4),
    "bipartite": nx.complete_bipartite_graph(5, 6),
    "tripartite": nx.complete_multipartite_graph(2, 3, 4),
    "star": nx.star_graph(30),
    "wheel": nx.wheel_graph(12),
    "windmill": nx.windmill_graph(8, 4),
    "two hubs": nx.complete_bipartite_graph(2, 15),
    "barbell": nx.barbell_graph(6, 3),
    "clique": nx.complete_graph(10),
    "cycle of 7": nx.cycle_graph(7),
    "cycle of 8": nx.cycle_graph(8),
    "petersen": nx.petersen_graph(),
    "ladder": nx.circular_ladder_graph(7),
    "dodecahedron": nx.dodecahedral_graph(),
    "icosahedron": nx.icosahedral_graph(),
    "karate club": nx.karate_club_graph(),
    "tree": nx.balanced_tree(3, 3),
    "disjoint union": nx.disjoint_union_all([nx.cycle_graph(5), nx.complete_graph(4), nx.wheel_graph(7)]),
}


def canonical(cycle):
    turn = cycle.index(min(cycle))
    cycle = cycle[turn:] + cycle[:turn]
    return cycle if cycle[1] < cycle[-1] else [cycle[0], *cycle[:0:-1]]


def oracle(graph, max_length):
    cycles = sorted(canonical(cycle) for cycle in nx.chordless_cycles(graph, max_length))
    return {length: [c for c in cycles if len(c) == length] for length in range(3, max_length + 1)}


def edges_of(graph):
    return torch.tensor(list(graph.edges), dtype=torch.int64).reshape(-1, 2).T


def as_lists(cycles):
    return {length: rows.tolist() for length, rows in cycles.items()}


def as_list(cycles):
    return [tuple(row) for rows in cycles.values() for row in rows.tolist()]


@pytest.mark.parametrize("seed", range(300))
def test_random_graphs(seed):
    nodes, density = 4 + seed % 11, (0.15, 0.25, 0.4, 0.6, 0.85)[seed % 5]
    graph = nx.gnp_random_graph(nodes, density, seed=seed)
    expected = oracle(graph, 7)
    assert as_lists(induced_cycles(edges_of(graph), nodes, 7)) == expected
    assert count_induced_cycles(edges_of(graph), nodes, 7) == {k: len(rows) for k, rows in expected.items()}


@pytest.mark.parametrize("max_length", [3, 4, 5, 7])
@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_graphs(name, max_length):
    graph = nx.convert_node_labels_to_integers(STRUCTURED[name])
    names = torch.randperm(len(graph), generator=torch.Generator().manual_seed(max_length))
    graph = nx.relabel_nodes(graph, dict(enumerate(names.tolist())))
    assert as_lists(induced_cycles(edges_of(graph), len(graph), max_length)) == oracle(graph, max_length)


@pytest.mark.parametrize("nodes", [0, 1, 2, 5])
def test_no_edges(nodes):
    cycles = induced_cycles(torch.empty(2, 0, dtype=torch.int64), nodes, 5)
    assert {length: tuple(rows.shape) for length, rows in cycles.items()} == {3: (0, 3), 4: (0, 4), 5: (0, 5)}
    assert all(rows.dtype == torch.int64 for rows in cycles.values())
    assert count_induced_cycles(torch.empty(2, 0, dtype=torch.int64), nodes, 3) == {3: 0}


def test_self_loops_and_repeated_edges_make_no_cycles():
    edge_index = torch.tensor([[0, 1, 1, 0, 0, 2], [0, 1, 0, 1, 1, 2]])
    assert as_lists(induced_cycles(edge_index)) == {3: [], 4: []}


def test_the_number_of_nodes_may_be_left_out():
    assert as_lists(induced_cycles(torch.tensor([[0, 9, 4], [9, 4, 0]], dtype=torch.int32))) == {3: [[0, 4, 9]], 4: []}


def test_work_that_is_cut_into_many_blocks():
    parts = [nx.gnp_random_graph(12, 0.5, seed=seed) for seed in range(300)]
    graph = nx.disjoint_union_all(parts)
    expected = {length: [] for length in range(3, 6)}
    for number, part in enumerate(parts):
        for length, rows in oracle(part, 5).items():
            expected[length] += [[12 * number + vertex for vertex in row] for row in rows]
    assert 2 * graph.number_of_edges() > 4 * 4096
    assert as_lists(induced_cycles(edges_of(graph), len(graph), 5)) == expected


graphs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=45)


@settings(deadline=None)
@given(graphs, st.permutations(range(10)), st.randoms(use_true_random=False))
def test_names_directions_and_repetitions_do_not_matter(edges, names, random):
    edge_index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    messy = [(names[u], names[v])[:: random.choice((1, -1))] for u, v in edges for _ in range(random.randint(1, 3))]
    random.shuffle(messy)
    renamed = induced_cycles(torch.tensor(messy, dtype=torch.int64).reshape(-1, 2).T, 10, 6)
    for length, rows in induced_cycles(edge_index, 10, 6).items():
        assert renamed[length].tolist() == sorted(canonical([names[v] for v in row]) for row in rows.tolist())


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.star_graph(50_000), {3: 0, 4: 0}),
        (nx.relabel_nodes(nx.wheel_graph(20_000), lambda v: 19_999 - v), {3: 19_999, 4: 0}),
        (nx.complete_bipartite_graph(50, 50), {3: 0, 4: 1225**2}),
        (nx.complete_graph(250), {3: 250 * 249 * 248 // 6, 4: 0}),
    ],
    ids=["star", "wheel", "bipartite", "clique"],
)
def test_hubs_and_cliques_have_the_known_counts(graph, expected):
    assert count_induced_cycles(edges_of(graph)) == expected


def test_too_many_cycles_name_the_count_and_the_remedies():
    edge_index = edges_of(nx.complete_graph(12))
    with pytest.raises(TooManyCellsError, match=r"has 220 chordless cycles, expected at most max_cycles=219") as error:
        induced_cycles(edge_index, max_cycles=219)
    assert (error.value.count, error.value.limit) == (220, 219)
    for remedy in ("merge duplicate points", "raise the gain", "lower max_length", "budget"):
        assert remedy in str(error.value)
    assert len(induced_cycles(edge_index, max_cycles=220)[3]) == 220


def test_counting_stops_where_it_is_hopeless(monkeypatch):
    monkeypatch.setattr(importlib.import_module("latopo.cycles.induced_cycles"), "COUNT_LIMIT", 5000)
    edge_index = edges_of(nx.complete_graph(100))
    with pytest.raises(TooManyCellsError, match="more than 5,000 chordless cycles") as error:
        induced_cycles(edge_index, max_cycles=10)
    assert error.value.count == 5000
    with pytest.raises(TooManyCellsError, match=r"has 161,700 chordless cycles .and budget=50,000., .*max_cycles=10;"):
        induced_cycles(edge_index, max_cycles=10, budget=50_000)


@pytest.mark.parametrize("budget", [0, 1, 30, 59, 60, 1000])
def test_a_budget_keeps_that_many_different_cycles(budget):
    edge_index = edges_of(nx.icosahedral_graph())
    everything = as_list(induced_cycles(edge_index, 12, 7))
    sample = induced_cycles(edge_index, 12, 7, budget=budget, generator=torch.Generator().manual_seed(0))
    kept = as_list(sample)
    assert list(sample) == [3, 4, 5, 6, 7]
    assert len(kept) == len(set(kept)) == min(budget, len(everything))
    assert set(kept) <= set(everything)
    assert kept == [cycle for cycle in everything if cycle in set(kept)]


def test_a_budget_samples_all_cycles_alike():
    edge_index = edges_of(nx.wheel_graph(8))  # 7 triangles and the rim
    everything = as_list(induced_cycles(edge_index, 8, 7))
    generator = torch.Generator().manual_seed(0)
    kept = Counter()
    for _ in range(2000):
        kept.update(as_list(induced_cycles(edge_index, 8, 7, budget=3, generator=generator)))
    assert len(everything) == len(kept) == 8
    expected, variance = 2000 * 3 / 8, 2000 * 3 / 8 * 5 / 8
    chi_square = sum((kept[cycle] - expected) ** 2 for cycle in everything) / variance * 7 / 8
    assert chi_square < 30


def test_a_sample_depends_on_the_generator_and_not_on_the_threads(monkeypatch):
    edge_index = torch.randint(1000, (2, 9000), generator=torch.Generator().manual_seed(0))
    samples = []
    for threads, seed in ((1, 0), (3, 0), (3, 1)):
        monkeypatch.setattr("latopo._parallel.torch.get_num_threads", lambda threads=threads: threads)
        generator = torch.Generator().manual_seed(seed)
        samples.append(as_lists(induced_cycles(edge_index, 1000, 5, budget=500, generator=generator)))
    assert samples[0] == samples[1]
    assert samples[1] != samples[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 2}, "induced_cycles: max_length must be a whole number of at least 3, got 2"),
        ({"max_length": 4.0}, "max_length must be a whole number of at least 3, got 4.0"),
        ({"budget": -1}, "budget must be a whole number of at least 0 or None, got -1"),
        ({"max_cycles": -1}, "max_cycles must be a whole number of at least 0, got -1"),
        ({"num_nodes": 2}, "induced_cycles: edge_index holds vertex 2, expected 0 to 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(LatopoError, match=message):
        induced_cycles(torch.tensor([[0, 1, 2], [1, 2, 0]]), **arguments)


def test_counting_checks_its_arguments():
    with pytest.raises(
        LatopoError, match="count_induced_cycles: max_length must be a whole number of at least 3, got 1"
    ):
        count_induced_cycles(torch.tensor([[0], [1]]), max_length=1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_hopeless_search_ends_with_remedies(threads, monkeypatch):
    monkeypatch.setattr("latopo._parallel.torch.get_num_threads", lambda: threads)
    edge_index = edges_of(nx.convert_node_labels_to_integers(nx.grid_2d_graph(60, 60)))
    for search in (induced_cycles, count_induced_cycles):
        with pytest.raises(
            TooManyStepsError, match=r"of up to 24 vertices takes more than max_steps=1,000 .*max_length"
        ):
            search(edge_index, max_length=24, max_steps=1000)
    with pytest.raises(TooManyStepsError):
        induced_cycles(edge_index, max_length=24, max_steps=1000, budget=10)


def test_names_of_vertices_cost_no_memory():
    far = 3 * 10**8
    triangle = torch.tensor([[0, far, far + 1], [far, far + 1, 0]])
    assert as_lists(induced_cycles(triangle, 2**62)) == {3: [[0, far, far + 1]], 4: []}
    assert count_induced_cycles(triangle) == {3: 1, 4: 0}


def test_no_cycle_is_longer_than_the_graph():
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    cycles = induced_cycles(square, max_length=10**8)
    assert cycles[4].tolist() == [[0, 1, 2, 3]]
    assert list(cycles) == list(count_induced_cycles(square, max_length=10**8)) == list(range(3, 1001))
    ring = edges_of(nx.cycle_graph(1200))
    assert induced_cycles(ring, max_length=10**8)[1200].tolist() == [list(range(1200))]


def test_a_graph_is_searched_once(monkeypatch):
    module = importlib.import_module("latopo.cycles.induced_cycles")
    counts, count = [], module._count
    monkeypatch.setattr(module, "_count", lambda *rest, **room: counts.append(1) or count(*rest, **room))
    edges, memory = torch.combinations(torch.arange(9)).T, module.CycleMemory()
    first, _ = module.sample_induced_cycles(edges, budget=1000, memory=memory)
    again, total = module.sample_induced_cycles(edges.clone(), budget=1000, memory=memory)
    assert (len(counts), total) == (1, 84)
    assert all(torch.equal(first[length], again[length]) for length in (3, 4))
    sampled, total = module.sample_induced_cycles(
        edges, budget=5, memory=memory, generator=torch.Generator().manual_seed(0)
    )
    expected = induced_cycles(edges, budget=5, generator=torch.Generator().manual_seed(0))
    assert total == 84
    assert torch.equal(sampled[3], expected[3])
    for change in ({"max_length": 5}, {"num_nodes": 10}):
        before = len(counts)
        module.sample_induced_cycles(edges, **change, budget=1000, memory=memory)
        assert len(counts) == before + 1
    assert module.sample_induced_cycles(edges[:, 1:], budget=1000, memory=memory)[1] < 84


def test_nothing_is_remembered_of_inference_mode():
    from latopo.cycles import CycleMemory, sample_induced_cycles

    memory, edges = CycleMemory(), torch.combinations(torch.arange(5)).T
    with torch.inference_mode():
        sample_induced_cycles(edges, budget=1000, memory=memory)
    assert memory.cycles is None
    assert not sample_induced_cycles(edges, budget=1000, memory=memory)[0][3].is_inference()


@pytest.mark.parametrize(("block", "twice"), [(4096, 0), (40, 1)])  # the second has too little room at first
@pytest.mark.parametrize("budget", [10**6, 300])
def test_cycles_are_written_down_while_they_are_counted(block, twice, budget, monkeypatch):
    module = importlib.import_module("latopo.cycles.induced_cycles")
    collected, collect = [], module._collect
    monkeypatch.setattr(module, "_collect", lambda *rest: collected.append(1) or collect(*rest))
    monkeypatch.setattr(module, "_block", lambda graph, longest: block)
    graphs = [edges_of(nx.gnm_random_graph(60, 400, seed=seed)) for seed in (0, 1)]
    memory = module.CycleMemory()

    def found(edges, **memory):
        return module.sample_induced_cycles(
            edges, 60, 5, budget=budget, generator=torch.Generator().manual_seed(0), **memory
        )

    found(graphs[0], memory=memory)
    ours, total = found(graphs[1], memory=memory)
    assert len(collected) == twice  # of the first graph alone
    again, _ = found(graphs[1], memory=memory)
    theirs, expected = found(graphs[1])
    assert (total, len(collected)) == (expected, 2 * twice)
    for length in (3, 4, 5):
        assert torch.equal(ours[length], theirs[length])
        assert torch.equal(again[length], theirs[length])
    denser = edges_of(nx.gnm_random_graph(60, 900, seed=2))
    assert found(denser, memory=memory)[1] == found(denser)[1]  # more than there was room for


def test_a_great_length_gets_no_room():
    module = importlib.import_module("latopo.cycles.induced_cycles")
    length = 3_200_000  # squared, times the edges, it is beyond 64 bits
    assert not module._room(np.zeros((1, length + 1), np.int64), np.full((1, length + 1), 1_600_000)).any()


@pytest.mark.parametrize("density", [0.15, 0.8])  # lists, and words of bits
@pytest.mark.parametrize("budget", [0, 1, 40, 5000])
def test_first_steps_without_a_wanted_cycle_are_left_out(density, budget, monkeypatch):
    module = importlib.import_module("latopo.cycles.induced_cycles")
    monkeypatch.setattr(module, "_MOST_ROOM", 0)  # or all are written down while they are counted
    monkeypatch.setattr(module, "_SLICE", 50)  # counting stops and goes on in the middle of a step
    edges = edges_of(nx.gnp_random_graph(100, density, seed=3))
    max_length = 5 if density < 0.5 else 4

    def sample():
        return module.sample_induced_cycles(
            edges, 100, max_length, budget=budget, generator=torch.Generator().manual_seed(1)
        )

    some, total = sample()
    monkeypatch.setattr(module, "_MOST_TALLIES", 0)
    every, expected = sample()
    assert total == expected > 5000
    assert sum(map(len, some.values())) == budget
    assert all(torch.equal(some[length], every[length]) for length in every)
