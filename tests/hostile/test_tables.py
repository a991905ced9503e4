"""Classes 1, 5, 7 and 9: any table gives a result, or one line and exit code 2, in bounded time and memory."""

import csv
import io
import shutil
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from hostile.commands import run, write_table
from hostile.conftest import LONG, generated
from hypothesis import given
from hypothesis import strategies as st

from latopo import CellComplex
from latopo.draw import draw

EVIL = [
    "", " ", "NA", "NaN", "inf", "-inf", "1e308", "-1e308", "1e-320", "1e400", "0x10", "1_000", "１２",
    "∞", "=1+1", "@x",
    "+cmd|' /C calc'!A0", "a;=1", "＝1", "\u200b=1", "\x1b[31m", "a\nb", '"', "'", "<script>",
    "é" * 3, "\u202e", "x" * 3000,
    "2024-01-01", "9999-12-31", "2024-02-30", "true", "None", "\ufeff", "0", "1", "-0", "9" * 30, "\x07", "\ud7ff",
]  # fmt: skip
SIZES = [0.0, -0.0, 1.0, 1e-320, 1e-300, 1e-160, 1e100, 1e150, 1e154, 1e160, 1e300, 1.7e308, -1.7e308]
cells = st.one_of(
    st.sampled_from(EVIL),
    st.integers(-5, 5).map(str),
    st.floats(-9, 9).map(str),
    st.sampled_from("abc"),
    st.text(max_size=5),
)
names = st.one_of(st.sampled_from(["size", "kind", "id", *EVIL]), st.text(min_size=1, max_size=8))


@st.composite
def tables(draw):
    """Mostly sensible tables with a few evil cells, names and lines."""
    columns, rows = draw(st.integers(1, 5)), draw(st.sampled_from([0, 1, 9, 12, 25, 40]))
    header = [draw(names) for _ in range(columns)] + ["target"]
    number = draw(st.booleans())
    body = [[str((row * (column + 3)) % 7) for column in range(columns)] for row in range(rows)]
    for row, line in enumerate(body):
        line.append(f"{row * 0.37 % 3:.3f}" if number else "ab"[row % 2])
    for _ in range(draw(st.integers(0, 6)) if rows else 0):
        body[draw(st.integers(0, rows - 1))][draw(st.integers(0, columns))] = draw(cells)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=draw(st.sampled_from([",", ";", "\t"])), lineterminator="\n")
    writer.writerows([header, *body])
    damage = draw(st.sampled_from([None] * 6 + ["cut", "line", "bytes"]))
    content = text.getvalue().encode("utf-8", "surrogatepass")
    if damage == "cut":
        content = content[: len(content) // 2]
    if damage == "line":
        content += b"1,2\n"
    if damage == "bytes":
        content += bytes(draw(st.lists(st.integers(0, 255), max_size=9)))
    return content


def check_table(content, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "run"
    table.write_bytes(content)
    try:
        outcome = run("fit", table, "--target", "target", "--epochs", 1, "--out", out, seconds=90).check()
        if outcome.code == 0:
            assert run("predict", out, table, "--out", tmp_path / "p.csv", "--overwrite").check().code == 0
            check_spreadsheet((tmp_path / "p.csv").read_text("utf-8"))
            check_spreadsheet((out / "edges.csv").read_text("utf-8"))
            assert run("report", out, "--out", tmp_path / "r.html").check().code == 0
        else:
            assert not out.exists()
    except AssertionError as error:
        raise AssertionError(f"{content!r}: {error}") from error
    finally:
        shutil.rmtree(out, ignore_errors=True)


def check_spreadsheet(text):
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            for cell in row:
                plain = unicodedata.normalize("NFKC", cell).strip().strip('"')
                if plain.startswith(("=", "+", "-", "@")):
                    float(plain)


@pytest.mark.parametrize("part", range(10 if LONG else 1))
def test_generated_tables(part, tmp_path_factory):
    @given(tables())
    def check(content):
        check_table(content, tmp_path_factory.mktemp("table"))

    generated(check, 6, 25, part)()


@pytest.mark.parametrize("size", SIZES if LONG else [1e-320, 1e154, 1e160, 1.7e308])
def test_targets_at_the_edge_of_floating_point(size, tmp_path):
    rows = "".join(f"{row % 7},{row * 5 % 11},{size * (1 + row * 0.01)!r}\n" for row in range(30))
    (tmp_path / "table.csv").write_text("x,y,target\n" + rows)
    outcome = run(
        "fit", tmp_path / "table.csv", "--target", "target", "--task", "regression", "--epochs", 2,
        "--out", tmp_path / "run",
    ).check()  # fmt: skip
    if outcome.code == 0:
        assert run("predict", tmp_path / "run", tmp_path / "table.csv", "--out", tmp_path / "p.csv").check().code == 0
        predicted = [float(row["predicted target"]) for row in csv.DictReader((tmp_path / "p.csv").open())]
        assert all(abs(value) < 1.8e308 for value in predicted)


def test_memory_does_not_grow_with_the_length_of_a_name(tmp_path):
    rows = ["x,kind"] + [f"{row},{'a' * 131_000 if row == 7 or row == 9 else 'b'}" for row in range(3000)]
    outcome = run("fit", write_table(tmp_path, "\n".join(rows)), "--target", "kind", "--epochs", 1).check()
    assert outcome.code == 2
    assert "131,000 characters" in outcome.err
    wide = ",".join(f"c{column}" for column in range(100_000)) + ",kind\n" + ("1," * 100_000 + "a\n") * 12
    assert run("fit", write_table(tmp_path, wide, "wide.csv"), "--target", "kind").check().code == 2


def test_a_parquet_file_of_equal_cells_and_one_of_equal_names(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 10**7, pyarrow.int8()), ["x"])
    parquet.write_table(pyarrow.table({f"c{name}": column for name in range(30)}), tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 10**6
    assert run("fit", tmp_path / "bomb.parquet", "--target", "c0").check().code == 2
    twice = pyarrow.Table.from_arrays([pyarrow.array([1, 2]), pyarrow.array([1, 2])], names=["a", "a"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    assert run("fit", tmp_path / "twice.parquet", "--target", "a").check().code == 2


def test_svg_is_xml_whatever_the_names(tmp_path):
    labels = ["\x00\x1b[31m", "<b>&", "\ufffe", "\x0b"]
    draw(CellComplex(4, torch.tensor([[0, 1], [1, 2]])), labels).save(tmp_path / "a.svg")
    ElementTree.parse(tmp_path / "a.svg")
