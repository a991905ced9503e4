import re

import pytest
import torch

from latopo.estimators import progress
from latopo.estimators.progress import epoch_progress, seconds_per_step, time_note
from latopo.models import build_model


def timed(monkeypatch, seconds, index=""):
    """Let a step on so many rows take seconds(rows)."""
    monkeypatch.setattr(progress, "_step", lambda model, x, edges: (seconds(x.size(0)), index))


@pytest.mark.parametrize(
    ("seconds", "index"),
    [
        (lambda n: 3 * n + 0.2 * n**2, ""),
        (lambda n: 3 * n + 0.2 * n**2, "flat"),
        (lambda n: n + n**1.5, "cells"),
        (lambda n: 2.0 * n, "tree"),
        (lambda n: 2.0 * n, ""),
    ],
)
def test_both_parts_of_the_time_are_told(monkeypatch, seconds, index):
    timed(monkeypatch, seconds, index)
    for rows in (40, 10_000, 20_000, 300_000):
        assert seconds_per_step(None, torch.zeros(rows, 1)) == pytest.approx(seconds(rows))


def test_noise_makes_no_part_negative(monkeypatch):
    timed(monkeypatch, lambda n: {5_000: 9.0, 10_000: 9.0}[n])
    assert seconds_per_step(None, torch.zeros(100_000, 1)) == pytest.approx(90.0)
    timed(monkeypatch, lambda n: {5_000: 0.1, 10_000: 9.0}[n])
    assert seconds_per_step(None, torch.zeros(100_000, 1)) == pytest.approx(900.0)


def test_samples_keep_the_given_edges_between_them(monkeypatch):
    monkeypatch.setattr(progress, "_SIZES", (2, 3))
    seen = []
    monkeypatch.setattr(progress, "_step", lambda model, x, edges: (seen.append((x, edges)), (1.0, ""))[1])
    seconds_per_step(None, torch.arange(5.0)[:, None], torch.tensor([[0, 0, 2], [1, 2, 4]]))
    assert seen[1][0].flatten().tolist() == [0, 2, 4]
    assert seen[1][1].tolist() == [[0, 1], [1, 2]]


def test_a_long_fit_names_the_remedy(monkeypatch):
    timed(monkeypatch, lambda n: 10.0)
    note = time_note(None, torch.zeros(40, 2), None, 50)
    assert "about 12 s an epoch, about 12 min for 50 epochs" in note
    assert note.endswith("(--max-anchors) fits a random part of the rows")


def test_note_and_model_is_left_alone():
    model = build_model("dcm-plus", 3, 2)
    note = time_note(model, torch.randn(40, 3), None, 10)
    assert re.fullmatch(r"40 rows, 3 features: about \S+ s an epoch, about \S+ s for 10 epochs", note)
    assert not model.latent.topology.graph.sampler.calibrated
    assert all(parameter.grad is None for parameter in model.parameters())


def test_progress_goes_to_standard_error(capsys):
    with epoch_progress(2, show=True, label="training score") as on_epoch:
        on_epoch({"selection_score": None})
        on_epoch({"selection_score": 0.5})
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2/2" in captured.err
    assert "training score 0.500" in captured.err


def test_no_progress():
    with epoch_progress(2, show=False, label="") as on_epoch:
        assert on_epoch is None


def test_the_time_is_measured_after_a_few_epochs(monkeypatch):
    clock = iter([100.0, 130.0, 160.0, 205.0, 230.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    watch = progress._Stopwatch(40)
    lines = [watch.lap() for _ in range(5)]
    assert lines == [None, None, None, "measured: 35 s an epoch, at most 23 min for 40 epochs", None]


def test_a_short_fit_is_not_measured():
    watch = progress._Stopwatch(40)
    assert [watch.lap() for _ in range(5)] == [None] * 5
