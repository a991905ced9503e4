import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table import columns
from latopo.table.columns import Column, as_texts, parse_cells, read_cells, read_numbers, refuse_mistakes


def infer_column(name, cells, **options):
    return columns.infer_column(name, np.array(cells, object), **options)


def test_cells_of_any_type():
    for dtype in (float, "Float64", object):
        assert read_cells(pd.Series([1.5, None, float("nan")], dtype=dtype)).tolist() == [1.5, None, None]
    assert read_cells(pd.Series([2, None], dtype="Int64")).tolist() == [2, None]
    assert read_cells(pd.Series([True, None], dtype="boolean")).tolist() == ["True", None]
    assert read_cells(pd.Series(pd.Categorical(["None", None]))).tolist() == ["None", None]
    mixed = [" x ", "", "  ", Decimal("1.5"), Decimal("nan"), np.bool_(True), [1], datetime.time(1), pd.NaT, pd.NA]
    assert read_cells(pd.Series(mixed, dtype=object)).tolist() == [
        "x", None, None, Decimal("1.5"), None, "True", "[1]", "01:00:00", None, None,
    ]  # fmt: skip


def test_texts_are_those_of_a_csv_file():
    cells = [None, 0, 2.0, "a", datetime.date(2024, 1, 2), pd.Timestamp("2024-01-02")]
    assert as_texts(np.array(cells, object)).tolist() == [None, "0", "2.0", "a", "2024-01-02", "2024-01-02T00:00:00"]


@pytest.mark.parametrize("text", ["1_000", "1,5", "0x10", "nan", "٣", "True", "2024-01-01", "1d5", ".", "--1"])
def test_what_is_not_a_number(text):
    assert np.isnan(read_numbers(np.array([text, "1"], object))).tolist() == [True, False]


def test_numbers_are_correctly_rounded():
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(-250, 250).repeat(2)
    assert np.array_equal(read_numbers(np.array(list(map(repr, values.tolist())), object)), values)
    mixed = np.array([Decimal("0.1"), 2**60, "+.5", "5.", "1E2", "-inf", datetime.datetime(2024, 1, 1), None], object)
    assert np.array_equal(read_numbers(mixed), [0.1, 2**60, 0.5, 5, 100, -np.inf, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2.5", "+3e2", ".5", None], Column("c", "number", fill=0.75)),
        (["2024-01-01", "2024-01-03"], Column("c", "date", fill=19724.0)),
        (["b", "a", "b", "a", "b"], Column("c", "category", values=("b", "a"))),
        (["1", "2", "A", "B"] * 3, Column("c", "category", values=("1", "2", "A", "B"))),
        (["x", None, "x"], Column("c", "category", values=("x", None))),
        (["1_000", "2"] * 2, Column("c", "category", values=("1_000", "2"))),
        ([None, None], None),
        (["7", "7"], None),
        ([f"id{row}" for row in range(100)], None),
        ([str(row) for row in range(5, 45)], None),
    ],
)
def test_kinds(cells, expected):
    assert infer_column("c", cells)[0] == expected


def test_typed_columns():
    days = pd.date_range("2024-01-01", periods=3, tz="Europe/Rome")
    frame = pd.DataFrame({"n": [1.5, None, 4.5], "b": [True, False, True], "t": days, "d": days.date, "i": [0, 0, 1]})
    inferred = {name: columns.infer_column(name, read_cells(frame[name]))[0] for name in frame}
    assert inferred == {
        "n": Column("n", "number", fill=3.0),
        "b": Column("b", "category", values=("True", "False")),
        "t": Column("t", "date", fill=19724 - 1 / 24),
        "d": Column("d", "date", fill=19724.0),
        "i": Column("i", "number", fill=0.0),
    }
    column, _ = columns.infer_column("i", read_cells(frame["i"]), categorical=True)
    assert column == Column("i", "category", values=("0", "1"))
    assert column.encode(read_cells(frame["i"]))[0].tolist() == [[1, 0], [1, 0], [0, 1]]


def test_notes():
    assert infer_column("c", ["1", None, "3"])[1] == ["1 missing, set to the median 2"]
    assert infer_column("c", ["2024-01-01", None, "2024-01-04"])[1] == [
        "dates, taken as days",
        "1 missing, set to the median 2024-01-02",
    ]
    assert "beyond 2^53" in infer_column("c", ["90071992547409931", "1"])[1][0]
    assert infer_column("c", ["6e23", "1"])[1] == []
    assert "identifier or free text" in infer_column("c", [f"id{row}" for row in range(100)])[1][0]


def test_categorical_is_forced():
    column, _ = infer_column("c", [str(row % 30) for row in range(60)], categorical=True)
    assert column is not None
    assert column.kind == "category"
    assert len(column.values) == 30


