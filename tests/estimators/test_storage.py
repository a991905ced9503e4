import errno
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor, DCMTransformer, load_estimator, save_estimator


@pytest.fixture
def saved(classifier, tmp_path):
    save_estimator(classifier, tmp_path / "saved")
    return tmp_path / "saved"


def test_round_trip(classifier, rows, saved):
    again = load_estimator(saved)
    assert np.array_equal(again.predict_proba(rows[0]), classifier.predict_proba(rows[0]))
    assert again.complex_ == classifier.complex_
    assert again.get_params() == {**classifier.get_params(), "random_state": None}


@pytest.mark.parametrize("cls", [DCMRegressor, DCMTransformer])
def test_round_trip_of_the_others(cls, rows, tmp_path):
    estimator = cls(random_state=0, max_epochs=3).fit(rows[0], rows[0][:, 1])
    save_estimator(estimator, tmp_path)
    ask = "transform" if cls is DCMTransformer else "predict"
    assert np.array_equal(getattr(load_estimator(tmp_path), ask)(rows[0]), getattr(estimator, ask)(rows[0]))


def test_a_loaded_transformer_names_its_features(rows, tmp_path):
    transformer = DCMTransformer(random_state=0, max_epochs=3).fit(*rows)
    save_estimator(transformer, tmp_path)
    again = load_estimator(tmp_path)
    assert again.get_feature_names_out().tolist() == transformer.get_feature_names_out().tolist()
    pytest.importorskip("pandas")
    assert again.set_output(transform="pandas").transform(rows[0]).shape == (60, 96)


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_what_cannot_be_saved_leaves_what_was_saved(classifier, rows, saved, unit):
    days = np.datetime64("2024-01-01", unit) + rows[1]
    with pytest.raises(LatopoError, match=r"datetime64\[.*expected numbers or texts"):
        save_estimator(DCMClassifier(max_epochs=1).fit(rows[0], days), saved)
    odd = DCMClassifier(max_epochs=1, unlabelled=object()).fit(*rows)
    with pytest.raises(LatopoError, match="expected numbers and texts as parameters"):
        save_estimator(odd, saved)
    assert np.array_equal(load_estimator(saved).predict_proba(rows[0]), classifier.predict_proba(rows[0]))


def test_a_full_disk_leaves_what_was_saved(classifier, rows, saved, monkeypatch):
    def fill(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    other = DCMClassifier(max_epochs=1).fit(*rows)
    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match=r"No space left.*saved"):
        save_estimator(other, saved)
    assert np.array_equal(load_estimator(saved).predict_proba(rows[0]), classifier.predict_proba(rows[0]))
    assert len(list(saved.iterdir())) == 5


def test_all_files_may_be_read_by_others(saved):
    assert len({path.stat().st_mode for path in saved.iterdir()}) == 1


def test_an_estimator_that_was_not_fitted(tmp_path):
    with pytest.raises(NotFittedError, match="DCMClassifier"):
        save_estimator(DCMClassifier(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_another_process_gives_the_same(classifier, rows, saved):
    script = (
        "import sys, numpy as np\nfrom latopo.estimators import load_estimator\n"
        "print(load_estimator(sys.argv[1]).predict_proba(np.array([[0.5, -1.0, 2.0, 0.0]])).tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", script, saved], capture_output=True, text=True, check=True).stdout
    expected = classifier.predict_proba(np.array([[0.5, -1.0, 2.0, 0.0]]))
    np.testing.assert_allclose(json.loads(printed), expected, rtol=0, atol=1e-12)


def test_nothing_is_pickled(saved):
    for path in saved.iterdir():
        assert path.suffix in (".json", ".safetensors")


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def flip_a_byte(folder):
    content = bytearray((folder / "weights.safetensors").read_bytes())
    content[-5] ^= 1
    (folder / "weights.safetensors").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flip_a_byte, "was changed"),
        (lambda f: (f / "features.safetensors").write_bytes(b""), "was changed"),
        (lambda f: (f / "complex.safetensors").unlink(), "cannot be read"),
        (lambda f: (f / "estimator.json").unlink(), "cannot be read"),
        (lambda f: (f / "estimator.json").write_text("{"), "damaged"),
        (lambda f: (f / "estimator.json").write_text("[]"), "damaged"),
        (lambda f: edit(f / "estimator.json", lambda c: c.update({"format": 99, "latopo": "9.0"})), "latopo 9.0"),
        (lambda f: edit(f / "estimator.json", lambda c: c.update({"class": "os.system"})), "damaged"),
        (lambda f: edit(f / "estimator.json", lambda c: c["parameters"].update({"new": 1})), "do not belong together"),
        (lambda f: edit(f / "estimator.json", lambda c: c.pop("polygon_rule")), "do not belong together"),
        (lambda f: edit(f / "estimator.json", lambda c: c["checksums"].pop("model.json")), "damaged"),
    ],
)
def test_damaged_files(saved, damage, message):
    damage(saved)
    with pytest.raises(LatopoError, match=message):
        load_estimator(saved)


def test_class_names_of_another_number(saved):
    edit(saved / "estimator.json", lambda content: content["classes"].pop())
    with pytest.raises(LatopoError, match="2 classes, but the model has 3"):
        load_estimator(saved)
