import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from latopo.draw import _kernels
from latopo.draw._kernels import count_common, pack_discs, settle


def csr(graph: nx.Graph) -> tuple[np.ndarray, np.ndarray]:
    matrix = csr_array(nx.to_scipy_sparse_array(graph))
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@pytest.mark.parametrize("seed", range(3))
def test_common_neighbours_agree_with_networkx(seed: int) -> None:
    graph = nx.gnp_random_graph(25, 0.3, seed=seed)
    ptr, neighbor = csr(graph)
    source = np.repeat(np.arange(25), np.diff(ptr))
    expected = [len(list(nx.common_neighbors(graph, u, v))) for u, v in zip(source, neighbor, strict=True)]
    assert count_common(ptr, neighbor).tolist() == expected


def push_by_hand(position: np.ndarray, mass: np.ndarray) -> np.ndarray:
    difference = position[:, None] - position
    squared = (difference**2).sum(-1) + 1e-4
    return mass[:, None] * (mass[:, None] / squared[..., None] * difference).sum(1)


def settled(graph: nx.Graph, start: np.ndarray, mass: np.ndarray, gravity: float, temperature: float) -> np.ndarray:
    """Positions [N, 2] after one step."""
    ptr, neighbor = csr(graph)
    position = np.ascontiguousarray(start.T, np.float32)
    weight, heat = np.ones(neighbor.size, np.float32), np.array([temperature], np.float32)
    settle(position, mass.astype(np.float32), ptr, neighbor, weight, gravity, heat)
    return position.T


def test_one_step_goes_half_of_the_way_to_the_balance_of_the_forces() -> None:
    graph = nx.gnp_random_graph(12, 0.4, seed=1)
    start = np.random.default_rng(0).normal(size=(12, 2))
    mass = np.array([degree for _, degree in graph.degree], float)
    pull = nx.to_numpy_array(graph) @ start - mass[:, None] * start
    force = pull + push_by_hand(start, mass) - 0.1 * mass[:, None] * start
    expected = start + 0.5 * force / (1.1 * mass[:, None])
    found = settled(graph, start, mass, gravity=0.1, temperature=1e9)
    np.testing.assert_allclose(found, expected - expected.mean(axis=0), rtol=1e-4, atol=1e-5)


def test_no_node_moves_farther_than_the_temperature_allows() -> None:
    start = np.random.default_rng(0).normal(size=(30, 2))
    position = settled(nx.empty_graph(30), start, np.ones(30), gravity=0.1, temperature=0.01)
    # The result is centred: only differences between nodes say how far they went.
    moved = np.linalg.norm((position - position[0]) - (start - start[0]), axis=1)
    limit = 0.01 * np.sqrt((start**2).sum() / 30)
    assert limit < moved.max() < 2.0001 * limit


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.5, 30), min_size=1, max_size=60))
def test_packed_discs_do_not_overlap_and_fill_a_square(radii: list[float]) -> None:
    radius = -np.sort(-np.array(radii))
    half = 2 * np.linalg.norm(radius)
    centre = pack_discs(radius, 1.0, int(half) + 1)
    distance = np.linalg.norm(centre[:, None] - centre, axis=2) + np.diag(np.full(len(radius), np.inf))
    assert (distance >= radius[:, None] + radius - 1e-9).all()
    side = np.ptp(np.concatenate([centre - radius[:, None], centre + radius[:, None]]), axis=0).max()
    assert side <= 2.2 * max(radius[0], np.sqrt((4 * (radius + 0.5) ** 2).sum()))


def test_a_small_disc_goes_into_the_corner_beside_a_large_one() -> None:
    centre = pack_discs(np.array([10.0, 1.0]), 0.5, 60)
    assert centre[0].tolist() == [0, 0]
    assert np.abs(centre[1]).max() <= 9


@pytest.mark.parametrize("size", [1, 50, 700])
def test_slices_of_any_size_give_the_same_bits(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.gnp_random_graph(40, 0.2, seed=0)
    start, radius = np.random.default_rng(0).normal(size=(40, 2)), np.linspace(9, 1, 12)

    def found() -> list[np.ndarray]:
        return [count_common(*csr(graph)), settled(graph, start, np.ones(40), 0.1, 1.0), pack_discs(radius, 1.0, 40)]

    calls = []
    for name in ("_count_common", "_find_moves", "_place_discs"):
        kernel = getattr(_kernels, name)
        monkeypatch.setattr(_kernels, name, lambda *args, kernel=kernel: calls.append(kernel) or kernel(*args))
    whole = found()
    assert len(calls) == 3
    monkeypatch.setattr(_kernels, "_SLICE", size)
    for one, other in zip(found(), whole, strict=True):
        assert np.array_equal(one, other)
    assert len(calls) > 6 + 40 // size
