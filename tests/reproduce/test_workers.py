from queue import Queue
from types import SimpleNamespace

import pytest

from latopo.errors import LatopoError
from latopo.reproduce.workers import _check_alive, _listen, _work


def workers(*codes):
    return [SimpleNamespace(exitcode=code) for code in codes]


def test_a_worker_reports_records_failures_and_its_end(tmp_path, make_record, monkeypatch):
    good, bad = make_record(fold=0), make_record(fold=1)

    def train(unit, data_root, on_epoch, device):
        if unit == bad.unit:
            raise LatopoError("too many cells")
        return good

    monkeypatch.setattr("latopo.reproduce.train_unit.train_unit", train)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    events, finished, failed = Queue(), [], []
    _work([good.unit, bad.unit], tmp_path, None, "cpu", events)
    _listen(workers(None), events, finished.append, lambda unit, error: failed.append((unit, str(error))))
    assert finished == [good]
    assert failed == [(bad.unit, "too many cells")]


def test_dead_workers_are_noticed_when_no_other_works():
    _check_alive(workers(None, -9), ended=0)
    _check_alive(workers(0, None), ended=1)
    with pytest.raises(LatopoError, match=r"1 of 2 workers ended early \(exit code -9.*run the command again"):
        _check_alive(workers(0, -9), ended=1)
