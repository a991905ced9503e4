import sys

import pytest

from latopo import CellComplex
from latopo.cli import main
from latopo.data import load
from latopo.reproduce import Record, Store, Unit
from latopo.training import Run, RunFolder, train_folds


@pytest.fixture
def latopo(monkeypatch, capsys, tmp_path):
    """Run the command in the temporary folder: exit code, standard output, standard error."""

    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["latopo", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def results(tmp_path):
    unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
    Store(tmp_path / "results").append(Record(unit, 0.8, 100, 20, 3, 1.0, 7))
    return tmp_path / "results"


def test_the_report_lies_in_the_run_unless_named(latopo, results, tmp_path):
    code, out, err = latopo("report", "results")
    assert (code, err) == (0, "")
    assert "report.html" in out
    assert (results / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    latopo("report", "results", "--out", "deep/other.html")
    assert (tmp_path / "deep" / "other.html").is_file()


@pytest.mark.usefixtures("results")
def test_only_a_report_is_replaced(latopo, tmp_path):
    (tmp_path / "precious.csv").write_text("mine")
    code, _, err = latopo("report", "results", "--out", "precious.csv")
    assert code == 2
    assert "precious.csv exists and is not a latopo report" in err
    assert (tmp_path / "precious.csv").read_text() == "mine"
    for _ in range(2):
        assert latopo("report", "results", "--out", "mine.html")[0] == 0


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing"], "missing is not a folder"),
        (["."], "is not a latopo run"),
        (["results", "results"], "has no complex to compare"),
        (["results", "--fold", "1"], "has no folds"),
        (["results", "--out", "results"], "is a folder"),
        (["results", "--out", "results/records.jsonl/report.html"], "cannot be written"),
    ],
)
def test_bad_input_ends_in_one_line_and_code_2(latopo, arguments, words):
    code, _, err = latopo("report", *arguments)
    assert code == 2
    assert words in err
    assert len(err.splitlines()) == 1


def test_two_runs_of_one_name_are_told_apart(latopo, tmp_path):
    for seed in (0, 1):
        run = Run("karate", "dcm", seed=seed, settings={"epochs": 3, "weight_decay": 5e-4})
        train_folds(RunFolder(tmp_path / f"seed-{seed}", run), load("karate"), [0])
    code, out, _ = latopo("report", "seed-0", "seed-1")
    assert code == 0
    assert "report-seed-1.html" in out
    page = (tmp_path / "seed-0" / "report-seed-1.html").read_text(encoding="utf-8")
    assert "(seed-0) and dcm on" in page


def test_a_complex_of_your_own(latopo, tmp_path):
    square = CellComplex(4, [[0, 1, 2, 3], [1, 2, 3, 0]], [[0, 1, 2, 3]])
    square.save(tmp_path / "square.safetensors")
    square.skeleton(1).save(tmp_path / "ring.safetensors")
    code, out, err = latopo("report", "square.safetensors")
    assert (code, err) == (0, "")
    assert "square.html" in out
    assert "1 connected piece" in (tmp_path / "square.html").read_text(encoding="utf-8")
    assert latopo("report", "square.safetensors", "ring.safetensors")[0] == 0
    assert (tmp_path / "square-ring.html").is_file()
    (tmp_path / "other.safetensors").write_bytes(b"nothing")
    code, _, err = latopo("report", "other.safetensors")
    assert code == 2
    assert err.count("\n") == 1
