import pytest

from latopo.errors import LatopoError
from latopo.table.edges import read_edges, row_ids
from latopo.table.reading import RawTable


def test_ids_are_row_numbers_from_one_or_a_column():
    table = RawTable(["k"], [["x", "y"]])
    assert row_ids(table, None) == ["1", "2"]
    assert row_ids(table, "k") == ["x", "y"]


def test_edges_are_positions(tmp_path):
    (tmp_path / "e.csv").write_text("from,to,weight\ny,x,1\nx,x,2\n")
    assert read_edges(tmp_path / "e.csv", ["x", "y"]).tolist() == [[1, 0], [0, 0]]


def test_unknown_ids_are_counted(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nx,q\np,x\n")
    with pytest.raises(LatopoError, match=r"row 1 names 'q'.*\(2 such cells\)"):
        read_edges(tmp_path / "e.csv", ["x"])
