import pytest

from latopo.bench import report
from latopo.bench.harness import Measurement


class Benchmark:
    @staticmethod
    def measure(quick):
        return [Measurement("ours", 1.0, "theirs", 30.0, bar=25.0, note="quick" if quick else "full")]


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setattr(report, "import_module", lambda name: Benchmark)


def test_all_benchmarks_with_their_verdicts(latopo):
    code, out, _ = latopo("bench")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line.endswith("…")] == list(report.BENCHMARKS)
    assert out.count("yes") == len(report.BENCHMARKS)
    assert out.count("full") == len(report.BENCHMARKS)


def test_one_benchmark_quickly_and_written_down(latopo, tmp_path):
    code, out, _ = latopo("bench", "search", "--quick", "--out", "results")
    assert code == 0
    assert "quick" in out
    assert "yes" not in out
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["README.md", "results.json"]


def test_a_missing_peer_says_what_to_install(latopo, monkeypatch):
    monkeypatch.setattr(Benchmark, "measure", staticmethod(lambda quick: __import__("no_such_peer")))
    code, _, err = latopo("bench", "fit")
    assert code == 2
    assert err.splitlines() == [
        "latopo: bench: No module named 'no_such_peer'; the peers come with pip install \"latopo[dev]\""
    ]


def test_an_unknown_benchmark(latopo):
    code, _, err = latopo("bench", "speed")
    assert code == 2
    assert err.startswith(f"latopo: bench: expected one of {', '.join(report.BENCHMARKS)}, got 'speed'; ")
    assert len(err.splitlines()) == 1


def test_a_folder_without_benchmarks_and_a_file_in_place_of_the_results(latopo, tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('not to be run')")
    for arguments in (["--peers", "."], ["--peers", "nowhere"], ["--out", "mine.py"], ["--out", "mine.py/results"]):
        code, out, err = latopo("bench", *arguments)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