def test_text_among_numbers_names_the_first():
    cells = [str(row * 1.5) for row in range(30)] + ["n.a.", "none!"]
    with pytest.raises(LatopoError, match=r"'c' has 30 numbers, but row 31 has 'n.a.'.*--categorical 'c'"):
        infer_column("c", cells)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("number", "inf"), ("number", "-Infinity"), ("number", "1e999"), ("number", "big"), ("number", np.inf),
     ("number", datetime.date(2024, 1, 1)), ("date", "2024-13-01"), ("date", "yesterday"), ("date", 5)],
)  # fmt: skip
def test_cells_of_another_kind_are_named(kind, cell):
    good = "1" if kind == "number" else "2024-01-01"
    with pytest.raises(LatopoError, match=f"column 'c', row 3: expected a .*, got '{cell}'; correct it, or leave"):
        parse_cells("c", kind, np.array([good, None, cell], object))


def test_parsing_keeps_missing_cells():
    assert np.isnan(parse_cells("c", "number", np.array(["1", None], object))).tolist() == [False, True]
    cells = [
        "1970-01-02",
        "1970-01-01T12:00",
        "1970-01-01T00:00:00+01:00",
        datetime.date(1970, 1, 3),
        "9999-12-31",
        None,
    ]
    days = parse_cells("c", "date", np.array(cells, object))
    np.testing.assert_allclose(days, [1.0, 0.5, -1 / 24, 2.0, 2932896.0, np.nan])


@pytest.mark.parametrize(("texts", "raises"), [(0, False), (3, True), (4, False)])
def test_stray_text_is_a_tenth_at_most(texts, raises):
    cells = np.array([*range(27), None, *["x"] * texts], object)
    stray = cells == "x"
    if raises:
        with pytest.raises(LatopoError, match=r"it has 27 numbers, but row 29 has 'x'; correct it, .* or go away"):
            refuse_mistakes("it", cells, stray, "go away")
    else:
        refuse_mistakes("it", cells, stray, "go away")


def test_feature_names():
    assert Column("c", "category", values=("a", None)).feature_names == ["c=a", "c=(missing)"]
    assert Column("c", "number").feature_names == ["c"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "3", None, "900"], Column("c", "number", fill=2.0)),
        (["a", "b", "b", "green", "green", "green"], Column("c", "category", values=("b", "a"))),
        (["1", "2", "1", "x", "x", "x"], Column("c", "category", values=("1", "2"))),
        (["x", "x", "x", "y"], None),
        ([None, None, None, "7"], None),
    ],
)
def test_only_some_rows_are_learned_from(cells, expected):
    assert infer_column("c", cells, rows=np.array([0, 1, 2]))[0] == expected


@pytest.mark.parametrize("bad", ["oops", "inf", "1e999"])
def test_cells_of_all_rows_are_checked_and_counted_in_the_file(bad):
    cells = [str(row * 1.5) for row in range(60)]
    cells[49] = bad
    for rows in (np.arange(40, 60), np.arange(40)):
        with pytest.raises(LatopoError, match="row 50"):
            infer_column("c", cells, rows=rows)


def test_bad_dates_are_counted_in_the_file():
    with pytest.raises(LatopoError, match=r"row 3: expected a date .*, got '2024-02-31'; correct it"):
        infer_column("c", ["2024-01-01", "2024-01-02", "2024-02-31"], rows=np.array([0, 1]))


def test_row_numbers_are_left_out_though_rows_are_held_out():
    column, notes = infer_column("c", [str(row) for row in range(1, 41)], rows=np.arange(0, 40, 2))
    assert column is None
    assert notes == ["numbers of the rows, left out"]


@pytest.mark.parametrize("form", ["${:,.2f}", "{:.1f}%", "{:,.0f}", "{:.2f} €", "-${:.2f}", "£ {:.2f}"])
def test_numbers_with_signs_are_called_numbers(form):
    column, notes = infer_column("c", [form.format(1000 + row * 7.77) for row in range(100)])
    assert column is None
    assert "in row 1 is not a plain number, left out" in notes[0]
    assert "write numbers like 1234.5" in notes[0]
    assert "--categorical" not in notes[0]


def test_numbers_with_many_dashes_and_decimal_commas_are_called_numbers():
    dashes = infer_column("c", [str(row / 8) if row % 5 else "-" for row in range(1, 101)])[1]
    assert "'-' in row 5 is not a plain number" in dashes[0]
    commas = infer_column("c", [f"{row / 8}".replace(".", ",") for row in range(100)])[1]
    assert "'0,0' in row 1 is not a plain number" in commas[0]
    for form in ("id{}", "{}-{}", "%{}", "{}/01/2020"):
        assert "identifier or free text" in infer_column("c", [form.format(row, row) for row in range(100)])[1][0]


def test_numbers_with_signs_that_become_categories_are_called_numbers():
    column, notes = infer_column("c", [f"{row % 20}%" for row in range(100)])
    assert column is not None
    assert "'0%' in row 1 is not a plain number, taken as categories" in notes[0]
