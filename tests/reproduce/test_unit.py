import json
import pickle
from dataclasses import replace

import pytest

from latopo.errors import LatopoError
from latopo.models import SYSTEMS
from latopo.reproduce import Unit
from latopo.reproduce import unit as module
from latopo.reproduce.unit import Hashed


def unit(**changes):
    return Unit(**{"model": "dcm", "dataset": "texas", "graph": False, "protocol": "honest", "fold": 0, **changes})


def test_hash_is_stable_for_ever():
    # A change of this literal would make every stored run unknown.
    assert Hashed(gain=5.0, decays=[1e-4, 5e-3], note="α", part={"b": None, "a": True}).hash == "20aa0b600a1c299c"


def test_equal_content_has_equal_hashes():
    assert Hashed(a=1, b={"c": (1.0, 2.5)}).hash == Hashed(b={"c": [1, 2.5]}, a=1.0).hash
    assert Hashed(a=True).hash != Hashed(a=1).hash
    assert Hashed(a=0.1).hash != Hashed(a=0.2).hash
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = Hashed(a=float("nan")).hash


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "dcm-all"}, {"dataset": "cora"}, {"graph": True}, {"protocol": "paper"}, {"fold": 1}, {"seed": 1},
        {"settings": {"gain": 6}}, {"settings": {"epochs": 7}}, {"settings": {"weight_decay": 0.1}},
    ],
)  # fmt: skip
def test_everything_that_changes_numbers_changes_the_key(changes):
    assert unit(**changes).key != unit().key


@pytest.mark.parametrize("settings", [{"rounds": 1}, {"epochs": 100}, {"gain": 5}, {"lr": 0.01, "max_length": 4}])
def test_a_default_that_is_named_is_the_same_run(settings):
    assert unit(settings=settings).key == unit().key


def test_seeds_and_folds_share_their_settings():
    assert unit(seed=2, fold=3).resolved() is unit().resolved()
    assert "seed" not in unit(seed=2).settings


@pytest.fixture
def fresh():
    """Settings are resolved anew, before and after."""
    module._resolved.cache_clear()
    yield
    module._resolved.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_changed_preset_is_another_run(monkeypatch):
    before, untouched = unit(model="dcm-plus").key, unit().key
    system = SYSTEMS["dcm-plus"]
    changed = replace(system, settings=system.settings.change(polygon_share=0.4))
    monkeypatch.setitem(SYSTEMS, "dcm-plus", changed)
    module._resolved.cache_clear()
    assert unit(model="dcm-plus").key != before
    assert unit(model="dcm-plus", settings={"polygon_share": 0.5}).key == before
    assert unit().key == untouched


@pytest.mark.usefixtures("fresh")
def test_a_changed_list_of_weight_decays_is_another_run(monkeypatch):
    before, fixed = unit().key, unit(protocol="paper").key
    monkeypatch.setattr("latopo.training.run.WEIGHT_DECAYS", (1e-4, 1e-3))
    module._resolved.cache_clear()
    assert unit().key != before
    assert unit(protocol="paper").key == fixed  # which searches none


def test_a_unit_travels_to_another_process():
    item = unit(settings={"gain": 6})
    assert pickle.loads(pickle.dumps(item)).key == item.key


def test_a_unit_in_words():
    item = replace(unit(settings={"gain": 6}), graph=True)
    assert str(item) == "dcm on texas with graph, honest, fold 0, seed 0, gain=6"


def test_what_cannot_be_run_has_no_key():
    with pytest.raises(LatopoError, match="model gcn needs a graph"):
        _ = unit(model="gcn").key


@pytest.mark.parametrize("model", ["mlp", "dcm", "dcm-fused"])
def test_resolved_settings_are_what_is_read_from_a_store(model):
    found = Unit(model, "cora", graph=False, protocol="honest", fold=0).resolved()
    assert json.loads(json.dumps(found)) == found
