"""Diffusion beside its closed form, and targets that spread."""

import numpy as np
from scipy import sparse

from latopo.semi.diffusion import diffuse, diffusion_operator, spread_targets, spread_values
from latopo.semi.latent_rows import latent_rows


def operator(count=50, seed=0):
    x = np.random.RandomState(seed).randn(count, 2)
    return x, diffusion_operator(latent_rows(x, "euclidean", 4).rows, 0.25)


def test_the_operator_is_symmetric_and_never_amplifies():
    _, a = operator()
    dense = a.toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-9


def test_many_steps_come_to_the_resolvent():
    x, a = operator()
    exact = 0.2 * np.linalg.solve(np.eye(50) - 0.8 * a.toarray(), x)
    np.testing.assert_allclose(diffuse(a, x, steps=200), exact, atol=1e-10)


def test_a_row_without_neighbours_keeps_its_features():
    rows = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    x = np.array([[1.0], [2.0], [5.0]])
    assert np.isclose(diffuse(diffusion_operator(rows, 0.1), x)[2, 0], 5.0)


def test_spreading_gives_probabilities_and_nothing_where_nothing_arrives():
    rows = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    target = np.array([[1.0, 0], [0, 0], [0, 0]])
    found = spread_targets(diffusion_operator(rows, 0.1), target)
    np.testing.assert_allclose(found.sum(axis=1), [1, 1, 0])
    assert found[1].argmax() == 0


def test_values_spread_to_the_nearest_known_ones():
    x = np.arange(20.0)[:, None]
    a = diffusion_operator(latent_rows(x, "euclidean", 2).rows, 0.5)
    known = np.zeros(20, bool)
    known[[0, 19]] = True
    found = spread_values(a, np.where(known, x[:, 0], 99.0), known)
    assert found[1] < 5 < 14 < found[18]
    assert np.all((found >= 0) & (found <= 19))
