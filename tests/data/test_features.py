import warnings

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix, random_array
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

from latopo.data.features import (
    SPARSE_MAX_DENSITY,
    compact,
    csr_from_scipy,
    csr_tensor,
    is_sparse,
    row_normalize,
    standardize,
)


def test_csr_from_scipy_sorts_sums_and_drops_zeros():
    matrix = csr_matrix((np.array([1.0, 2.0, 3.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), (2, 3))
    x = csr_from_scipy(matrix)
    assert x.dtype == torch.float32
    assert x.crow_indices().tolist() == [0, 2, 2]
    assert x.col_indices().tolist() == [0, 2]
    assert x.values().tolist() == [2.0, 4.0]
    assert matrix.nnz == 4  # the caller's matrix is not changed


def test_csr_tensor_refuses_bad_indices():
    with pytest.raises(RuntimeError):
        csr_tensor(torch.tensor([0, 1]), torch.tensor([7]), torch.tensor([1.0]), (1, 3))


def test_csr_tensor_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.0]), (1, 1))


@pytest.mark.parametrize(("density", "sparse"), [(SPARSE_MAX_DENSITY / 2, True), (SPARSE_MAX_DENSITY * 2, False)])
def test_compact_follows_density(density, sparse):
    dense = torch.from_numpy(random_array((1024, 1024), density=density, rng=0).toarray()).float()
    x = compact(dense)
    assert is_sparse(x) is sparse
    assert torch.equal(x.to_dense(), dense)


def test_compact_leaves_small_matrices_dense():
    assert not is_sparse(compact(torch.zeros(1023, 1024)))
    assert is_sparse(compact(torch.zeros(1024, 1024)))


def test_row_normalize_sparse_equals_dense_equals_pyg():
    dense = torch.from_numpy(random_array((50, 30), density=0.2, rng=1).toarray()).float().ceil()
    dense[7] = 0
    normalized = row_normalize(dense)
    assert normalized[7].eq(0).all()
    assert torch.allclose(normalized, NormalizeFeatures()(Data(x=dense.clone())).x)
    assert torch.allclose(row_normalize(csr_from_scipy(csr_matrix(dense.numpy()))).to_dense(), normalized)


def test_row_normalize_divides_sums_below_one_too():
    assert row_normalize(torch.tensor([[0.1, 0.3]])).tolist() == [[pytest.approx(0.25), pytest.approx(0.75)]]


def test_standardize():
    x = standardize(torch.tensor([[1.0, 2.0], [5.0, 2.0], [3.0, 2.0]]))
    assert x[:, 1].eq(0).all()
    assert x[:, 0].tolist() == [pytest.approx(-(1.5**0.5)), pytest.approx(1.5**0.5), 0.0]
