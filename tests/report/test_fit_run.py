import json

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.report import build_page, read_run

SCORES = {"latopo": 0.9, "logistic regression": 0.85, "most frequent class": 0.4}


@pytest.fixture
def folder(tmp_path):
    """What latopo fit leaves behind, as far as a report reads it."""
    settings = {"format": 1, "target": "species", "task": "classification", "id_column": "name", "seed": 0}
    metrics = {"score": "accuracy", "training_rows": 3, "held_out_rows": 10, "held_out": SCORES, "edges": 3}
    for name, content in (("run", settings), ("metrics", metrics), ("anchors", ["a", "b", "=1+1"])):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    triangle = torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])}
    CellComplex(3, *triangle, torch.tensor([0.5, 0.6, 0.7]), torch.tensor([1.0])).save(tmp_path / "complex.safetensors")
    return tmp_path


def test_score_and_baselines_come_from_the_held_out_rows(folder):
    data = read_run(folder)
    assert data.title == "Predicting species"
    assert data.score.value == 0.9
    assert [(item.name, item.value) for item in data.score.baselines] == list(SCORES.items())[1:]
    assert data.score.where == "10 held-out rows"
    assert data.points.names == ("a", "b", "=1+1")
    assert data.complex.num_polygons == 1


def test_targets_predictions_and_epochs_are_shown_where_they_are_kept(folder):
    points = {"target": ["cat", "dog", None], "prediction": ["cat", "cat", "dog"], "probability": [0.9, 0.6, None]}
    (folder / "points.json").write_text(json.dumps(points))
    history = [{"epoch": 1, "loss": 0.5, "train_score": None}, {"epoch": 2, "loss": 0.25, "train_score": 1.0}]
    (folder / "history.json").write_text(json.dumps(history))
    data = read_run(folder)
    assert data.points.class_names == ("cat", "dog")
    assert data.points.labels.tolist() == [0, 1, -1]
    assert data.points.predictions.tolist() == [0, 0, 1]
    assert np.isnan(data.points.confidence[2])
    assert data.histories["fit"]["train_score"] == [None, 1.0]
    assert data.points.roles.tolist() == [0, 0, -1]
    page = build_page(data)
    assert "dog" in page
    assert "1 of 2 training points" in page


def test_kept_columns_and_hidden_labels_are_shown(folder):
    points = {"target": ["cat", None, None], "prediction": ["cat", "cat", "dog"], "hidden": [None, "dog", "dog"]}
    (folder / "points.json").write_text(json.dumps(points))
    columns = [{"name": "<b>size</b>", "values": [1.5, None, 3]}, {"name": "kind", "values": ["a", "b", "c"]}]
    (folder / "columns.json").write_text(json.dumps(columns))
    data = read_run(folder)
    assert [(column.name, column.values) for column in data.points.columns] == [
        ("<b>size</b>", (1.5, None, 3)),
        ("kind", ("a", "b", "c")),
    ]
    assert data.points.labels.tolist() == [0, 1, 1]
    assert data.points.labelled.tolist() == [True, False, False]
    page = build_page(data)
    assert "the diagonal is correct: 1 of 2 test points" in page
    assert "The model never saw them." in page
    assert "Privacy:" in page
    assert "<b>size" not in page


def test_columns_of_other_rows_are_refused(folder):
    (folder / "points.json").write_text(json.dumps({"target": ["a", "b", "a"], "prediction": ["a", "b", "a"]}))
    (folder / "columns.json").write_text(json.dumps([{"name": "size", "values": [1]}]))
    with pytest.raises(LatopoError, match="the column 'size' has 1 entries, but labels has 3"):
        read_run(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("From a table with 3 rows,", "Another 10 rows were held out to test it.")),
        ({"training_rows": 2400, "learned_rows": 3}, ("From 3 of a table's 2,400 training rows,", "Another 10 rows")),
        ({"held_out_rows": 1}, ("From a table with 3 rows,", "One more row was held out to test it.")),
        (
            {"labelled_rows": 2, "labels_hidden": True, "held_out_rows": 1},
            (
                "From a table with 3 rows,",
                "Only 2 of the rows came with a label",
                "The labels of 1 rows were hidden",
            ),
        ),
        ({"held_out_rows": 0}, ("From a table with 3 rows,", "No rows were held out to test it.")),
    ],
)
def test_the_story_counts_the_rows_that_were_learned_from(folder, changes, expected):
    metrics = json.loads((folder / "metrics.json").read_text()) | changes
    (folder / "metrics.json").write_text(json.dumps(metrics))
    assert all(map(str.startswith, read_run(folder).story, expected))


def test_values_are_read_as_values(folder):
    settings = json.loads((folder / "run.json").read_text()) | {"task": "regression"}
    (folder / "run.json").write_text(json.dumps(settings))
    assert read_run(folder).points is None
    (folder / "points.json").write_text(json.dumps({"target": [1.5, None, 2.5], "prediction": [1.0, 2.0, 3.0]}))
    points = read_run(folder).points
    assert points.is_quantity
    assert points.labels[0] == 1.5
    assert np.isnan(points.labels[1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metrics.json", {}),
        ("metrics.json", {"score": "R2", "training_rows": 3, "held_out_rows": 1, "held_out": 5}),
        ("run.json", {"format": 1}),
        ("run.json", []),
        ("anchors.json", 5),
        ("points.json", {}),
        ("history.json", [1]),
        ("columns.json", [{"name": "size"}]),
        ("columns.json", [{"name": "size", "values": [[1]]}]),
        ("columns.json", {"size": [1, 2, 3]}),
    ],
)
def test_a_damaged_file_is_named(folder, name, content):
    (folder / name).write_text(json.dumps(content))
    with pytest.raises(LatopoError, match=rf"{name} is damaged \(expected .*, got .*; fit again"):
        read_run(folder)


def test_no_held_out_rows_give_no_score(folder):
    metrics = json.loads((folder / "metrics.json").read_text())
    del metrics["held_out"]
    (folder / "metrics.json").write_text(json.dumps(metrics))
    assert read_run(folder).score is None
