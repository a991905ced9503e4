import numpy as np
import pytest

from latopo.estimators import DCMClassifier, DCMRegressor, load_estimator, save_estimator
from latopo.estimators.choosing import BINS, choose_bins


def steps():
    """Classes that change several times along one axis: hard along the whole axis, easy in bins."""
    x = np.random.RandomState(0).uniform(size=(300, 2))
    return x, (x[:, 0] * 6).astype(int) % 2


def lines():
    x = np.random.RandomState(0).randn(200, 5)
    return x, (x.sum(axis=1) + np.random.RandomState(1).randn(200) > 0).astype(int)


def test_the_lower_held_out_loss_is_chosen():
    for problem, expected in ((steps(), BINS), (lines(), 0)):
        choice = choose_bins("test", *problem, 2, 0.01, seed=0)
        assert choice.bins == expected
        assert np.argmin(choice.losses) == bool(expected)
        assert choice[:2] == choose_bins("test", *problem, 2, 0.01, seed=0)[:2]


def test_values_are_compared_in_their_deviation():
    x, y = steps()
    losses = choose_bins("test", x, y.astype(float), 0, 0.01, seed=0).losses
    assert losses == pytest.approx(choose_bins("test", x, 1000.0 * y + 5, 0, 0.01, seed=0).losses, rel=1e-3)


@pytest.mark.parametrize("shape", [(59, 2), (100, 101)])
def test_nothing_is_compared(shape):
    choice = choose_bins("test", np.random.RandomState(0).randn(*shape), np.arange(shape[0]) % 2, 2, 0.01, seed=0)
    assert choice == (0, (), 0.0)
    assert "too few rows" in str(choice)


def test_bins_help_store_and_are_printed(tmp_path, capsys):
    x, y = steps()
    plain, binned = (DCMClassifier(random_state=0, bins=bins, verbose=1).fit(x[::2], y[::2]) for bins in (0, "auto"))
    assert (plain.bins_, binned.bins_) == (0, BINS)
    assert binned.score(x[1::2], y[1::2]) > plain.score(x[1::2], y[1::2]) + 0.1
    assert "numbers are taken in 8 bins: held-out loss" in capsys.readouterr().err
    save_estimator(binned, tmp_path)
    assert (load_estimator(tmp_path).predict_proba(x) == binned.predict_proba(x)).all()


def test_a_regressor_without_comparison():
    x = np.linspace(0, 6, 100)[:, None]
    assert DCMRegressor(bins=3, max_epochs=3).fit(x, x[:, 0]).bins_ == 3
