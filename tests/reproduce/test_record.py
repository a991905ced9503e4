import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.reproduce import Record, Unit
from latopo.reproduce.unit import Hashed


def again(record, **changes):
    content = json.loads(json.dumps({**record.to_json(), **changes}, allow_nan=False))
    return Record.from_json(content, {item.hash: item for item in (record.resolved, record.environment)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": math.nan}, "test_score is nan"),
        ({"score": 85.7}, "test_score is 85.7, expected a share between 0 and 1, not per cent"),
        ({"score": None}, "test_score is None"),
        ({"validation_score": math.inf}, "validation_score is inf"),
        ({"homophily": math.nan}, "homophily is nan"),
        ({"kept_share": 1.5}, "kept_share is 1.5"),
        ({"mean_degree": np.float32(3)}, "mean_degree is .*expected a finite number"),
        ({"num_polygons": True}, "num_polygons is True"),
    ],
)
def test_bad_records_are_refused(make_record, changes, message):
    with pytest.raises(LatopoError, match=message):
        make_record(**changes)


def test_regression_scores_may_be_negative(make_record):
    assert make_record(-0.3, metric="r2", validation_score=-2.0).test_score == -0.3


def test_a_record_is_known_by_the_settings_that_it_was_trained_with(make_record):
    assert make_record().key == make_record().unit.key
    other = make_record(resolved=Hashed(make_record().resolved, numerics=0))
    assert other.unit == make_record().unit
    assert other.key != make_record().key


shares = st.floats(0, 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
dictionaries = st.dictionaries(st.text(), json_values, min_size=1, max_size=4)


@budget(max_examples=50, deadline=None)
@given(
    settings=dictionaries, resolved=dictionaries, environment=dictionaries, score=shares,
    homophily=st.none() | shares, search=st.lists(st.tuples(shares, shares), max_size=3),
)  # fmt: skip
def test_records_survive_json(settings, resolved, environment, score, homophily, search):
    unit = Unit("mlp", "texas", False, "honest", 0, settings=settings)
    record = Record(
        unit, score, 80, 10, 3, 1.5, 7, homophily=homophily, search=tuple(search), resolved=Hashed(resolved),
        environment=Hashed(environment),
    )  # fmt: skip
    assert again(record) == record
    assert again(record).key == record.key


def test_stored_fields_are_checked(make_record):
    record = make_record()
    with pytest.raises(LatopoError, match="unknown fields colour; was it written by a newer latopo"):
        again(record, colour="red")
    with pytest.raises(LatopoError, match="migrate_records"):
        again(record, version="0.1.0")
    with pytest.raises(LatopoError, match="'feed' is not defined before it is used"):
        again(record, resolved="feed")
    content = record.to_json()
    del content["seconds"]
    with pytest.raises(LatopoError, match="seconds"):
        Record.from_json(content, {item.hash: item for item in (record.resolved, record.environment)})


def test_a_curve_is_kept_and_an_empty_one_not_written(make_record):
    record = make_record(0.5, model="gin", dataset="mutag", graph=True, protocol="paper", curve=(0.25, 0.5))
    known = {item.hash: item for item in (record.resolved, record.environment)}
    assert Record.from_json(json.loads(json.dumps(record.to_json())), known) == record
    assert "curve" not in make_record().to_json()
