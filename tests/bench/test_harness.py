from functools import partial

from latopo.bench.harness import Measurement, best_runs, race


def test_ratio_and_verdict():
    rows = [
        Measurement("fast thing", 0.5, "slow thing", 10.0, bar=25.0),
        Measurement("memory", 100.0, "1 GB", 1024.0, "MB", bar=1.0),
        Measurement("no bar", 1.0, "peer", 3.0),
    ]
    assert [row.ratio for row in rows] == [20.0, 10.24, 3.0]
    assert [row.met for row in rows] == [False, True, None]
    assert rows[0].to_dict()["met"] is False


def test_functions_take_turns():
    calls = []

    def call(name):
        calls.append(name)
        return len(calls)

    runs = best_runs(partial(call, "a"), partial(call, "b"), repeats=2)
    assert calls == ["a", "b", "a", "b"]
    assert [answer for _, answer in runs] == [3, 4]
    assert all(0 < seconds < 1 for seconds, _ in runs)


def test_a_race_keeps_its_details():
    row = race("work", lambda: sum(range(10)), "more work", lambda: sum(range(10**6)), bar=2.0, note="sums")
    assert (row.name, row.peer, row.bar, row.note) == ("work", "more work", 2.0, "sums")
    assert row.met
