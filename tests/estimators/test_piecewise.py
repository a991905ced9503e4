import numpy as np

from latopo.estimators.piecewise import Bins
from latopo.estimators.scaling import Scaling


def test_a_linear_map_of_the_bins_is_any_piecewise_linear_function():
    x = np.random.RandomState(0).randn(200, 1)
    bins = Bins.of(x, 4)
    knots = np.append(bins.low, bins.low[-1] + bins.width[-1])
    wanted = np.array([0.0, 3.0, -1.0, 2.0, 2.0])  # at the knots
    found = bins.apply(x)[:, 1:] @ np.diff(wanted)
    assert np.allclose(found, np.interp(x[:, 0], knots, wanted))


def test_columns_without_quantities_add_nothing():
    x = np.column_stack([np.arange(20) % 2, np.ones(20), np.r_[np.zeros(18), 1, 2], np.arange(20)]).astype(float)
    assert set(Bins.of(x, 4).column) == {3}
    assert Bins.of(x[:, :2], 4).apply(x[:, :2]).shape == (20, 2)


def test_scaling_takes_the_bins_first():
    x = np.random.RandomState(0).exponential(size=(100, 3))
    scaled = Scaling.of("test", x, bins=8).apply(x).numpy()
    assert scaled.shape == (100, 3 + 3 * 8)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose(scaled.std(axis=0), 1)
