import csv
import json
import shutil
from functools import partial

import pytest
from typer.testing import CliRunner

from latopo.cli.app import app


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A run on a small table, and the table's text."""
    folder = tmp_path_factory.mktemp("fitted")
    lines = ["name,size,day,colour,kind"]
    for row in range(40):
        colour = ["red", "blue", ""][row % 3]
        lines.append(f"r{row},{row % 2 * 3 + row % 7 * 0.2:.2f},2024-01-{row % 28 + 1:02d},{colour},{'ab'[row % 2]}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    arguments = [str(folder / "t.csv"), "--target", "kind", "--id", "name", "--out", str(folder / "run")]
    result = CliRunner().invoke(app, ["fit", *arguments, "--epochs", "20", "--quiet"])
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def run(fitted, tmp_path):
    """A copy without the training data, which may be damaged."""
    return shutil.copytree(fitted / "run", tmp_path / "run")


@pytest.fixture
def predict(latopo):
    return partial(latopo, "predict")


TIES = ["similar rows", "similar rows that agree"]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_predictions_probabilities_and_reasons(run, predict, tmp_path):
    (tmp_path / "new.csv").write_text("size,name,day,colour\n3.4,x1,2024-01-03,red\n0.1,x2,2024-01-09,blue\n")
    code, out, err = predict(run, "new.csv", "--out", "p.csv")
    assert (code, err) == (0, "")
    assert "2 rows predicted: p.csv" in out
    rows = read(tmp_path / "p.csv")
    assert list(rows[0]) == ["name", "predicted kind", "probability of a", "probability of b", *TIES]
    assert [row["name"] for row in rows] == ["x1", "x2"]
    assert [row["predicted kind"] for row in rows] == ["b", "a"]
    assert all(abs(float(row["probability of a"]) + float(row["probability of b"]) - 1) < 1e-5 for row in rows)
    anchors = set(json.loads((run / "anchors.json").read_text()))
    named = [tie.split(" ")[0] for tie in rows[0]["similar rows"].split("; ")]
    assert set(named) <= anchors
    assert len(named) <= 5
    assert all(0 <= float(row["similar rows that agree"]) <= 1 for row in rows)
    predict(run, "new.csv", "--effects", "--out", "e.csv")
    effects = read(tmp_path / "e.csv")
    assert [effect.split(":")[0] for effect in effects[0]["without each of them"].split("; ")] == named
    predict(run, "new.csv")
    assert read(tmp_path / "new-predictions.csv") == rows


def test_the_columns_of_the_most_similar_row(fitted, predict, latopo, tmp_path):
    arguments = ["--target", "kind", "--id", "name", "--epochs", "3", "--quiet", "--keep-columns"]
    assert latopo("fit", fitted / "t.csv", *arguments, "--out", "kept")[0] == 0
    assert predict("kept", fitted / "t.csv", "--out", "p.csv")[0] == 0
    table, anchors = read(fitted / "t.csv"), json.loads((tmp_path / "kept" / "anchors.json").read_text())
    by_name = {row["name"]: row for row in table}
    for row in read(tmp_path / "p.csv"):
        nearest = by_name[row["similar rows"].split(" ")[0]]
        size, day, colour = row["most similar row"].split(", ")
        assert size == f"size = {float(nearest['size']):g}"
        assert day == f"day = {nearest['day']}"
        assert colour == f"colour = {nearest['colour'] or 'missing'}"
    columns = json.loads((tmp_path / "kept" / "columns.json").read_text())
    assert all(len(column["values"]) == len(anchors) for column in columns)
    edit(tmp_path / "kept" / "run.json", lambda content: content.pop("checksums"))
    edit(tmp_path / "kept" / "columns.json", lambda content: content[0]["values"].pop())
    code, _, err = predict("kept", fitted / "t.csv", "--out", "q.csv")
    assert (code, "columns.json does not belong to this run" in err) == (2, True)


def test_unknown_categories_missing_values_and_more_columns_are_noted(run, predict, tmp_path):
    (tmp_path / "new.csv").write_text("size,day,colour,kind,extra\n,2024-02-01,green,a,1\n2,,red,b,2\n")
    code, _, err = predict(run, "new.csv", "--out", "p.csv")
    assert code == 0
    assert "the category 'green' is unknown" in err
    assert "column 'size': 1 missing" in err
    assert "column 'day': 1 missing" in err
    assert "columns that the fit did not use are ignored: 'extra'" in err
    assert len(read(tmp_path / "p.csv")) == 2


GOOD = "size,day,colour\n1,2024-01-01,red\n"


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def truncate(path):
    path.write_bytes(path.read_bytes()[:100])


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_ids_are_repeated_as_they_are(run, predict, tmp_path):
    (tmp_path / "new.csv").write_text(
        "size,name,day,colour\n3.4,x,2024-01-03,red\n0.1,x,2024-01-09,blue\n1,,2024-01-09,\n"
    )
    assert predict(run, "new.csv", "--out", "p.csv")[0] == 0
    assert [row["name"] for row in read(tmp_path / "p.csv")] == ["x", "x", ""]


BAD = {
    "missing column": (lambda run: None, "size,day\n1,2024-01-01\n", "lacks 1 of the 3 columns of the fit: 'colour'"),
    "text for a number": (
        lambda run: None,
        "size,day,colour\nbig,2024-01-01,red\n",
        "'size', row 1: expected a finite number",
    ),
    "infinity": (
        lambda run: None,
        "size,day,colour\ninf,2024-01-01,red\n",
        "'size', row 1: expected a finite number",
    ),
    "not a date": (
        lambda run: None,
        "size,day,colour\n1,yesterday,red\n",
        "'day', row 1: expected a date",
    ),
    "empty file": (lambda run: None, "", "is empty"),
    "no rows": (lambda run: None, "size,day,colour\n", "header but no rows"),
    "no run": (lambda run: (run / "run.json").unlink(), GOOD, "is not a run of latopo fit"),
    "damaged run.json": (lambda run: (run / "run.json").write_text("{"), GOOD, "run.json is damaged"),
    "newer run": (
        lambda run: edit(run / "run.json", lambda content: content.update({"format": 7, "latopo": "7.0"})),
        GOOD,
        "latopo 7.0 in format 7",
    ),
    "truncated weights": (lambda run: truncate(run / "weights.safetensors"), GOOD, "was changed or is incomplete"),
    "tampered weights": (lambda run: flip(run / "weights.safetensors"), GOOD, "was changed or is incomplete"),
    "tampered features": (lambda run: flip(run / "features.safetensors"), GOOD, "was changed or is incomplete"),
    "tampered anchors": (
        lambda run: edit(run / "anchors.json", lambda names: names.reverse()),
        GOOD,
        "anchors.json was changed or is incomplete",
    ),
    "no preprocessing": (lambda run: (run / "preprocessing.json").unlink(), GOOD, "preprocessing.json cannot be read"),
    "other preprocessing": (
        lambda run: edit(run / "preprocessing.json", lambda content: content["columns"].pop(0)),
        GOOD,
        "do not belong together",
    ),
    "strange preprocessing": (
        lambda run: edit(run / "preprocessing.json", lambda content: content["columns"][0].update({"kind": "code"})),
        GOOD,
        "preprocessing.json is damaged",
    ),
    "run.json without target": (
        lambda run: (run / "run.json").write_text('{"format": 1}'),
        GOOD,
        "run.json is damaged",
    ),
    "an id column that is not a name": (
        lambda run: edit(run / "run.json", lambda content: content.update({"id_column": [1]})),
        GOOD,
        "run.json is damaged",
    ),
    "anchors of another form": (lambda run: (run / "anchors.json").write_text("5"), GOOD, "anchors.json is damaged"),
    "fewer anchors": (
        lambda run: edit(run / "anchors.json", lambda names: names.pop()),
        GOOD,
        "do not belong together",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(run, predict, tmp_path, case):
    damage, text, message = BAD[case]
    if "was changed" not in message:  # a stranger can write any checksums, so the contents are checked as well
        edit(run / "run.json", lambda content: content.pop("checksums"))
    damage(run)
    (tmp_path / "new.csv").write_text(text)
    code, _, err = predict(run, "new.csv", "--out", "p.csv")
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "p.csv").exists()


def test_an_existing_file_is_kept(run, predict, tmp_path):
    (tmp_path / "new.csv").write_text(GOOD)
    (tmp_path / "p.csv").write_text("mine")
    code, _, err = predict(run, "new.csv", "--out", "p.csv")
    assert code == 2
    assert "--overwrite" in err
    assert (tmp_path / "p.csv").read_text() == "mine"
    assert predict(run, "new.csv", "--out", "p.csv", "--overwrite")[0] == 0
    assert predict(run, "new.csv", "--out", "nowhere/p.csv")[0] == 2
    code, _, err = predict(run, "new.csv", "--out", run)
    assert code == 2
    assert "is a folder; name a file" in err


@pytest.mark.parametrize("separator", [",", ";"])
def test_blocks_of_rows_give_the_same_file(run, predict, tmp_path, monkeypatch, separator):
    lines = ["size,day,colour", *(f"{row % 5}.5,2024-02-{row % 28 + 1:02d},red" for row in range(11))]
    (tmp_path / "new.csv").write_text("\n".join(lines).replace(",", separator))
    for name, rows in (("whole.csv", 100), ("parts.csv", 4)):
        monkeypatch.setattr("latopo.cli.predict._ROWS", rows)
        code, out, _ = predict(run, tmp_path / "new.csv", "--out", tmp_path / name)
        assert code == 0
        assert out.startswith("11 rows predicted")
    whole, parts = read(tmp_path / "whole.csv"), read(tmp_path / "parts.csv")
    assert [row["row"] for row in parts] == [str(row) for row in range(1, 12)]
    assert parts == whole


def test_a_bad_cell_in_a_later_block_is_named_by_its_row_in_the_file(run, predict, tmp_path, monkeypatch):
    monkeypatch.setattr("latopo.cli.predict._ROWS", 3)
    lines = ["size,day,colour,more", *(f"{'oops' if row == 8 else row},2024-02-01,red,x" for row in range(1, 11))]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    code, _, err = predict(run, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert code == 2
    assert "column 'size', row 8: expected a finite number, got 'oops'" in err
    assert err.count("columns that the fit did not use are ignored: 'more'") == 1


def test_a_bad_row_in_a_later_block_leaves_no_file(run, predict, tmp_path, monkeypatch):
    monkeypatch.setattr("latopo.cli.predict._ROWS", 2)
    (tmp_path / "new.csv").write_text("size,day,colour\n1,2024-02-01,red\n2,2024-02-01,red\n3,2024-02-01\n")
    code, _, err = predict(run, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert code == 2
    assert "line 4 has 2 cells" in err
    assert not (tmp_path / "out.csv").exists()


def test_a_terminal_counts_the_rows(run, predict, tmp_path, monkeypatch):
    (tmp_path / "new.csv").write_text("size,day,colour,more\n" + "1,2024-02-01,red,x\n" * 9)
    quiet = predict(run, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    monkeypatch.setattr("latopo.cli.predict._ROWS", 3)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = predict(run, tmp_path / "new.csv", "--out", tmp_path / "out.csv", "--overwrite")
    note = "columns that the fit did not use are ignored: 'more'\n"
    assert quiet[2] == note
    assert shown[:2] == quiet[:2]
    assert note in shown[2]
    assert f":00{note}" not in shown[2]  # beside the counter
    assert "9 rows predicted" in shown[2]
