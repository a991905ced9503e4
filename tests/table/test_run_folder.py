import pytest

from latopo.errors import LatopoError
from latopo.table.run_folder import check_run_folder, new_run_folder


def crash_while_writing(folder):
    with new_run_folder(folder, overwrite=True) as draft:
        (draft / "half").write_text("")
        raise RuntimeError("crash")


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with new_run_folder(tmp_path / "a" / "run", overwrite=False) as draft:
        (draft / "run.json").write_text("{}")
        assert not (tmp_path / "a" / "run").exists()
    assert (tmp_path / "a" / "run" / "run.json").exists()
    with pytest.raises(RuntimeError, match="crash"):
        crash_while_writing(tmp_path / "a" / "run")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["run"]
    assert [path.name for path in (tmp_path / "a" / "run").iterdir()] == ["run.json"]


def test_an_empty_folder_may_be_used_and_a_link_may_not(tmp_path):
    (tmp_path / "empty").mkdir()
    check_run_folder(tmp_path / "empty", overwrite=False)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(LatopoError, match="is no folder"):
        check_run_folder(tmp_path / "link", overwrite=True)
