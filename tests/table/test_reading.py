import datetime

import pytest

from latopo.errors import LatopoError
from latopo.table.reading import RawTable, _text, read_raw_table


def write(tmp_path, content, name="t.csv"):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path / name


def test_cells_are_stripped_and_missing_ones_are_none(tmp_path):
    table = read_raw_table(write(tmp_path, 'a, b\n 1 ,NA\n?,"x, y"\n\n"",nan\n'))
    assert table == RawTable(["a", "b"], [["1", None, None], [None, "x, y", None]])
    assert table.num_rows == 3
    assert table.column("b") == [None, "x, y", None]
    assert table.take([1]) == RawTable(["a", "b"], [[None], ["x, y"]])


def test_quoted_line_breaks_and_quotes(tmp_path):
    table = read_raw_table(write(tmp_path, 'a,b\n"two\nlines","say ""hi"""\n'))
    assert table.columns == [["two\nlines"], ['say "hi"']]


def test_semicolons_only_where_the_header_has_no_comma(tmp_path):
    assert read_raw_table(write(tmp_path, "a;b\n1;2\n")).names == ["a", "b"]
    assert read_raw_table(write(tmp_path, "a;b,c\n1,2\n")).names == ["a;b", "c"]


def test_tabs_only_where_the_header_has_no_other_separator(tmp_path):
    assert read_raw_table(write(tmp_path, "a\tb\n1,5\t2\n")) == RawTable(["a", "b"], [["1,5"], ["2"]])
    assert read_raw_table(write(tmp_path, "a\tb,c\n1,2\n")).names == ["a\tb", "c"]


def test_decimal_commas_between_semicolons(tmp_path):
    table = read_raw_table(write(tmp_path, "a;b;c;d\n1,5;1,5;x, y;2\n-,25e3;1.5;z;\n;;;3\n"))
    assert table.columns == [["1.5", "-.25e3", None], ["1,5", "1.5", None], ["x, y", "z", None], ["2", None, "3"]]
    assert read_raw_table(write(tmp_path, 'a,b\n"1,5",2\n')).columns == [["1,5"], ["2"]]


@pytest.mark.parametrize("blank", ["\n", "\r\n\r\n", "  \n"])
def test_blank_lines_before_the_header(tmp_path, blank):
    assert read_raw_table(write(tmp_path, f"{blank}a;b\n1;2\n")) == RawTable(["a", "b"], [["1"], ["2"]])
    with pytest.raises(LatopoError, match="is empty; the first row must name"):
        read_raw_table(write(tmp_path, blank))


def test_byte_order_marks(tmp_path):
    assert read_raw_table(write(tmp_path, "ä,b\n1,2\n".encode("utf-8-sig")), "utf-8").names == ["ä", "b"]
    for encoding in ("utf-8-sig", "utf-16"):
        assert read_raw_table(write(tmp_path, "ä,b\n1,2\n".encode(encoding))).names == ["ä", "b"]


def test_parquet_cells_are_those_of_a_csv_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"n": [1, 2], "x": [0.5, None], "t": pandas.to_datetime(["2024-01-02", None])})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_raw_table(tmp_path / "t.parquet") == RawTable(
        ["n", "x", "t"], [["1", "2"], ["0.5", None], ["2024-01-02T00:00:00", None]]
    )


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(LatopoError, match=r"pip install .latopo\[table\]"):
        read_raw_table(write(tmp_path, "x", "t.parquet"))


def test_typed_cells():
    assert [_text(cell) for cell in (None, True, 2, float("nan"), datetime.date(2024, 1, 2))] == [
        None,
        "True",
        "2",
        None,
        "2024-01-02",
    ]


def test_a_huge_cell_is_refused(tmp_path):
    with pytest.raises(LatopoError, match="field larger"):
        read_raw_table(write(tmp_path, "a,b\n" + "x" * 200_000 + ",1\n"))


def test_parquet_knows_what_is_missing_and_what_is_a_row_number(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"kind": ["None", "NA", None, ""], "x": [1.5, float("nan"), 2.0, 3.0]}, index=[5, 2, 9, 7])
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_raw_table(tmp_path / "t.parquet") == RawTable(
        ["kind", "x"], [["None", "NA", None, None], ["1.5", None, "2.0", "3.0"]]
    )


@pytest.mark.parametrize(("cells", "read"), [("0,125 1,250", "0.125 1.250"), ("1,234 2,500", "1.234 2.500"),
                                             ("1,5 950", "1.5 950"), ("-0,125 3", "-0.125 3")])  # fmt: skip
def test_decimals_are_read(tmp_path, cells, read):
    text = "a;b\n" + "".join(f"{cell};x\n" for cell in cells.split())
    assert read_raw_table(write(tmp_path, text)).columns[0] == read.split()


def test_thousands_are_not_taken_for_decimals(tmp_path):
    with pytest.raises(LatopoError, match="column 'a' has '1,234' beside whole numbers"):
        read_raw_table(write(tmp_path, "a;b\n950;x\n1,234;y\n"))
