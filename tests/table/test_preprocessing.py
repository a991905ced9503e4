import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table.preprocessing import Preprocessing

TABLE = pd.DataFrame(
    {
        "size": ["1", None, "4", "2"],
        "day": ["2024-01-01", "2024-01-02", None, "2024-01-05"],
        "colour": ["red", "blue", "red", None],
    }
)


@pytest.fixture
def preprocessing():
    return Preprocessing.fit(TABLE)


def test_features(preprocessing):
    features, notes = preprocessing.transform(TABLE)
    assert preprocessing.feature_names == ["size", "day", "colour=red", "colour=blue", "colour=(missing)"]
    assert features.tolist() == [
        [1.0, 19723.0, 1.0, 0.0, 0.0],
        [2.0, 19724.0, 0.0, 1.0, 0.0],
        [4.0, 19724.0, 1.0, 0.0, 0.0],
        [2.0, 19727.0, 0.0, 0.0, 1.0],
    ]
    assert len(notes) == 2


def test_texts_and_types_give_the_same_features(preprocessing):
    types = {"size": "Int64", "day": "datetime64[s]", "colour": "category"}
    typed = TABLE.astype(types)
    assert Preprocessing.fit(typed) == preprocessing
    assert np.array_equal(preprocessing.transform(typed)[0], preprocessing.transform(TABLE)[0])


def test_order_of_columns_does_not_matter(preprocessing):
    turned = TABLE.iloc[:, ::-1]
    assert np.array_equal(preprocessing.transform(turned)[0], preprocessing.transform(TABLE)[0])


def test_unknown_and_missing_categories():
    fitted = Preprocessing.fit(pd.DataFrame({"c": ["a", "b", "a"]}))
    features, notes = fitted.transform(pd.DataFrame({"c": ["z", None, "b"]}))
    assert features.tolist() == [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    assert notes == ["column 'c': the category 'z' is unknown, taken as none"]


def test_json_round_trip(preprocessing):
    again = Preprocessing.from_json(json.loads(json.dumps(asdict(preprocessing))))
    assert again == preprocessing


def test_missing_columns_are_listed(preprocessing):
    with pytest.raises(LatopoError, match="lacks 2 of the 3 columns of the fit: 'size', 'colour'"):
        preprocessing.transform(TABLE[["day"]])


def test_limits(monkeypatch):
    monkeypatch.setattr("latopo.table.preprocessing._MAX_FEATURES", 4)
    with pytest.raises(LatopoError, match="give 5 features, expected at most 4"):
        Preprocessing.fit(TABLE)
    with pytest.raises(LatopoError, match="no column is left"):
        Preprocessing.fit(TABLE[[]])
