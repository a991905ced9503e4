from dataclasses import fields

import numpy as np
import pytest

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor


def test_scikit_learn_knows_every_parameter():
    assert sorted(item.name for item in fields(DCMClassifier)) == sorted(DCMClassifier().get_params())
    assert DCMRegressor(3).max_length == 3
    with pytest.raises(TypeError, match="positional"):
        DCMClassifier(3, "dcm")


def test_numbers_of_numpy_are_numbers_and_stay_as_they_are(rows):
    epochs = np.int64(1)
    classifier = DCMClassifier(max_epochs=epochs, random_state=0).fit(*rows)
    assert classifier.max_epochs is epochs
    assert len(classifier.history_) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "transformer"}, "model must be auto or one of mlp, gcn"),
        (
            {"hidden_channels": "wide"},
            "hidden_channels must be a whole number of at least 1 and of at most 65536 or auto, got 'wide'",
        ),
        ({"early_stopping": 1}, "early_stopping must be true or false or auto, got 1"),
        ({"max_anchors": 1}, "max_anchors must be a whole number of at least 2, auto or null, got 1"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_bad_ones_are_named(rows, changes, message):
    with pytest.raises(LatopoError, match=f"DCMClassifier: {message}"):
        DCMClassifier(**changes).fit(*rows)
