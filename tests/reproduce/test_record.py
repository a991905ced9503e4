import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from latopo.errors import LatopoError
from latopo.reproduce import Record, Unit


def unit(**changes):
    identity = {"model": "dcm", "dataset": "texas", "graph": False, "protocol": "honest", "fold": 0, "version": "1"}
    return Unit(**{**identity, **changes})


def test_key_is_stable_for_ever():
    # A change of this literal would make every stored run unknown.
    assert unit(settings={"gain": 5.0, "decays": [1e-4, 5e-3], "note": "α"}).key == "bb96d91edef94acb6e2086ee"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "dcm-all"}, {"dataset": "cora"}, {"graph": True}, {"protocol": "paper"}, {"fold": 1}, {"seed": 1},
        {"settings": {"gain": 5}}, {"version": "2"},
    ],
)  # fmt: skip
def test_every_identifying_field_changes_the_key(changes):
    assert unit(**changes).key != unit().key
    assert unit(**changes) != unit()


def test_equal_settings_have_equal_keys():
    first = unit(settings={"a": 1, "b": {"c": (1.0, 2.5)}})
    second = unit(settings={"b": {"c": [1, 2.5]}, "a": 1.0})
    assert first.key == second.key
    assert first == second
    assert hash(first) == hash(second)
    assert unit(settings={"a": True}).key != unit(settings={"a": 1}).key


def test_floats_stay_floats_in_the_settings():
    assert isinstance(unit(settings={"gain": 50.0}).settings["gain"], float)


def test_settings_are_a_copy():
    settings = {"decays": [1e-4]}
    item = unit(settings=settings)
    key = item.key
    settings["decays"].append(1.0)
    assert item.settings == {"decays": [1e-4]}
    assert unit(settings=item.settings).key == key


def test_a_unit_travels_to_another_process():
    item = unit(settings={"gain": 5})
    assert pickle.loads(pickle.dumps(item)).key == item.key


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": "fair"}, "protocol is 'fair', expected one of honest, paper"),
        ({"fold": -1}, "fold is -1"),
        ({"seed": 1.0}, "seed is 1.0"),
        ({"graph": 1}, "graph is 1"),
        ({"settings": {"a": math.nan}}, r"settings\['a'\] is nan"),
        ({"settings": {"a": [0, np.float32(1)]}}, r"settings\['a'\]\[1\] is a float32"),
        ({"settings": {1: 2}}, "keys that are not strings"),
        ({"settings": 3}, "settings is a int"),
    ],
)
def test_bad_units_are_refused(changes, message):
    with pytest.raises(LatopoError, match=message):
        unit(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": math.nan}, "test_score is nan"),
        ({"score": 85.7}, "test_score is 85.7, expected a share between 0 and 1, not per cent"),
        ({"score": None}, "test_score is None"),
        ({"validation_score": math.inf}, "validation_score is inf"),
        ({"homophily": math.nan}, "homophily is nan"),
        ({"kept_share": 1.5}, "kept_share is 1.5"),
        ({"best_epoch": 3.0}, "best_epoch is 3.0 .float., expected an integer"),
        ({"mean_degree": np.float32(3)}, "mean_degree is .*expected a number"),
        ({"extra": {"losses": [1.0, math.nan]}}, r"extra\['losses'\]\[1\] is nan"),
        ({"budget_sampled": 1}, "budget_sampled is 1"),
        ({"metric": "f1"}, "metric is 'f1'"),
        ({"num_train": 0}, "0 training"),
    ],
)
def test_bad_records_are_refused(make_record, changes, message):
    with pytest.raises(LatopoError, match=message):
        make_record(**changes)


def test_regression_scores_may_be_negative(make_record):
    assert make_record(-0.3, metric="r2", validation_score=-2.0).test_score == -0.3


shares = st.floats(0, 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
dictionaries = st.dictionaries(st.text(), json_values, max_size=4)


@budget(max_examples=50, deadline=None)
@given(settings=dictionaries, extra=dictionaries, score=shares, homophily=st.none() | shares)
def test_records_survive_json(settings, extra, score, homophily):
    record = Record(unit(settings=settings), score, 80, 10, 3, 1.5, 7, homophily=homophily, extra=extra)
    again = Record.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False)))
    assert again == record
    assert again.key == record.key


def test_stored_fields_are_checked(make_record):
    content = make_record().to_json()
    with pytest.raises(LatopoError, match="unknown fields colour; was it written by a newer latopo"):
        Record.from_json({**content, "colour": "red"})
    del content["seconds"]
    with pytest.raises(LatopoError, match="seconds"):
        Record.from_json(content)
