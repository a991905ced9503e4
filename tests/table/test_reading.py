import datetime
import json
import tracemalloc
from decimal import Decimal

import pandas as pd
import pytest

from latopo.errors import LatopoError
from latopo.table import reading
from latopo.table.columns import read_cells
from latopo.table.reading import read_blocks, read_edges, read_frame, read_ids


def write(tmp_path, content, name="t.csv"):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path / name


def cells(path, encoding=None):
    """The cells of a file by column."""
    frame = read_frame(path, encoding)
    return {name: read_cells(frame[name]).tolist() for name in frame}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a, b\n 1 ,NA\n?,"x, y"\n\n"",nan\n', {"a": ["1", None, None], "b": [None, "x, y", None]}),
        ('a,b\n"two\nlines","say ""hi"""\n', {"a": ["two\nlines"], "b": ['say "hi"']}),
        ("a;b\n1;2\n", {"a": ["1"], "b": ["2"]}),
        ("a;b,c\n1,2\n", {"a;b": ["1"], "c": ["2"]}),
        ("a\tb\n1,5\t2\n", {"a": ["1,5"], "b": ["2"]}),
        ("a\tb,c\n1,2\n", {"a\tb": ["1"], "c": ["2"]}),
        ('a,b\n"1,5",2\n', {"a": ["1,5"], "b": ["2"]}),
        (
            "a;b;c;d\n1,5;1,5;x, y;2\n-,25e3;1.5;z;\n;;;3\n",
            {"a": ["1.5", "-.25e3", None], "b": ["1,5", "1.5", None], "c": ["x, y", "z", None], "d": ["2", None, "3"]},
        ),
        ("\na;b\n1;2\n", {"a": ["1"], "b": ["2"]}),
        ("\r\n\r\na;b\n1;2\n", {"a": ["1"], "b": ["2"]}),
        ("  \na;b\n1;2\n", {"a": ["1"], "b": ["2"]}),
    ],
)
def test_text_files(tmp_path, text, expected):
    assert cells(write(tmp_path, text)) == expected


@pytest.mark.parametrize("blank", ["\n", "\r\n\r\n", "  \n"])
def test_blank_files(tmp_path, blank):
    with pytest.raises(LatopoError, match="is empty; the first row must name"):
        read_frame(write(tmp_path, blank))


def test_byte_order_marks(tmp_path):
    expected = {"ä": ["1"], "b": ["2"]}
    assert cells(write(tmp_path, "ä,b\n1,2\n".encode("utf-8-sig")), "utf-8") == expected
    for encoding in ("utf-8-sig", "utf-16"):
        assert cells(write(tmp_path, "ä,b\n1,2\n".encode(encoding))) == expected


@pytest.mark.parametrize(("written", "read"), [("0,125 1,250", "0.125 1.250"), ("1,234 2,500", "1.234 2.500"),
                                               ("1,5 950", "1.5 950"), ("-0,125 3", "-0.125 3")])  # fmt: skip
def test_decimals_are_read(tmp_path, written, read):
    text = "a;b\n" + "".join(f"{cell};x\n" for cell in written.split())
    assert cells(write(tmp_path, text))["a"] == read.split()


def test_thousands_are_not_taken_for_decimals(tmp_path):
    with pytest.raises(LatopoError, match="column 'a' has '1,234' beside whole numbers"):
        read_frame(write(tmp_path, "a;b\n950;x\n1,234;y\n"))


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a,b\n1,2\n\xe4,3\n", None, r"is not utf-8: line 3 has the byte 0xe4; save it as UTF-8"),
        (b"a,b\n1,2\n" * 5000 + b"1,\xc3", None, r"line 10001 has the byte 0xc3"),
        (b"a,b\n1,\x00\n", None, "has zero bytes"),
        (b"a,b\n1,2\n", "klingon", "there is no such encoding"),
        (b"a,b\n1,2\n", "hex", "there is no such encoding"),
        ("ä,b\n1,2\n".encode(), "ascii", "is not ascii: line 1 has the byte 0xc3"),
        (b"a,b\n1,2\n", "utf-16", "cannot be read with --encoding utf-16|is not utf-16"),
    ],
)
def test_what_cannot_be_decoded(tmp_path, content, encoding, message):
    with pytest.raises(LatopoError, match=message):
        read_frame(write(tmp_path, content), encoding)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_are_parts_of_the_whole(tmp_path, end):
    text = end.join(["", " ", "a,b", *(f'{row},"x{end}{row}"' for row in range(25)), ""])
    path = write(tmp_path, text)
    blocks = list(read_blocks(path, rows=10))
    assert [len(block) for block in blocks] == [10, 10, 5]
    assert pd.concat(blocks, ignore_index=True).equals(read_frame(path))
    assert blocks[2].iloc[-1].tolist() == ["24", f"x{end}24"]


