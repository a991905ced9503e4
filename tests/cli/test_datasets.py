import json
import re
import sys

import pytest
from typer.testing import CliRunner

from latopo.cli.app import app, main
from latopo.data import find_dataset, list_datasets


@pytest.fixture(autouse=True)
def empty_root(monkeypatch, tmp_path):
    monkeypatch.setenv("LATOPO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LATOPO_DATA", str(tmp_path / "root"))
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def run(*arguments: str):
    result = CliRunner().invoke(app, ["datasets", *arguments])
    assert result.exit_code == 0, result.output
    return result


def test_json_lists_everything():
    rows = {row["name"]: row for row in json.loads(run("--json").stdout)}
    assert tuple(rows) == list_datasets()
    assert rows["cora"]["present"] == "no"
    assert rows["cora"]["nodes"] is rows["cora"]["homophily"] is None
    assert rows["cora"]["treatment"] == "row-normalised"
    assert (rows["karate"]["present"], rows["karate"]["edges"]) == ("yes", 78)
    assert (rows["diabetes"]["task"], rows["diabetes"]["classes"]) == ("regression", None)


def test_table_is_not_cut_when_piped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    header, *lines = run().stdout.splitlines()
    assert header.split() == ["name", "nodes", "features", "classes", "edges", "homophily", "source", "present"]
    assert [line.split()[0] for line in lines] == list(list_datasets())
    assert "github.com/yandex-research/heterophilous-graphs" in lines[12]
    assert lines[0].split()[1:6] == ["–"] * 5
    assert lines[-1].split()[:6] == ["karate", "34", "34", "4", "78", "0.756"]


def test_table_fits_a_small_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = re.sub(r"\x1b\[[\d;]*m", "", run().stdout).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 1 + len(list_datasets()) + 2  # two long sources fold, nothing else does
    assert {line.split()[0] for line in lines} >= set(list_datasets())


def test_second_call_measures_nothing(monkeypatch):
    first = run("--json")
    assert "Measuring 6 data sets" in first.stderr
    monkeypatch.setattr("latopo.data.statistics.dataset_statistics", pytest.fail)
    second = run("--json")
    assert second.stdout == first.stdout
    assert second.stderr == ""


def test_damaged_files_cost_one_line_and_not_the_list(empty_root):
    (raw_file,) = find_dataset("cs").raw_files
    (empty_root / raw_file).parent.mkdir(parents=True)
    (empty_root / raw_file).write_bytes(b"damaged")
    result = run("--json")
    (row,) = (row for row in json.loads(result.stdout) if row["name"] == "cs")
    assert row["nodes"] is None
    assert "ms_academic_cs.npz is damaged" in result.stderr


def test_bad_root_exits_with_2_and_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["latopo", "datasets", "--data-root", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [f"latopo: datasets: --data-root {tmp_path / 'nowhere'} is not a folder"]
