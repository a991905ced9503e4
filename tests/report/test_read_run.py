import pytest

from latopo.errors import LatopoError
from latopo.report import read_run


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(LatopoError, match="is not a latopo run"):
        read_run(tmp_path)
    with pytest.raises(LatopoError, match="is not a folder"):
        read_run(tmp_path / "missing")


def test_folds_and_baselines_belong_to_training_runs(tmp_path):
    (tmp_path / "records.jsonl").write_text("")
    with pytest.raises(LatopoError, match="has no folds"):
        read_run(tmp_path, fold=0)
