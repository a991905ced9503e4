import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from latopo.draw._kernels import count_common, pack_shapes, pivot_distances, settle


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


def test_pivot_distances_are_hops_and_pivots_are_far_apart() -> None:
    graph = nx.path_graph(9)
    hops = pivot_distances(*csr(graph), 4, 3)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    for pivot, column in zip([4, 0, 8], hops.T, strict=True):
        assert column.tolist() == [lengths[pivot][node] for node in range(9)]


def push_by_hand(position: np.ndarray, mass: np.ndarray) -> np.ndarray:
    difference = position[:, None] - position
    squared = (difference**2).sum(-1) + 1e-4
    return mass[:, None] * (mass[:, None] / squared[..., None] * difference).sum(1)


def test_one_step_goes_half_of_the_way_to_the_balance_of_the_forces() -> None:
    graph = nx.gnp_random_graph(12, 0.4, seed=1)
    ptr, neighbor = csr(graph)
    generator = np.random.default_rng(0)
    position, weight = generator.normal(size=(12, 2)), np.ones(neighbor.size)
    mass = np.diff(ptr).astype(float)
    pull = nx.to_numpy_array(graph) @ position - mass[:, None] * position
    force = pull + push_by_hand(position, mass) - 0.1 * mass[:, None] * position
    expected = position + 0.5 * force / (1.1 * mass[:, None])
    one_leaf = np.array([0, 12]), np.arange(12)
    settle(position, mass, ptr, neighbor, weight, *one_leaf, 0.1, 1e9, 1)
    np.testing.assert_allclose(position, expected, rtol=1e-12)


def test_far_leaves_push_nearly_as_their_nodes_do() -> None:
    generator = np.random.default_rng(0)
    start = np.concatenate([generator.normal(size=(20, 2)), generator.normal((40, 0), size=(20, 2))])
    alone = np.zeros(41, np.int64), np.zeros(0, np.int64), np.zeros(0)
    exact, coarse = start.copy(), start.copy()
    settle(exact, np.ones(40), *alone, np.array([0, 40]), np.arange(40), 1.0, 1e9, 1)
    settle(coarse, np.ones(40), *alone, np.array([0, 20, 40]), np.arange(40), 1.0, 1e9, 1)
    assert not np.array_equal(exact, coarse)
    np.testing.assert_allclose(coarse, exact, atol=1e-3)


def test_no_node_moves_farther_than_the_temperature_allows() -> None:
    start = np.random.default_rng(0).normal(size=(30, 2))
    position = start.copy()
    alone = np.zeros(31, np.int64), np.zeros(0, np.int64), np.zeros(0)
    settle(position, np.ones(30), *alone, np.array([0, 30]), np.arange(30), 0.1, 0.01, 1)
    moved = np.linalg.norm(position - start, axis=1)
    limit = 0.01 * np.sqrt((start**2).sum() / 30)
    assert moved.max() == pytest.approx(limit)


def test_packed_shapes_do_not_overlap_and_stay_close() -> None:
    generator = np.random.default_rng(0)
    shapes = [np.argwhere(generator.random((side, side)) < 0.8) - side // 2 for side in (9, 5, 5, 3, 2)]
    shapes += [np.array([[0, 0]])] * 20
    ptr = np.cumsum([0, *map(len, shapes)])
    shift = pack_shapes(ptr, np.concatenate(shapes), 40)
    squares = np.concatenate([shape + s for shape, s in zip(shapes, shift, strict=True)])
    assert len(np.unique(squares, axis=0)) == len(squares)
    assert np.ptp(squares, axis=0).max() < 2.2 * len(squares) ** 0.5
