import numpy as np
import pytest

from latopo.estimators import DCMRegressor


@pytest.fixture(scope="module")
def curve():
    x = np.linspace(-3, 3, 90)[:, None]
    return x, 1000 + 50 * np.sin(x[:, 0])


def test_learns_in_the_units_of_y(curve):
    X, y = curve
    regressor = DCMRegressor(random_state=0, weight_decay=1e-3).fit(X[::2], y[::2])
    assert regressor.score(X[1::2], y[1::2]) > 0.8
    assert np.corrcoef(regressor.transduction_, y[::2])[0, 1] > 0.9
    assert abs(regressor.transduction_.mean() - 1000) < 20


def test_missing_targets_are_opt_in(curve):
    X, y = curve
    y = np.where(np.arange(90) % 3 == 0, y, np.nan)
    with pytest.raises(ValueError, match="NaN"):
        DCMRegressor(max_epochs=3).fit(X, y)
    regressor = DCMRegressor(random_state=0, max_epochs=3, unlabelled="nan").fit(X, y)
    assert regressor.complex_.num_nodes == 90
    assert np.isfinite(regressor.transduction_).all()


@pytest.mark.parametrize(
    ("unlabelled", "y", "message"),
    [
        (-1, np.zeros(90), "unlabelled must be None or 'nan'"),
        ("nan", np.full(90, np.nan), "no value at all"),
        ("nan", np.zeros((90, 2)), "one column"),
        (None, None, "requires y"),
        (None, np.zeros(80), "inconsistent"),
    ],
)
def test_bad_targets(curve, unlabelled, y, message):
    with pytest.raises(ValueError, match=message):
        DCMRegressor(max_epochs=3, unlabelled=unlabelled).fit(curve[0], y)


def test_infinite_target_is_refused_either_way(curve):
    y = np.append(np.zeros(89), np.inf)
    for unlabelled in (None, "nan"):
        with pytest.raises(ValueError, match="infinity"):
            DCMRegressor(max_epochs=3, unlabelled=unlabelled).fit(curve[0], y)
