import csv
import json
import os
import re
from uuid import uuid4

import pandas as pd
import pytest

from latopo.table.fit_folder import _OWN

FLOWERS = ["setosa", "virginica"]
QUICK = ["--epochs", "3", "--quiet"]


def flower_rows(count=24, start=0):
    return [
        [
            f"r{row}",
            f"{row % 2 + 0.1 * (row % 5):.2f}",
            f"{row * 0.37 % 1:.3f}",
            ["red", "blue"][row % 3 % 2],
            FLOWERS[row % 2],
        ]
        for row in range(start, start + count)
    ]


HEADER = ["name", "length", "width", "colour", "species"]


def to_text(rows, header=HEADER, delimiter=","):
    return "\n".join(delimiter.join(cells) for cells in [header, *rows]) + "\n"


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_table_becomes_a_run(latopo, tmp_path):
    rows = flower_rows(30)
    rows[4][1], rows[7][3] = "", "NA"
    rows = [[*cells, "same"] for cells in rows]
    (tmp_path / "flowers.csv").write_text(to_text(rows, [*HEADER, "constant"]))
    code, out, _ = latopo("fit", "flowers.csv", "--target", "species", "--id", "name", "--out", "run", "--epochs", "3")
    assert code == 0
    assert "30 rows; columns: 2 number, 1 category" in out
    assert "  colour: category ('red', 'blue', missing)" in out
    assert "column 'constant': constant ('same'), left out" in out
    assert "edges and" in out
    scores = out[out.index("held-out accuracy") :].splitlines()
    assert scores[0].startswith("held-out accuracy (6 rows): latopo ")
    assert [line.split(" ")[2] for line in scores[1:]] == ["balanced", "log", "class", "class"]
    assert "logistic regression" in scores[0]
    assert "most frequent class 0.5" in scores[0]
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names >= {
        "run.json",
        "preprocessing.json",
        "weights.safetensors",
        "edges.csv",
        "polygons.csv",
        "metrics.json",
    }
    ids = {row[0] for row in rows}
    edges = read_csv(tmp_path / "run" / "edges.csv")
    assert edges[0] == ["from", "to", "probability"]
    assert {cell for row in edges[1:] for cell in row[:2]} <= ids
    probabilities = [float(row[2]) for row in edges[1:]]
    assert probabilities == sorted(probabilities, reverse=True)
    polygons = read_csv(tmp_path / "run" / "polygons.csv")
    assert polygons[0][:4] == ["length", "strength", "node 1", "node 2"]
    assert all(sum(cell != "" for cell in row[2:]) == int(row[0]) for row in polygons[1:])
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["training_rows"], metrics["held_out_rows"], metrics["edges"]) == (24, 6, len(edges) - 1)


def test_columns_are_kept_only_if_asked_for(latopo, tmp_path):
    (tmp_path / "flowers.csv").write_text(to_text(flower_rows(30)))
    command = ["fit", "flowers.csv", "--target", "species", "--id", "name", "--out", "run", *QUICK]
    assert latopo(*command, "--keep-columns", "--drop", "width")[0] == 0
    kept = json.loads((tmp_path / "run" / "columns.json").read_text())
    assert [column["name"] for column in kept] == ["length", "colour"]
    assert latopo("report", "run")[0] == 0
    assert "Privacy:" in (tmp_path / "run" / "report.html").read_text()
    assert latopo(*command, "--overwrite")[0] == 0
    assert not (tmp_path / "run" / "columns.json").exists()  # nothing of the earlier run is left
    assert "Privacy:" in " ".join(latopo("fit", "--help")[1].split())


