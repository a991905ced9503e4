import numpy as np

from latopo.draw.packing import pack


def test_components_keep_their_shape() -> None:
    position = np.array([[0.0, 0], [2, 0], [2, 1], [0, 0], [0, 1]])
    components = [np.array([0, 1, 2]), np.array([3, 4])]
    edges = np.array([[0, 1], [1, 2], [3, 4]])
    packed = pack(position, components, edges)
    for nodes in components:
        np.testing.assert_allclose(packed[nodes] - packed[nodes[0]], position[nodes] - position[nodes[0]])


def test_nothing_foreign_lands_inside_a_ring() -> None:
    angle = np.arange(40) * np.pi / 20
    ring = 10 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    position = np.concatenate([ring, np.zeros((5, 2))])
    edges = np.stack([np.arange(40), (np.arange(40) + 1) % 40], axis=1)
    packed = pack(position, [np.arange(40), *np.arange(40, 45)[:, None]], edges)
    center = packed[:40].mean(axis=0)
    assert np.linalg.norm(packed[40:] - center, axis=1).min() > 10


def test_a_long_component_does_not_ask_for_a_huge_grid() -> None:
    position = np.stack([np.arange(20_000.0), np.zeros(20_000)], axis=1)
    edges = np.stack([np.arange(19_998), np.arange(1, 19_999)], axis=1)
    packed = pack(position, [np.arange(19_999), np.array([19_999])], edges)
    assert np.isfinite(packed).all()
