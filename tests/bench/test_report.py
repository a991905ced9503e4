import json

import pytest

from latopo.bench import report
from latopo.bench.harness import Measurement, best_times
from latopo.errors import LatopoError

ROWS = [
    Measurement("fast thing", 0.5, "slow thing", 10.0, bar=25.0, note="small"),
    Measurement("memory", 100.0, "1 GB", None, unit="MB", bar=1.0, limit=1024.0),
    Measurement("no bar", 1.0, "peer", 3.0),
]


class FakeBenchmark:
    @staticmethod
    def measure(quick):
        return ROWS


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(report, "import_module", lambda name: FakeBenchmark)


def test_ratio_and_verdict():
    assert [row.ratio for row in ROWS] == [20.0, 10.24, 3.0]
    assert [row.met for row in ROWS] == [False, True, None]


def test_results_are_kept_and_the_table_is_replaced(fake, tmp_path):
    (tmp_path / "README.md").write_text("# Mine\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n")
    report.run(["cycles"], out=tmp_path)
    report.run(["entmax"], out=tmp_path, quick=True)
    stored = json.loads((tmp_path / "results.json").read_text())
    assert set(stored) == {"cycles", "entmax"}
    assert stored["cycles"]["rows"][0]["met"] is False
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("# Mine\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| fast thing | 0.5 s | slow thing | 10 s | 20 | 25 | **no** | small |" in text
    assert "### entmax (quick)" in text


def test_unknown_benchmark():
    with pytest.raises(LatopoError, match="expected one of cycles, entmax, neighbors, step, got 'speed'"):
        report.run(["speed"])


def test_functions_take_turns():
    calls = []
    seconds = best_times(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert calls == ["a", "b", "a", "b"]
    assert all(second < 1 for second in seconds)


def test_both_sides_of_the_step_infer_the_same_complex():
    from latopo.bench.step import make, same_complex

    model, _, x, _ = make(120, 60, 0.1, warm=3)
    assert "edges" in same_complex(model, x)
