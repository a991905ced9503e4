import errno
import json
import os

import numpy as np
import pandas as pd
import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.table.fit_folder import (
    _write_complex,
    check_run_folder,
    new_run_folder,
    read_run,
    read_run_file,
    write_run,
)
from latopo.table.fitting import FitRequest, fit_table


def crash_while_writing(folder):
    with new_run_folder(folder, overwrite=True) as draft:
        (draft / "half").write_text("")
        raise RuntimeError("crash")


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with new_run_folder(tmp_path / "a" / "run", overwrite=False) as draft:
        (draft / "run.json").write_text("{}")
        assert not (tmp_path / "a" / "run").exists()
    assert (tmp_path / "a" / "run" / "run.json").exists()
    with pytest.raises(RuntimeError, match="crash"):
        crash_while_writing(tmp_path / "a" / "run")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["run"]
    assert [path.name for path in (tmp_path / "a" / "run").iterdir()] == ["run.json"]


def test_files_that_are_not_part_of_a_run_stay(tmp_path):
    (tmp_path / "run" / "figures").mkdir(parents=True)
    for name in ("run.json", "complex.png", "notes.txt", "figures/1.png"):
        (tmp_path / "run" / name).write_text("old")
    with new_run_folder(tmp_path / "run", overwrite=True) as draft:
        (draft / "run.json").write_text("new")
    names = sorted(str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*"))
    assert names == ["figures", "figures/1.png", "notes.txt", "run.json"]  # nothing of the old run, nothing else lost
    assert (tmp_path / "run" / "run.json").read_text() == "new"


def fill_the_disk(folder):
    with new_run_folder(folder, overwrite=False):
        raise OSError(errno.EFBIG, "File too large")


def test_what_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(LatopoError, match=r"--out .*run cannot be written \(File too large\)"):
        fill_the_disk(tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_may_be_used_and_a_link_may_not(tmp_path):
    (tmp_path / "empty").mkdir()
    check_run_folder(tmp_path / "empty", overwrite=False)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(LatopoError, match="is not a folder"):
        check_run_folder(tmp_path / "link", overwrite=True)


def test_a_folder_with_other_files_or_another_run_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(LatopoError, match="holds other files"):
        check_run_folder(tmp_path, overwrite=True)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(LatopoError, match="already holds a run; replace it with --overwrite"):
        check_run_folder(tmp_path, overwrite=False)
    check_run_folder(tmp_path, overwrite=True)


def test_a_run_is_read_as_it_was_written_and_not_if_it_was_changed(tmp_path):
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"a": random.randn(40), "b": random.randn(40)}).assign(kind=["x", "y"] * 20)
    frame["a"] += 4 * (frame["kind"] == "y")
    result = fit_table(frame, FitRequest("kind", parameters={"max_epochs": 2}, keep_columns=True), lambda line: None)
    write_run(tmp_path, *result)
    again = read_run(tmp_path)
    assert again.anchor_ids == result.run.anchor_ids
    assert again.preprocessing == result.run.preprocessing
    x, _ = again.preprocessing.transform(frame)
    assert np.array_equal(again.estimator.predict_proba(x), result.run.estimator.predict_proba(x))
    assert [column["name"] for column in read_run_file(tmp_path, "columns.json")] == ["a", "b"]
    metrics = (tmp_path / "metrics.json").read_text()
    (tmp_path / "metrics.json").write_text(metrics.replace("accuracy", "R2"))
    with pytest.raises(LatopoError, match=r"metrics.json was changed or is incomplete"):
        read_run_file(tmp_path, "metrics.json")
    (tmp_path / "run.json").unlink()
    with pytest.raises(LatopoError, match="is not a run of latopo fit"):
        read_run(tmp_path)


