import pytest

from latopo.errors import LatopoError
from latopo.report.read_files import read_columns, read_json


def test_columns_are_numbers_or_none_and_the_part_is_text(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("epoch,loss,part\n1,0.5,train\n2,,\n")
    assert read_columns(path) == {"epoch": [1.0, 2.0], "loss": [0.5, None], "part": ["train", ""]}
    path.write_text("epoch,loss\n")
    assert read_columns(path) == {"epoch": [], "loss": []}


@pytest.mark.parametrize("read", [read_columns, read_json])
def test_bad_files_are_named(tmp_path, read):
    with pytest.raises(LatopoError, match=r"missing cannot be read: No such file"):
        read(tmp_path / "missing")
    (tmp_path / "empty").write_text("")
    with pytest.raises(LatopoError, match=r"empty is damaged \(.*\); run it again"):
        read(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(LatopoError, match=r"binary is damaged"):
        read(tmp_path / "binary")
