import numpy as np
import pytest

from latopo.errors import LatopoError
from latopo.estimators.splitting import validation_split


def test_parts_are_disjoint_and_stratified():
    y = np.repeat([0, 1, 2], [100, 60, 40])
    labelled = np.arange(200) * 3  # row numbers are not positions
    train, chosen = validation_split(labelled, y, 0.1, np.random.RandomState(0))
    assert np.array_equal(np.sort(np.concatenate([train, chosen])), labelled)
    assert np.bincount(y[chosen // 3]).tolist() == [10, 6, 4]


def test_a_class_of_one_row_trains():
    y = np.array([0] * 50 + [1])
    for seed in range(5):
        train, _ = validation_split(np.arange(51), y, 0.5, np.random.RandomState(seed))
        assert 50 in train


@pytest.mark.parametrize(("count", "fraction"), [(29, 0.1), (100, 0.0)])
def test_few_rows_do_both(count, fraction):
    train, chosen = validation_split(np.arange(count), None, fraction, np.random.RandomState(0))
    assert len(train) == len(chosen) == count


@pytest.mark.parametrize("fraction", [-0.1, 1.0])
def test_bad_fraction(fraction):
    with pytest.raises(LatopoError, match="validation_fraction"):
        validation_split(np.arange(50), None, fraction, np.random.RandomState(0))


def test_something_is_left_to_learn_from():
    y = np.arange(40) % 5
    train, chosen = validation_split(np.arange(40), y, 0.99, np.random.RandomState(0))
    assert sorted(y[train]) == [0, 1, 2, 3, 4]
    assert len(chosen) == 35
    train, chosen = validation_split(np.arange(40), None, 0.99, np.random.RandomState(0))
    assert (len(train), len(chosen)) == (1, 39)
