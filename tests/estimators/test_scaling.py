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


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_sparse_is_scaled_by_its_largest_size(share):
    x = sparse.random_array((40, 20), density=share, rng=np.random.default_rng(0), format="csr") * -3.0
    scaled = Scaling.of("t", x).apply(x)
    assert scaled.layout == (torch.sparse_csr if share < 0.3 else torch.strided)
    dense = scaled.to_dense() if share < 0.3 else scaled
    np.testing.assert_allclose(dense.numpy(), MaxAbsScaler().fit_transform(x).toarray())


def test_overflow_is_refused():
    with pytest.raises(LatopoError, match="so large"):
        Scaling.of("DCMClassifier", np.array([[1e308], [-1e308]]))
