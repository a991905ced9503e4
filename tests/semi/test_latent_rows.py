"""The rows beside the library's own exact ones."""

import numpy as np
import pytest
import torch
from scipy import sparse

from latopo import entmax_neighbors
from latopo.semi.latent_rows import edges_of, join_rows, latent_rows, nearest


@pytest.mark.parametrize("similarity", ["euclidean", "inner"])
def test_rows_are_those_of_entmax_neighbors(similarity):
    x = np.random.RandomState(0).randn(150, 4)
    found = latent_rows(x, similarity, degree=6)
    ptr, col, prob = entmax_neighbors(torch.from_numpy(x), found.gain, 1.5, similarity)
    exact = sparse.csr_array((prob.numpy(), col.numpy(), ptr.numpy()), shape=(150, 150))
    np.testing.assert_allclose(found.rows.toarray(), exact.toarray(), atol=1e-6)
    assert abs(found.rows.nnz / 150 - 6) < 0.2


def test_queries_are_those_of_entmax_neighbors_and_do_not_see_each_other():
    x, new = np.random.RandomState(0).randn(120, 3), np.random.RandomState(1).randn(9, 3)
    found = latent_rows(x, "euclidean", degree=5)
    rows = join_rows(new, x, "euclidean", found.gain, found.degree).toarray()
    ptr, col, prob = entmax_neighbors(torch.from_numpy(new), found.gain, 1.5, anchors=torch.from_numpy(x))
    exact = sparse.csr_array((prob.numpy(), col.numpy(), ptr.numpy()), shape=(9, 120)).toarray()
    np.testing.assert_allclose(rows, exact, atol=1e-6)
    for i in range(9):
        alone = join_rows(new[i : i + 1], x, "euclidean", found.gain, found.degree).toarray()[0]
        np.testing.assert_allclose(alone, rows[i], atol=1e-12)


def test_sparse_points_are_searched_like_dense_ones():
    x = np.random.RandomState(0).rand(90, 200) * (np.random.RandomState(1).rand(90, 200) < 0.03)
    x[5] = 0
    dense, rare = nearest(x, "inner", 8), nearest(sparse.csr_array(x), "inner", 8)
    torch.testing.assert_close(dense.score, rare.score)
    assert rare.deviation[5] == 0
    assert (rare.deviation > 0).sum() == 89


def test_a_row_of_zeros_chooses_nobody():
    x = np.random.RandomState(0).rand(40, 5)
    x[7] = 0
    found = latent_rows(x, "inner", degree=4)
    assert found.rows[[7]].nnz == 0
    assert found.rows.nnz > 39


def test_many_equal_rows_stay_bounded():
    x = np.repeat(np.random.RandomState(0).randn(3, 2), 200, axis=0)
    found = latent_rows(x, "euclidean", degree=5)
    assert found.rows.nnz <= 600 * 30
    np.testing.assert_allclose(found.rows.sum(axis=1), 1, atol=1e-6)


def test_edges_are_undirected_sorted_and_once():
    rows = latent_rows(np.random.RandomState(0).randn(60, 2), "euclidean", degree=4).rows
    edges, prob = edges_of(rows)
    assert (edges[0] < edges[1]).all()
    keys = edges[0] * 60 + edges[1]
    assert (np.diff(keys) > 0).all()
    u, v = edges[:, 0]
    assert np.isclose(prob[0], (rows[u, v] + rows[v, u]) / 2)
