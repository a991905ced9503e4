import json

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
    assert "## entmax (quick)" in text
    assert "| fast thing | 0.5 s | slow thing | 10 s | 20 |  |  | small |" in text
    assert "| memory | 100 MB | 1 GB | 1,024 MB | 10.2 | 1 | yes |  |" in text


def test_unknown_benchmark():
    with pytest.raises(
        LatopoError,
        match=r"expected one of cycles, .*, batches, graphs, epoch, fit, got 'speed'",
    ):
        report.run(["speed"])