def test_a_large_file_is_never_held_as_a_whole(tmp_path, monkeypatch):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 500_000)
    monkeypatch.setattr(reading, "_LARGEST", 1000)
    with pytest.raises(LatopoError, match="expected at most 1,000; split it"):
        read_frame(path)
    tracemalloc.start()
    assert sum(len(block) for block in read_blocks(path, rows=1000)) == 500_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_blocks_between_semicolons_know_the_whole_column(tmp_path, rows):
    path = write(tmp_path, "a;b;c\n1;1,5;x\n2,5;y;1,5\n;3,5;z\n")
    blocks = list(read_blocks(path, rows=rows))
    assert max(map(len, blocks)) == min(rows, 3)
    together = pd.concat(blocks, ignore_index=True)
    assert together.equals(read_frame(path))
    assert together.to_dict("list") == {"a": ["1", "2.5", None], "b": ["1,5", "y", "3,5"], "c": ["x", "1,5", "z"]}
    with pytest.raises(LatopoError, match="may mark decimals or thousands"):
        list(read_blocks(write(tmp_path, "a;b\n1,555;x\n2;y\n"), rows=rows))


def test_parquet_is_read_in_blocks(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"key": range(30), "a": [1.5, None, 2.0] * 10, "b": ["x", None, "y"] * 10}).set_index("key")
    table.to_parquet(tmp_path / "t.parquet", row_group_size=12)
    blocks = list(read_blocks(tmp_path / "t.parquet", rows=10))
    assert max(map(len, blocks)) == 10
    assert pd.concat(blocks, ignore_index=True).equals(read_frame(tmp_path / "t.parquet"))
    monkeypatch.setattr(reading, "_MOST_CELLS", 40)
    with pytest.raises(LatopoError, match="30 rows of 2 columns, expected at most 40 cells; split it"):
        read_frame(tmp_path / "t.parquet")
    assert sum(map(len, read_blocks(tmp_path / "t.parquet", rows=10))) == 30  # not held at once
    table[:0].to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(LatopoError, match="has a header but no rows"):
        list(read_blocks(tmp_path / "empty.parquet", rows=10))


