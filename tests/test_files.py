import pytest

from latopo._files import atomic_path, write_files


def test_a_failed_block_leaves_the_old_file_and_no_draft(tmp_path):
    target = tmp_path / "answer.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_path(target) as draft:
        draft.write_text(str(1 / 0))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_names_the_file_and_not_its_draft(tmp_path):
    with pytest.raises(OSError, match="nowhere") as caught, atomic_path(tmp_path / "nowhere" / "a.txt") as draft:
        draft.write_text("lost")
    assert caught.value.filename == str(tmp_path / "nowhere" / "a.txt")


def test_files_that_belong_together_come_together(tmp_path, monkeypatch):
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda path, content: 1 / (content != b"bad"))
    with pytest.raises(ZeroDivisionError):
        write_files(tmp_path, {"a": b"2", "b": b"bad"})
    monkeypatch.undo()
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"1", b"1"]
    assert len(list(tmp_path.iterdir())) == 2
