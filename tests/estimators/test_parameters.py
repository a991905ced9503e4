from dataclasses import fields

import pytest

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier
from latopo.estimators.parameters import Parameters


def parameters(**changes):
    defaults = DCMClassifier().get_params()
    return Parameters(**{item.name: defaults[item.name] for item in fields(Parameters)} | changes)


def test_every_parameter_that_can_be_checked_is():
    unchecked = {"unlabelled", "random_state"}  # any value, and scikit-learn's own
    assert {item.name for item in fields(Parameters)} | unchecked == set(DCMClassifier().get_params())
    assert parameters().model == "auto"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "transformer"}, "model must be auto or one of mlp, gcn"),
        ({"hidden_channels": "wide"}, "hidden_channels must be a whole number of at least 1 or auto, got 'wide'"),
        ({"early_stopping": 1}, "early_stopping must be true or false or auto, got 1"),
        ({"max_anchors": 1}, "max_anchors must be a whole number of at least 2 or null, got 1"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_bad_ones_are_named(changes, message):
    with pytest.raises(LatopoError, match=message):
        parameters(**changes)