def test_embedded_data_set_regression_and_picture(latopo, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = latopo("fit", "diabetes", "--max-anchors", "60", *QUICK)
    assert code == 0
    assert out.startswith("held-out R2 (88 rows): latopo ")
    assert "ridge regression" in out
    assert (tmp_path / "runs" / "fit-diabetes" / "complex.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.csv", to_text(flower_rows()).encode("utf-8-sig")),
        ("wide.csv", to_text(flower_rows()).encode("utf-16")),
        ("semicolons.csv", to_text(flower_rows(), delimiter=";").encode()),
        ("tabs.csv", to_text(flower_rows(), delimiter="\t").encode()),
        ("commas.csv", to_text(flower_rows(), delimiter=";").replace(".", ",").encode()),
        ("tabs.tsv", to_text(flower_rows(), delimiter="\t").encode()),
        ("crlf.csv", to_text(flower_rows()).replace("\n", "\r\n").encode()),
    ],
)
def test_forms_of_text_files(latopo, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    code, _, err = latopo("fit", name, "--target", "species", "--id", "name", "--out", "run", *QUICK)
    assert (code, err) == (0, "")
    assert json.loads((tmp_path / "run" / "anchors.json").read_text())[0].startswith("r")


def test_parquet(latopo, tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(flower_rows(), columns=HEADER).astype({"length": float, "width": float})
    frame.to_parquet(tmp_path / "flowers.parquet")
    assert latopo("fit", "flowers.parquet", "--target", "species", "--out", "run", *QUICK)[0] == 0


def test_latin_1_when_it_is_named(latopo, tmp_path):
    text = to_text(flower_rows()).replace("red", "röd")
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    assert latopo("fit", "t.csv", "--target", "species", "--encoding", "latin-1", "--out", "run", *QUICK)[0] == 0
    assert "röd" in (tmp_path / "run" / "preprocessing.json").read_text(encoding="utf-8")


def test_ten_thousand_columns(latopo, tmp_path):
    header = [f"c{at}" for at in range(10_000)]
    rows = [[str((row * at) % 7) for at in range(10_000)] + [FLOWERS[row % 2]] for row in range(20)]
    (tmp_path / "t.csv").write_text(to_text(rows, [*header, "species"]))
    code, out, _ = latopo("fit", "t.csv", "--target", "species", "--out", "run", "--epochs", "1")
    assert code == 0
    assert "… and" in out


def test_rows_without_target_take_part(latopo, tmp_path):
    rows = flower_rows(40)
    for row in rows[::4]:
        row[4] = ""
    (tmp_path / "t.csv").write_text(to_text(rows))
    code, out, _ = latopo("fit", "t.csv", "--target", "species", "--out", "run", "--epochs", "3")
    assert code == 0
    assert "10 rows have no target" in out
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["training_rows"] == 34


def test_anchors_and_rows_are_both_counted(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(to_text(flower_rows(40)))
    arguments = ("--target", "species", "--max-anchors", "20", "--out", "run", "--epochs", "3")
    code, out, _ = latopo("fit", "t.csv", *arguments)
    assert code == 0
    assert "over 20 rows; 12 other training rows were left out (--max-anchors)" in out


def test_rows_that_are_equal_are_told_from_rows_that_are_left_out(latopo, tmp_path):
    header, *rows = to_text(flower_rows(40)).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([header, *rows, *rows]) + "\n")
    arguments = ("--target", "species", "--epochs", "3", "--overwrite", "--out", "run", "--test-fraction", "0")
    assert "over 40 rows; 40 other training rows equal one of these\n" in latopo("fit", "t.csv", *arguments)[1]
    out = latopo("fit", "t.csv", *arguments, "--max-anchors", "30")[1]
    assert "over 30 rows; 30 other training rows equal one of these; 20 other training rows were left out" in out


def test_rows_without_weight_are_told_from_rows_that_are_left_out(latopo, tmp_path):
    header, *rows = to_text(flower_rows(40)).splitlines()
    weighted = [f"{row},{int(at % 4 > 0)}" for at, row in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join([f"{header},w", *weighted]) + "\n")
    arguments = ("--target", "species", "--weight", "w", "--epochs", "3", "--out", "run", "--test-fraction", "0")
    code, out, _ = latopo("fit", "t.csv", *arguments)
    assert code == 0
    assert "over 30 rows; 10 other training rows have no weight\n" in out


def test_one_held_out_row_gives_no_score(latopo, tmp_path):
    rows = [[*cells, str(at * 0.37) if at % 6 == 0 else ""] for at, cells in enumerate(flower_rows(40))]
    (tmp_path / "t.csv").write_text(to_text(rows, [*HEADER, "y"]))
    code, out, _ = latopo("fit", "t.csv", "--target", "y", "--drop", "name", "--out", "run", *QUICK)
    assert (code, out) == (0, "no score: one held-out row is too few for R2\n")


def test_given_graph_and_its_edges_at_held_out_rows(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(to_text(flower_rows()))
    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"r{row},r{row + 2}\n" for row in range(22)))
    arguments = ("--target", "species", "--id", "name", "--graph", "e.csv", "--out", "run", "--epochs", "3")
    code, out, _ = latopo("fit", "t.csv", *arguments)
    assert code == 0
    assert "given edges end at held-out rows" in out
    assert json.loads((tmp_path / "run" / "model.json").read_text())["settings"]["given"] == {"kind": "separate"}


EVIL = ["=HYPERLINK(0)", "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-2+3", "\tx", "<script>alert(1)</script>"]


def test_malicious_text_is_not_a_formula(latopo, tmp_path):
    rows = flower_rows()
    for row, cells in enumerate(rows):
        cells[0] = f"{EVIL[row % len(EVIL)]}{row}"
    header = ["name", "length", "=cmd()", "colour", "species"]
    quoted = [[f'"{cell}"' for cell in cells] for cells in [header, *rows]]
    (tmp_path / "t.csv").write_text("\n".join(map(",".join, quoted)))
    assert latopo("fit", "t.csv", "--target", "species", "--id", "name", "--out", "run", *QUICK)[0] == 0
    assert latopo("predict", "run", "t.csv", "--out", "p.csv")[0] == 0
    tables = [read_csv(tmp_path / name) for name in ("run/edges.csv", "run/polygons.csv", "p.csv")]
    cells = [cell for table in tables for row in table for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    dangerous = [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell]
    assert all(cell.lstrip("-").replace(".", "").isdigit() for cell in dangerous)


def test_overwrite_replaces_a_run_only(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(to_text(flower_rows()))
    arguments = ("fit", "t.csv", "--target", "species", "--out", "run", *QUICK)
    assert latopo(*arguments)[0] == 0
    (tmp_path / "run" / "notes.txt").write_text("mine")
    code, _, err = latopo(*arguments)
    assert code == 2
    assert "--overwrite" in err
    (tmp_path / "run" / "edges.csv").write_text("old")
    assert latopo(*arguments, "--overwrite")[0] == 0
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "run" / "edges.csv").read_text() != "old"
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {*_OWN, "notes.txt"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "t.csv"]  # no draft is left behind


def test_the_folder_of_the_shell(latopo, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(to_text(flower_rows()))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert latopo("fit", "../t.csv", "--target", "species", "--out", ".", *QUICK)[0] == 0
    assert os.path.samefile(".", tmp_path / "here")
    assert os.path.isfile("run.json")


def numbers(count=40, **columns):
    """A table of a numeric column x and a target y, and more columns."""
    cells = {"x": [str(row * 0.7 % 3) for row in range(count)], "y": [FLOWERS[row % 2] for row in range(count)]}
    cells |= {name: [str(value) for value in values] for name, values in columns.items()}
    return to_text(list(map(list, zip(*cells.values(), strict=True))), list(cells))


def swapped(values, row, value):
    return [value if at == row else cell for at, cell in enumerate(values)]


XY = ["--target", "y"]
ALL_ROWS = [*XY, "--test-fraction", "0"]
COUNTING = [row * 1.5 for row in range(40)]
BAD = {
    "missing file": (None, ["nowhere.csv", *XY], "nowhere.csv does not exist"),
    "unknown data set": (None, ["irris"], "did you mean 'iris'"),
    "graph data set": (None, ["karate"], "use latopo train"),
    "folder": (None, [".", *XY], "is a folder"),
    "other kind of file": (("t.xlsx", "x"), ["t.xlsx", *XY], "expected one of .csv, .tsv, .parquet"),
    "empty file": ("", XY, "is empty"),
    "header only": ("x,y\n", XY, "header but no rows"),
    "one row": ("x,y\n1,a\n", XY, "expected at least 10"),
    "nine rows": (numbers(9), XY, "expected at least 10"),
    "no target named": (numbers(), [], "--target: name the column"),
    "target is not a column": (numbers(), ["--target", "z"], "--target 'z': .*; the table has 'x', 'y'"),
    "target all empty": (numbers(z=[""] * 40), ["--target", "z"], "'z' is empty"),
    "one class": (numbers(z=["a"] * 40), ["--target", "z"], "only one class, 'a'"),
    "class of one member": (numbers(z=["a", "b"] * 19 + ["b", "c"]), ["--target", "z"], "only one row of .* 'c'"),
    "identifier as target": (numbers(z=[f"id{row}" for row in range(40)]), ["--target", "z"], "is it an identifier"),
    "constant regression": (numbers(z=[5] * 40), ["--target", "z", "--task", "regression"], "always 5"),
    "text regression": (numbers(), [*XY, "--task", "regression"], "'y', row 1: expected a finite number"),
    "infinite target": (numbers(z=swapped(COUNTING, 3, "inf")), ["--target", "z", "--task", "regression"],
                        "row 4: expected a finite number, got 'inf'"),
    "unknown task": (numbers(), [*XY, "--task", "clustering"], "--task must be"),
    "infinite feature": (numbers(a=swapped(COUNTING, 3, "-inf")), ALL_ROWS, "'a', row 4: expected .*, got '-inf'"),
    "too large a number": (numbers(a=swapped(COUNTING, 3, "9" * 400)), ALL_ROWS, "row 4.* '9999"),
    "text in a row that may be held out": (numbers(a=swapped(COUNTING, 7, "oops")), XY, "row 8 has 'oops'"),
    "text among target numbers": (numbers(z=swapped(COUNTING, 3, "n.a.")), ["--target", "z"], "39 numbers, but row 4"),
    "large test fraction": (numbers(z=[row % 12 for row in range(40)]), ["--target", "z", "--test-fraction", "0.8"],
                            "hold out fewer"),
    "text in a numeric column": (numbers(a=swapped(COUNTING, 7, "oops")), ALL_ROWS, "row 8 has 'oops'"),
    "repeated column name": ("x,x,y\n1,2,a\n", XY, "'x' appears more than once"),
    "unnamed column": ("x,,y\n1,2,a\n", XY, "column 2 has no name"),
    "unnamed columns": (",,y\n1,2,a\n", XY, "column 1 has no name"),
    "unnamed columns apart": (",x,,y\n1,2,3,a\n", XY, "column 1 has no name"),
    "ragged row": ("x,y\n1,a\n2,b,c\n", XY, "line 3 has 3 cells"),
    "short row": ("x,y\n1,a\n2\n", XY, "line 3 has 1 cells"),
    "open quote": ('x,y\n1,"a\n', XY, "cannot be read as a table"),
    "latin-1 bytes": (to_text(flower_rows()).replace("red", "röd").encode("latin-1"), XY, "is not utf-8: line"),
    "mixed encodings": ("x,y\né,a\n".encode() + "é,b\n".encode("latin-1"), XY, "is not utf-8: line 3"),
    "unknown encoding": (numbers(), [*XY, "--encoding", "klingon"], "no such encoding"),
    "zero bytes": ("x,y\n1,a\n".encode("utf-16-le"), XY, "zero bytes"),
    "broken parquet": (("t.parquet", "PAR1 nonsense"), ["t.parquet", *XY], "Parquet"),
    "nothing to learn from": (numbers(), [*XY, "--drop", "x"], "no column is left"),
    "only constants": ("x,y\n" + "1,a\n1,b\n" * 10, XY, "no column is left.*constant"),
    "drop of the target": (numbers(), [*XY, "--drop", "y"], "--drop 'y': this column is the target"),
    "weight without a name": (numbers(), [*XY, "--weight", ""], "--weight '': there is no such column"),
    "drop of a missing column": (numbers(), [*XY, "--drop", "z"], "--drop 'z'"),
    "categorical of a missing column": (numbers(), [*XY, "--categorical", "z"], "--categorical 'z'"),
    "id is not a column": (numbers(), [*XY, "--id", "z"], "--id 'z': there is no such column"),
    "repeated ids": (numbers(z=["a"] * 40), [*XY, "--id", "z"], "'a' twice, in rows 1 and 2"),
    "empty id": (numbers(z=swapped(range(40), 5, "")), [*XY, "--id", "z"], "empty in row 6"),
    "test fraction": (numbers(), [*XY, "--test-fraction", "1.5"], "--test-fraction"),
    "no epochs": (numbers(), [*XY, "--epochs", "0"], "max_epochs must be a whole number of at least 1"),
    "no anchors": (numbers(), [*XY, "--max-anchors", "0"], "max_anchors must be a whole number of at least 2"),
    "missing graph": (numbers(), [*XY, "--graph", "e.csv"], "e.csv does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(latopo, tmp_path, case):
    content, arguments, message = BAD[case]
    if content is not None:
        name, content = content if isinstance(content, tuple) else ("t.csv", content)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        if name == "t.csv":
            arguments = ["t.csv", *arguments]
    before = sorted(tmp_path.rglob("*"))
    code, _, err = latopo("fit", *arguments, "--out", "run")
    assert code == 2
    assert re.search(message, err), err
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("latopo: ")
    assert sorted(tmp_path.rglob("*")) == before  # nothing is written


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("a,b\nr1,r99\n", "names 'r99', which is not the id of any row"),
        ("a,b\nr1,\n", "names None"),
        ("a\nr1\n", "one column, expected two"),
        ("", "is empty"),
    ],
)
def test_bad_edges(latopo, tmp_path, edges, message):
    (tmp_path / "t.csv").write_text(to_text(flower_rows()))
    (tmp_path / "e.csv").write_text(edges)
    code, _, err = latopo("fit", "t.csv", "--target", "species", "--id", "name", "--graph", "e.csv", "--out", "run")
    assert code == 2
    assert message in err
    assert not (tmp_path / "run").exists()


def test_folders_that_are_not_runs(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(numbers())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    for out, message in (("mine", "holds other files"), ("file", "is not a folder"), ("file/run", "cannot be written")):
        code, _, err = latopo("fit", "t.csv", *XY, "--out", out, "--overwrite")
        assert code == 2
        assert message in err
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "x"


def test_a_negative_seed(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(numbers())
    code, _, err = latopo("fit", "t.csv", *XY, "--seed", "-1", "--test-fraction", "0", *QUICK)
    assert code == 2
    assert "--seed" in err


def test_names_that_are_too_long(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(numbers())
    for arguments in (["t.csv", *XY, "--out", "x" * 300], ["x" * 300 + ".csv", *XY]):
        code, _, err = latopo("fit", *arguments, *QUICK)
        assert code == 2
        assert err.startswith("latopo: ")
        assert len(err.splitlines()) == 1


def test_read_only_folder(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(numbers())
    code, _, err = latopo("fit", "t.csv", *XY, "--out", "/proc/run")  # where root may not write, either
    assert code == 2
    assert "cannot be written to" in err


def test_a_crash_leaves_nothing_half_written(latopo, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(numbers())

    def crash(*_):
        raise RuntimeError("power cut")

    monkeypatch.setattr("latopo.table.fit_folder._write_complex", crash)
    with pytest.raises(RuntimeError, match="power cut"):
        latopo("fit", "t.csv", *XY, "--out", "run", *QUICK)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_there_are_at_least_forty_bad_cases():
    assert len(BAD) >= 40


def test_a_killed_fit_does_not_block_its_folder(latopo, tmp_path):
    (tmp_path / "t.csv").write_text(numbers())
    (tmp_path / "run" / f".latopo-{uuid4().hex}").mkdir(parents=True)
    code, _, err = latopo("fit", "t.csv", *XY, "--out", "run", *QUICK)
    assert code == 0, err
    assert (tmp_path / "run" / "run.json").is_file()
