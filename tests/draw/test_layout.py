import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import CellComplex
from latopo.draw import layout
from latopo.draw.layout import pack


def random_complex(num_nodes: int, num_edges: int, seed: int) -> CellComplex:
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(num_nodes, (2, num_edges), generator=generator).sort(dim=0).values
    pairs = torch.unique(pairs[:, pairs[0] != pairs[1]], dim=1)
    return CellComplex(num_nodes, pairs)


@settings(max_examples=30, deadline=None)
@given(num_nodes=st.integers(1, 60), num_edges=st.integers(0, 90), seed=st.integers(0, 99))
def test_positions_are_finite_centred_and_apart(num_nodes: int, num_edges: int, seed: int) -> None:
    position = layout(random_complex(num_nodes, num_edges, seed), seed)
    assert position.shape == (num_nodes, 2)
    assert np.isfinite(position).all()
    np.testing.assert_allclose(position.max(axis=0) + position.min(axis=0), 0, atol=1e-12)
    assert len(np.unique(position.round(6), axis=0)) == num_nodes
    if num_nodes > 1:
        assert np.abs(position).max() == pytest.approx(1)


def test_nothing_to_place(empty: CellComplex) -> None:
    assert layout(empty).shape == (0, 2)


def test_the_seed_decides_all_bits(communities) -> None:
    complex, _ = communities()
    first = layout(complex, seed=3)
    assert first.tobytes() == layout(complex, seed=3).tobytes()
    assert not np.allclose(first, layout(complex, seed=4))


def test_same_bits_in_another_process_with_one_thread_and_no_matplotlib() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None; import torch; from latopo import CellComplex;"
        "from latopo.draw import draw, layout; ends = torch.arange(300);"
        "complex = CellComplex(300, torch.stack([ends, (ends * 7 + 1) % 300]), validate=False);"
        "print(layout(complex).tobytes().hex(), complex._repr_html_()[:4])"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    there = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    ends = torch.arange(300)
    complex = CellComplex(300, torch.stack([ends, (ends * 7 + 1) % 300]), validate=False)
    assert there.stdout.split() == [layout(complex).tobytes().hex(), "<div"]


def test_communities_are_visible(communities) -> None:
    complex, group = communities()
    position = layout(complex)
    centers = np.stack([position[group == g].mean(axis=0) for g in range(4)])
    nearest = np.linalg.norm(position[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.97


def test_edges_are_short() -> None:
    ends = torch.arange(60)
    ring = CellComplex(60, torch.stack([ends, (ends + 1) % 60]).sort(dim=0).values)
    position = layout(ring)
    u, v = ring.edge_index.numpy()
    edges = np.linalg.norm(position[u] - position[v], axis=1)
    assert edges.max() < 0.3 * np.linalg.norm(position[:, None] - position, axis=2).mean()


def test_components_do_not_mix() -> None:
    """Two grids and ten single nodes: the nearest other node is always of the same component."""
    number = np.arange(36).reshape(6, 6)
    pairs = np.concatenate([np.stack([number[:-1], number[1:]], -1), np.stack([number.T[:-1], number.T[1:]], -1)])
    pairs = pairs.reshape(-1, 2)
    edge_index = torch.from_numpy(np.sort(np.concatenate([pairs, pairs + 36]), axis=1).T.copy())
    position = layout(CellComplex(82, edge_index))
    distance = np.linalg.norm(position[:, None] - position, axis=2) + 9 * np.eye(82)
    owner = np.concatenate([np.repeat([0, 1], 36), np.full(10, 2)])
    assert (owner[distance.argmin(axis=1)] == owner)[:72].all()
    assert distance[72:].min() > 0.5 * np.median(distance[:72].min(axis=1))


def test_packed_components_keep_their_shape() -> None:
    position = np.array([[0.0, 0], [2, 0], [2, 1], [0, 0], [0, 1]])
    components = [np.array([0, 1, 2]), np.array([3, 4])]
    packed = pack(position, components, gap=1.0)
    for nodes in components:
        np.testing.assert_allclose(packed[nodes] - packed[nodes[0]], position[nodes] - position[nodes[0]])


def test_nothing_foreign_lands_inside_a_ring() -> None:
    angle = np.arange(40) * np.pi / 20
    ring = 10 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    packed = pack(np.concatenate([ring, np.zeros((5, 2))]), [np.arange(40), *np.arange(40, 45)[:, None]], gap=1.0)
    center = packed[:40].mean(axis=0)
    assert np.linalg.norm(packed[40:] - center, axis=1).min() > 10


def test_a_long_component_does_not_ask_for_a_huge_grid() -> None:
    position = np.stack([np.arange(20_000.0), np.zeros(20_000)], axis=1)
    packed = pack(position, [np.arange(19_999), np.array([19_999])], gap=1.0)
    assert np.isfinite(packed).all()
    assert np.linalg.norm(packed[:-1] - packed[-1], axis=1).min() >= 1


def test_many_isolated_nodes_fill_a_square() -> None:
    position = layout(CellComplex(1000, torch.zeros(2, 0, dtype=torch.int64)))
    assert len(np.unique(position.round(6), axis=0)) == 1000
    assert np.ptp(position, axis=0).min() > 1.8