@pytest.mark.parametrize("renames", range(4))
def test_a_run_that_was_being_replaced_is_the_old_or_the_new_one(tmp_path, monkeypatch, renames):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("run.json", "metrics.json", "complex.png"):
        (folder / name).write_text("old")
    rename, done = os.rename, []

    def killed(source, target):
        if len(done) == renames:
            raise KeyboardInterrupt
        done.append(source)
        rename(source, target)

    monkeypatch.setattr(os, "rename", killed)
    monkeypatch.setattr(os, "replace", killed)
    if renames < 3:
        with pytest.raises(KeyboardInterrupt), new_run_folder(folder, overwrite=True) as draft:
            fill(draft)
    else:
        with new_run_folder(folder, overwrite=True) as draft:
            fill(draft)
    monkeypatch.undo()
    check_run_folder(folder, overwrite=True)
    new = {"run.json": "new", "metrics.json": "new"}
    old = dict.fromkeys(("run.json", "metrics.json", "complex.png"), "old")
    assert {path.name: path.read_text() for path in folder.iterdir()} == (new if renames else old)


def fill(draft):
    for name in ("run.json", "metrics.json"):
        (draft / name).write_text("new")


GOOD = {
    "run.json": {"format": 1, "target": "y", "task": "regression", "id_column": None, "more": 1},
    "metrics.json": {"score": "R2", "training_rows": 8, "held_out_rows": 0},
    "points.json": {"target": [], "prediction": []},
    "anchors.json": ["a", "b"],
    "history.json": [{"loss": 0.5}],
    "preprocessing.json": {"columns": [{"name": "a", "kind": "date", "fill": 1.5, "values": []}], "notes": []},
}


@pytest.mark.parametrize("name", GOOD)
def test_files_of_the_right_form_pass(tmp_path, name):
    (tmp_path / name).write_text(json.dumps(GOOD[name]))
    assert read_run_file(tmp_path, name) == GOOD[name]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.json", {**GOOD["run.json"], "target": 5}, r"run.json is damaged \(expected the type str at 'target'"),
        (
            "run.json",
            {**GOOD["run.json"], "id_column": [1]},
            r"expected the type str \| None at 'id_column', got \[1\]",
        ),
        ("metrics.json", {"score": "R2"}, "expected the type int at 'training_rows', got None"),
        ("metrics.json", [], r"expected an object, got \[\]"),
        ("run.json", {**GOOD["run.json"], "task": "eval"}, "expected one of classification, regression at 'task'"),
        ("preprocessing.json", {"columns": [{"name": 1}], "notes": []}, "expected the type str at 'name', got 1"),
        ("preprocessing.json", None, "expected an object, got None"),
        ("anchors.json", {}, "expected a list, got {}"),
        ("history.json", [1], "expected an object in the list, got 1"),
    ],
)
def test_files_of_another_form_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(LatopoError, match=message):
        read_run_file(tmp_path, name)


def test_the_most_probable_cells_come_first(tmp_path):
    edges = torch.tensor([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]])
    polygons = {3: torch.tensor([[0, 1, 2], [0, 2, 3]]), 4: torch.empty(0, 4, dtype=torch.long)}
    cx = CellComplex(4, edges, polygons, torch.tensor([0.5, 1 / 3, 1, 0.5, 1e-7]), torch.tensor([0.25, 0.75]))
    _write_complex(tmp_path, cx, ["a", "=b", "c", "d"])
    assert (tmp_path / "edges.csv").read_text().splitlines() == [
        "from,to,probability", "a,d,1", "a,'=b,0.5", "'=b,c,0.5", "a,c,0.333333", "c,d,1e-07",
    ]  # fmt: skip
    assert (tmp_path / "polygons.csv").read_text().splitlines() == [
        "length,strength,node 1,node 2,node 3", "3,1,a,c,d", "3,0.333333,a,'=b,c",
    ]  # fmt: skip
    _write_complex(tmp_path, CellComplex(4, edges, {}, torch.ones(5)), ["a", "b", "c", "d"])
    assert (tmp_path / "polygons.csv").read_text() == "length,strength,node 1,node 2,node 3\n"
