import csv
from functools import partial

import pytest

from latopo.errors import LatopoError
from latopo.reproduce.figures import make_figure
from latopo.training import run_folder

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_figure_with_its_numbers(tmp_path):
    paths = make_figure(tmp_path, "karate", epochs=12)
    assert [path.name for path in paths] == [f"karate-dcm.{ending}" for ending in ("png", "pdf", "svg", "csv")]
    assert all(path.stat().st_size for path in paths)
    with paths[-1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0", "10", "12"]
    assert (rows[0]["polygon_percent"], rows[0]["paper_homophily"]) == ("100.0", "")
    assert float(rows[0]["homophily"]) == pytest.approx(0.756, abs=1e-3)
    trained = []
    assert make_figure(tmp_path, "karate", epochs=12, on_start=trained.append) == paths
    assert trained == []


def test_a_model_without_complex_is_refused(tmp_path):
    with pytest.raises(LatopoError, match="figures: mlp infers no complex to draw"):
        make_figure(tmp_path, "karate", "mlp", epochs=3)


def test_an_input_with_too_many_cycles_has_no_share_of_polygons(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder, "input_complex", partial(run_folder.input_complex, max_polygons=3))
    paths = make_figure(tmp_path, "karate", epochs=3)
    with paths[-1].open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["epoch"], row["polygon_percent"], row["polygons"]) == ("0", "", "0")
