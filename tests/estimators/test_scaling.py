import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from latopo.errors import LatopoError
from latopo.estimators.scaling import Scaling


def test_dense_is_standardised():
    x = np.random.RandomState(0).randn(30, 5) * [1, 10, 1e-8, 1e8, 3] + 7
    np.testing.assert_allclose(Scaling.of("t", x).apply(x).numpy(), StandardScaler().fit_transform(x))


def test_constant_columns_become_zero_also_with_rounding():
    x = np.full((10, 2), 0.1) + np.array([[0.0, 1e-18]])
    assert Scaling.of("t", x).apply(x + 5).abs().max() == 0


@pytest.mark.parametrize(("share", "scaler"), [(0.05, MaxAbsScaler()), (0.9, StandardScaler())])
def test_mostly_empty_columns_are_scaled_by_their_largest_size_and_others_as_dense(share, scaler):
    random = np.random.default_rng(0)
    x = sparse.csr_array(-3.0 * random.random((40, 20)) * (random.random((40, 20)) < share))
    scaled = Scaling.of("t", x).apply(x)
    assert scaled.layout == (torch.sparse_csr if share < 0.3 else torch.strided)
    dense = scaled.to_dense() if share < 0.3 else scaled
    np.testing.assert_allclose(dense.numpy(), scaler.fit_transform(x.toarray()))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_a_filled_column_among_sparse_ones_loses_its_offset(container):
    years = np.arange(1990.0, 2020.0)
    x = np.column_stack([years, np.eye(30)])
    scaling = Scaling.of("t", container(x))
    scaled = scaling.apply(container(x))
    assert scaled.layout == torch.sparse_csr
    np.testing.assert_allclose(scaled.to_dense()[:, 0].numpy(), (years - years.mean()) / years.std())
    assert torch.equal(scaled.to_dense()[:, 1:], torch.eye(30, dtype=torch.float64))
    empty = scaling.apply(container((1, 31)))  # a query may have no entry there
    np.testing.assert_allclose(empty.to_dense()[0, 0].item(), -years.mean() / years.std())
    assert scaling.apply(container((0, 31))).shape == (0, 31)


def test_overflow_is_refused():
    with pytest.raises(LatopoError, match="so large"):
        Scaling.of("DCMClassifier", np.array([[1e308], [-1e308]]))
