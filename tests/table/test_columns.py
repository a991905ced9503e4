import numpy as np
import pytest

from latopo.errors import LatopoError
from latopo.table.columns import Column, infer_column, parse_dates, parse_numbers


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


def test_notes():
    assert infer_column("c", ["1", None, "3"])[1] == ["column 'c': 1 missing value, set to the median 2"]
    assert infer_column("c", ["2024-01-01", "2024-01-03"])[1] == ["column 'c' holds dates: taken as days"]
    assert "beyond 2^53" in infer_column("c", ["90071992547409931", "1"])[1][0]
    assert "identifier or free text" in infer_column("c", [f"id{row}" for row in range(100)])[1][0]
    assert "only numbers the rows" in infer_column("c", [str(row) for row in range(30)])[1][0]


def test_categorical_is_forced():
    column, _ = infer_column("c", [str(row % 30) for row in range(60)], categorical=True)
    assert column is not None
    assert column.kind == "category"
    assert len(column.values) == 30


def test_text_among_numbers_names_the_first():
    cells = [str(row * 1.5) for row in range(30)] + ["n.a.", "none!"]
    with pytest.raises(LatopoError, match=r"'c' has 30 numbers and text, first 'n.a.' in row 31.*--categorical 'c'"):
        infer_column("c", cells)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
def test_infinite_numbers(cell):
    with pytest.raises(LatopoError, match="row 2"):
        parse_numbers("c", ["1", cell])


def test_parsing_keeps_missing_cells():
    assert np.isnan(parse_numbers("c", ["1", None])).tolist() == [False, True]
    days = parse_dates("c", ["1970-01-02", "1970-01-01T12:00", "1970-01-01T00:00:00+01:00", None])
    np.testing.assert_allclose(days[:3], [1.0, 0.5, -1 / 24])
    assert np.isnan(days[3])
    with pytest.raises(LatopoError, match="row 1"):
        parse_dates("c", ["2024-13-01"])


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
    with pytest.raises(LatopoError, match=r"row 3 has '2024-02-31'; correct it"):
        infer_column("c", ["2024-01-01", "2024-01-02", "2024-02-31"], rows=np.array([0, 1]))


def test_row_numbers_are_left_out_though_rows_are_held_out():
    column, notes = infer_column("c", [str(row) for row in range(1, 41)], rows=np.arange(0, 40, 2))
    assert column is None
    assert notes == ["column 'c' only numbers the rows: left out"]


@pytest.mark.parametrize("form", ["${:,.2f}", "{:.1f}%", "{:,.0f}", "{:.2f} €", "-${:.2f}", "£ {:.2f}"])
def test_numbers_with_signs_are_called_numbers(form):
    column, notes = infer_column("c", [form.format(1000 + row * 7.77) for row in range(100)])
    assert column is None
    assert "in row 1 is no plain number: left out" in notes[0]
    assert "for numbers, write plain ones" in notes[0]
    assert "--categorical" not in notes[0]


def test_numbers_with_many_dashes_and_decimal_commas_are_called_numbers():
    dashes = infer_column("c", [str(row / 8) if row % 5 else "-" for row in range(1, 101)])[1]
    assert "'-' in row 5 is no plain number" in dashes[0]
    commas = infer_column("c", [f"{row / 8}".replace(".", ",") for row in range(100)])[1]
    assert "'0,0' in row 1 is no plain number" in commas[0]
    for form in ("id{}", "{}-{}", "%{}", "{}/01/2020"):
        assert "identifier or free text" in infer_column("c", [form.format(row, row) for row in range(100)])[1][0]


def test_numbers_with_signs_that_become_categories_are_called_numbers():
    column, notes = infer_column("c", [f"{row % 20}%" for row in range(100)])
    assert column is not None
    assert "'0%' in row 1 is no plain number: taken as categories" in notes[0]
