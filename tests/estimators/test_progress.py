import re

import pytest
import torch

from latopo.estimators.progress import epoch_progress, seconds_per_step, time_note
from latopo.models import build_model


def test_time_has_a_linear_and_a_quadratic_part(monkeypatch):
    monkeypatch.setattr("latopo.estimators.progress._SAMPLE", 50)
    clock = iter([0.0, 1.0, 0.0, 1.0, 0.0, 0.1])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    model = build_model("dcm-plus", 3, 2)
    assert seconds_per_step(model, torch.randn(50, 3)) == 1.0
    expected = 1.0 * 640 / 50 + 3 * 0.1 * 640 / 512
    assert seconds_per_step(model, torch.randn(640, 3)) == pytest.approx(expected)


def test_note_and_model_is_left_alone():
    model = build_model("dcm-plus", 3, 2)
    note = time_note(model, torch.randn(40, 3), 10)
    assert re.fullmatch(r"40 rows, 3 features: about \S+ s an epoch, about \d+ s for 10 epochs", note)
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
