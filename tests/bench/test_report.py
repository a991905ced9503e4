import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

from latopo.bench import report
from latopo.bench.harness import Measurement
from latopo.errors import LatopoError

ROWS = [
    Measurement("fast thing", 0.5, "slow thing", 10.0, bar=25.0, note="small"),
    Measurement("memory", 100.0, "1 GB", 1024.0, "MB", bar=1.0),
    Measurement("no bar", 1.0, "peer", 3.0),
]


class FakeBenchmark:
    @staticmethod
    def measure(quick):
        return ROWS


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(report, "import_module", lambda name: FakeBenchmark)


def test_results_are_kept_and_the_table_is_replaced(fake, tmp_path):
    (tmp_path / "README.md").write_text("# Mine\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n")
    report.run(["search"], out=tmp_path)
    report.run(["fit"], out=tmp_path, quick=True)
    stored = json.loads((tmp_path / "results.json").read_text())
    assert list(stored) == ["search", "fit"]
    assert stored["search"]["rows"][0]["met"] is False
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("# Mine\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| fast thing | 0.5 s | slow thing | 10 s | 20 | 25 | **no** | small |" in text
    assert "## fit (quick)" in text
    assert "| fast thing | 0.5 s | slow thing | 10 s | 20 |  |  | small |" in text
    assert "| memory | 100 MB | 1 GB | 1,024 MB | 10.2 | 1 | yes |  |" in text


def test_unknown_benchmark():
    with pytest.raises(LatopoError, match=r"expected one of search, fit, got 'cycles'; .*--peers"):
        report.run(["cycles"])


def test_more_benchmarks_from_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.path", [*sys.path])
    folder = tmp_path / "own_benchmarks"
    folder.mkdir()
    (folder / "_helper.py").write_text("NAME = 'twice'\n")
    (folder / "mine.py").write_text(
        "from latopo.bench.harness import Measurement\nfrom own_benchmarks._helper import NAME\n"
        "def measure(quick):\n    return [Measurement(NAME, 1.0, 'peer', 2.0)]\n"
    )
    (row,) = report.run(["mine"], peers=folder)
    assert (row.name, row.ratio) == ("twice", 2.0)
    with pytest.raises(LatopoError, match=r"expected one of search, fit, mine, got '_helper'$"):
        report.run(["_helper"], peers=folder)
    with pytest.raises(LatopoError, match="nowhere has no benchmarks"):
        report.run(peers=tmp_path / "nowhere")


def test_the_peers_of_the_repository_are_benchmarks(monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    known = report._find(Path(__file__).parents[2] / "benchmarks" / "peers")
    names = ["batches", "cycles", "entmax", "epoch", "graphs", "million", "neighbors", "step"]
    assert list(known) == [*report.BENCHMARKS, *names]
    assert all(callable(import_module(known[name]).measure) for name in names)


def test_a_library_that_is_missing_is_left_out(monkeypatch):
    monkeypatch.setattr(report, "_PACKAGES", ("torch", "no-such-package"))
    assert {"torch", "python"} <= set(report.machine())
    assert "no-such-package" not in report.machine()
