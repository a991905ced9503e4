import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.report import build_page, describe_fit
from latopo.report.fitted import fitted_points
from latopo.report.report_data import TEST, TRAIN


@pytest.fixture(scope="module")
def table():
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.randn(40), "kind": random.choice(["a", "<b>"], 40)})
    return frame, frame[["size"]].to_numpy()


def test_a_classifier_with_columns(table):
    frame, x = table
    y = np.where(x[:, 0] > 0, "large", "small")
    fitted = DCMClassifier(max_epochs=5, random_state=0, bins=0).fit(x, y)
    data = describe_fit(fitted, y, "Sizes", columns=frame.set_index(frame.index + 100))
    rows = fitted.anchor_rows_
    assert data.points.names == tuple(str(100 + row) for row in rows)
    assert data.points.columns[0].values == tuple(frame["size"][rows])
    assert data.points.columns[1].values == tuple(frame["kind"][rows])
    assert [data.points.class_name(code) for code in data.points.labels] == y[rows].tolist()
    assert data.points.labelled is None
    page = build_page(data)
    assert "Privacy:" in page
    assert "Sizes" in page
    assert "Privacy:" not in build_page(describe_fit(fitted, y))


def test_rows_without_a_target_are_not_labelled(table):
    _, x = table
    y = np.where(np.arange(40) % 2, np.nan, x[:, 0])
    fitted = DCMRegressor(max_epochs=5, random_state=0, unlabelled="nan").fit(x, y)
    points = describe_fit(fitted, y).points
    assert points.is_quantity
    assert np.array_equal(points.labelled, ~np.isnan(y[fitted.anchor_rows_]))
    classes = np.where(np.arange(40) < 10, x[:, 0] > 0, -1)
    fitted = DCMClassifier(max_epochs=5, random_state=0, unlabelled=-1).fit(x, classes)
    assert describe_fit(fitted, classes).points.labelled.sum() == 10


def test_other_rows_are_refused(table):
    frame, x = table
    fitted = DCMRegressor(max_epochs=2, random_state=0).fit(x, x[:, 0])
    with pytest.raises(LatopoError, match="y has 39 entries, but 40 rows were fitted"):
        describe_fit(fitted, x[:39, 0])
    with pytest.raises(LatopoError, match="columns has 3 entries"):
        describe_fit(fitted, x[:, 0], columns=frame[:3])


def test_hidden_labels_are_test_points_that_the_model_did_not_know():
    points = fitted_points(["a", None, None], ["a", "b", "a"], ["1", "2", "3"], True, hidden=[None, "b", None])
    assert points.labels.tolist() == [0, 1, -1]
    assert points.roles.tolist() == [TRAIN, TEST, -1]
    assert points.labelled.tolist() == [True, False, False]
    assert points.shown.tolist() == [0, 1, 0]  # the label, then predictions
