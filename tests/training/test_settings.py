import pytest

from latopo.errors import LatopoError
from latopo.training import TrainingSettings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 2.5}, "epochs must be a whole number of at least 1, got 2.5"),
        ({"lr": float("inf")}, "lr must be a number above 0, got inf"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0, got -1"),
        ({"patience": 0}, "patience must be a whole number of at least 1 or null, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(changes, message):
    with pytest.raises(LatopoError, match=message):
        TrainingSettings(**changes)


def test_whole_numbers_are_numbers():
    assert TrainingSettings(lr=1, weight_decay=0) == TrainingSettings(lr=1.0, weight_decay=0.0)
