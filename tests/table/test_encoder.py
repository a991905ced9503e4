import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.table import TableEncoder
from latopo.table.preprocessing import Preprocessing


@pytest.fixture
def frame():
    rows = 40
    return pd.DataFrame(
        {
            "size": [None if row % 7 == 0 else row / 10 for row in range(rows)],
            "colour": pd.Categorical([["red", "blue", None][row % 3] for row in range(rows)]),
            "day": pd.to_datetime([f"2024-01-{row % 28 + 1:02}" for row in range(rows)]),
            "yes": [row % 2 == 0 for row in range(rows)],
            "same": "x",
        }
    )


def test_it_is_what_fit_does(frame):
    encoder = TableEncoder().fit(frame)
    preprocessing = Preprocessing.fit(frame)
    assert encoder.preprocessing_ == preprocessing
    assert (encoder.transform(frame) == preprocessing.transform(frame)[0]).all()
    names = encoder.get_feature_names_out().tolist()
    assert names == ["size", "colour=red", "colour=blue", "colour=(missing)", "day", "yes=False", "yes=True"]
    assert any("constant" in note for note in encoder.notes_)
    assert encoder.feature_names_in_.tolist() == list(frame.columns)
    assert encoder.set_output(transform="pandas").transform(frame).columns.tolist() == names


def test_in_a_pipeline_and_a_search(frame):
    y = np.where(frame["colour"] == "red", "a", "b")
    model = make_pipeline(TableEncoder(categorical=["yes"]), DCMClassifier(max_epochs=20, random_state=0))
    assert cross_val_score(clone(model), frame, y, cv=2).mean() > 0.8
    with pytest.warns(UserWarning, match="'green' is unknown"):
        model.fit(frame, y).predict(frame.assign(colour="green"))


def test_medians_are_those_of_the_fit(frame):
    encoder = TableEncoder().fit(frame[:20])
    assert encoder.transform(frame.assign(size=None))[0, 0] == frame["size"][:20].median()
    assert (encoder.transform(frame.assign(other=1)) == encoder.transform(frame)).all()


def test_arrays_and_lists():
    rows = [["a", 1.0], ["b", 2.5], ["a", 4.0]]
    encoder = TableEncoder().fit(rows)
    assert encoder.get_feature_names_out().tolist() == ["x0=a", "x0=b", "x1"]
    assert encoder.transform(np.array(rows, object)).tolist() == [[1, 0, 1.0], [0, 1, 2.5], [1, 0, 4.0]]
    with pytest.raises(LatopoError, match="X has 1 columns, expected 2"):
        encoder.transform([["a"]])


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (["a", "b"], {}, "rows and columns"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), {}, "'a' appears twice"),
        (pd.DataFrame({"a": [1, 2]}), {"categorical": ["b"]}, "'b', which is not a column"),
    ],
)
def test_bad_tables(table, options, message):
    with pytest.raises(LatopoError, match=message):
        TableEncoder(**options).fit(table)


def test_not_fitted(frame):
    with pytest.raises(NotFittedError):
        TableEncoder().transform(frame)


@pytest.mark.parametrize("kind", [DCMClassifier, DCMRegressor])
def test_estimators_that_meet_texts_point_to_it(frame, kind):
    y = np.arange(40) % 2
    with pytest.raises(LatopoError, match=r"TableEncoder\(\)"):
        kind().fit(frame[["colour"]].astype(object).fillna("none"), y)
    fitted = TransformedTargetRegressor(make_pipeline(TableEncoder(), DCMRegressor(max_epochs=2))).fit(frame, y * 1.0)
    assert fitted.predict(frame).shape == (40,)
