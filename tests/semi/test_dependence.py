"""The distance correlation beside its definition, and the columns that it keeps."""

import numpy as np
from sklearn.datasets import make_moons

from latopo.semi.dependence import dependence, dependent_columns


def brute_force(a, b):
    """Squared distance correlation of two columns, by its definition."""

    def centred(column):
        d = np.array([[abs(u - v) for v in column] for u in column])
        return d - d.mean(0)[None] - d.mean(1)[:, None] + d.mean()

    u, v = centred(a), centred(b)
    return (u * v).sum() / np.sqrt((u * u).sum() * (v * v).sum())


def test_equals_the_definition():
    x = np.random.RandomState(0).randn(30, 3)
    x[:, 1] = x[:, 0] ** 2
    found = dependence(x)
    for i in range(3):
        for j in range(3):
            assert np.isclose(found[i, j], 0 if i == j else brute_force(x[:, i], x[:, j]), atol=1e-5)


def test_noise_beside_two_moons_is_left_out():
    x, _ = make_moons(400, noise=0.1, random_state=0)
    noise = np.random.RandomState(0).randn(400, 8)
    assert dependent_columns(np.hstack([x, noise])).tolist() == [True, True] + [False] * 8


def test_all_columns_stay_where_none_depends_on_another():
    assert dependent_columns(np.random.RandomState(0).randn(300, 4)).all()
    assert dependent_columns(np.random.RandomState(0).randn(10, 2)).all()