def test_a_huge_cell_is_refused(tmp_path):
    with pytest.raises(LatopoError, match="field larger"):
        read_frame(write(tmp_path, "a,b\n" + "x" * 200_000 + ",1\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3," + "x" * 100 + "\n", "line 3 is too long, expected fewer than 50 characters"),
        ("\0" * 100, "has zero bytes"),
    ],
)
def test_a_line_is_never_read_without_limit(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(reading, "_LONGEST_LINE", 50)
    with pytest.raises(LatopoError, match=message):
        read_frame(write(tmp_path, content))
    assert cells(write(tmp_path, "a,b\n1," + "x" * 40 + "\n")) == {"a": ["1"], "b": ["x" * 40]}
    with pytest.raises(LatopoError, match="line 2 has the byte 0xe4"):
        read_frame(write(tmp_path, b"a\n" + b"x" * 45 + b"\xe4" + b"x" * 60))


def test_blank_lines_before_the_header_are_not_held(tmp_path):
    path = write(tmp_path, "\n" * 2_000_000 + "a,b\n1,2,3\n")
    tracemalloc.start()
    with pytest.raises(LatopoError, match="line 2000002 has 3 cells"):
        read_frame(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_no_memory_is_not_called_a_wrong_encoding(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    path = write(tmp_path, "a\n1\n")
    monkeypatch.setattr(reading.Path, "open", fail)
    with pytest.raises(MemoryError):
        read_frame(path)


@pytest.mark.parametrize(
    "noted",
    [
        {"index_columns": [{"kind": "range"}]},
        {"index_columns": ["b", {"kind": "range", "name": None, "start": 0, "stop": 2, "step": 1}], "columns": []},
        {"index_columns": [], "columns": "x"},
        {"index_columns": 5},
        {"index_columns": ["b"], "columns": [{}]},
        [],
        5,
        "x",
    ],
)
def test_parquet_with_damaged_notes_of_pandas(tmp_path, noted):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": [1, 2], "b": [3, 4]}).replace_schema_metadata({"pandas": json.dumps(noted)})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(LatopoError, match=r"^.*t\.parquet.*$"):
        read_frame(tmp_path / "t.parquet")


def test_parquet_cells_keep_their_types(tmp_path):
    pytest.importorskip("pyarrow")
    day = datetime.date(2024, 1, 2)
    expected = {
        "n": [1, None],
        "x": [0.1, None],
        "t": [pd.Timestamp(day), None],
        "d": [day, None],
        "m": [Decimal("1.5"), None],
        "b": ["True", None],
        "c": ["a", None],
    }
    types = {"n": "Int64", "b": "boolean", "c": "category"}
    pd.DataFrame({**expected, "b": [True, None]}).astype(types).to_parquet(tmp_path / "t.parquet")
    assert cells(tmp_path / "t.parquet") == expected


def test_parquet_knows_what_is_missing_and_what_is_a_row_number(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"kind": ["None", "NA", None, ""], "x": [1.5, float("nan"), 2.0, 3.0]}, index=[5, 2, 9, 7])
    expected = {"kind": ["None", "NA", None, None], "x": [1.5, None, 2.0, 3.0]}
    frame.to_parquet(tmp_path / "t.parquet")
    assert cells(tmp_path / "t.parquet") == expected
    frame.rename_axis("key").to_parquet(tmp_path / "named.parquet")
    assert cells(tmp_path / "named.parquet") == {"key": [5, 2, 9, 7], **expected}


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(LatopoError, match=r"pip install .latopo\[table\]"):
        read_frame(write(tmp_path, "x", "t.parquet"))


def test_ids_are_row_numbers_from_one_or_a_column():
    frame = pd.DataFrame({"k": ["x", "y"], "n": [7, 5]})
    assert read_ids(frame, None) == ["1", "2"]
    assert read_ids(frame, "k") == ["x", "y"]
    assert read_ids(frame, "n") == ["7", "5"]


@pytest.mark.parametrize(
    ("ids", "message"), [(["a", "b", "c", "b", "b"], "has 'b' twice, in rows 2 and 4"), (["a", None], "empty in row 2")]
)
def test_ids_that_name_no_row(ids, message):
    with pytest.raises(LatopoError, match=message):
        read_ids(pd.DataFrame({"k": ids}), "k")


def test_edges_are_positions(tmp_path):
    text = "from,to,weight\ny,x,1\nx,x,2\n"
    assert read_edges(write(tmp_path, text), ["x", "y"]).tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\nx,q\np,x\n", r"row 1 names 'q'.*\(2 such cells\)"), ("a,b\nx,x\n,x\n", "row 2 names None")],
)
def test_unknown_ids_are_counted(tmp_path, text, message):
    with pytest.raises(LatopoError, match=message):
        read_edges(write(tmp_path, text), ["x"])


@pytest.mark.parametrize(
    ("content", "name", "encoding", "message"),
    [
        ("a,b\n1,2\n", "t.xlsx", None, "ends in '.xlsx', expected one of"),
        ("a,\n1,2\n", "t.csv", None, "column 2 has no name"),
        ("a,b,a\n1,2,3\n", "t.csv", None, "the column name 'a' appears more than once"),
        ("a,b\n", "t.csv", None, "has a header but no rows"),
        ("a,b\n1,2,3\n", "t.csv", None, "line 2 has 3 cells, but the header has 2 columns"),
        ('a,b\n"1,2\n', "t.csv", None, "cannot be read as a table: unexpected end of data"),
        ("a,ä\n1,2\n".encode("latin-1"), "t.csv", None, "is not utf-8: line 1 has the byte 0xe4"),
        ("a,b\n1,2\n", "t.csv", "klingon", "--encoding klingon: there is no such encoding"),
        ("a,b\n1,2\n".encode("utf-16-le"), "t.csv", None, "has zero bytes"),
        (b"PAR1 and no more", "t.parquet", None, "is not a readable Parquet file"),
    ],
)
def test_what_is_not_a_table(tmp_path, content, name, encoding, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(LatopoError, match=message):
        read_frame(write(tmp_path, content, name), encoding)


def test_what_is_not_a_file(tmp_path):
    with pytest.raises(LatopoError, match="does not exist"):
        read_frame(tmp_path / "t.csv")
    with pytest.raises(LatopoError, match="is a folder, not a file"):
        read_frame(tmp_path)


def test_a_table_of_too_many_cells_is_refused_before_they_are_held(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("latopo.table.reading._MOST_CELLS", 5)
    pd.DataFrame({"a": range(4), "b": range(4)}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(LatopoError, match="4 rows of 2 columns, expected at most 5 cells; split it"):
        read_frame(tmp_path / "t.parquet")
    path = write(tmp_path, "a,b\n" + "1,2\n" * 4)
    with pytest.raises(LatopoError, match="has more than 5 cells"):
        read_frame(path)
    assert [len(block) for block in read_blocks(path, rows=3)] == [3, 1]  # not held at once
    monkeypatch.setattr("latopo.table.reading._LARGEST", 10)
    with pytest.raises(LatopoError, match="has 20 bytes, expected at most 10"):
        read_frame(path)


def test_edges_need_two_columns(tmp_path):
    with pytest.raises(LatopoError, match="has one column, expected two"):
        read_edges(write(tmp_path, "a\nx\n"), ["x"])
