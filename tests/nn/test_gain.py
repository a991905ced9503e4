import math

import pytest
import torch

from latopo.errors import LatopoError
from latopo.nn import Gain


def test_starts_as_a_plain_gain_and_stays_positive():
    gain = Gain(50.0).double()
    gain().backward()
    assert gain().item() == 50.0
    assert gain.shift.grad.item() == 1.0
    with torch.no_grad():
        gain.shift.fill_(-500.0)
    assert gain().item() == pytest.approx(50 * math.exp(-10))


def test_relative_moves_in_proportion():
    gain = Gain(50.0, relative=True).double()
    with torch.no_grad():
        gain.shift.fill_(1.0)
    assert gain().item() == pytest.approx(50 * math.e)


@pytest.mark.parametrize(("change", "by", "after"), [("restart", 7.0, 7.0), ("nudge", 3.0, 15.0)])
def test_a_change_leaves_the_last_value_its_gradient(change, by, after):
    gain = Gain(5.0)
    value = gain()
    getattr(gain, change)(by)
    value.backward()
    assert gain.shift.grad.item() == 1.0
    assert gain().item() == pytest.approx(after)


def test_restart_reset_and_state():
    gain = Gain(5.0)
    with torch.no_grad():
        gain.shift.fill_(2.0)
    gain.restart(7.0)
    assert gain().item() == 7.0
    fresh = Gain(1.0)
    fresh.load_state_dict(gain.state_dict())
    assert fresh().item() == 7.0
    gain.reset_parameters()
    assert gain().item() == 5.0


def test_fixed_and_repr():
    assert not Gain(2.0, learnable=False)().requires_grad
    assert repr(Gain(2.0)) == "Gain(2, learnable=True)"


@pytest.mark.parametrize("start", [0.0, -1.0, float("inf"), float("nan")])
def test_bad_start(start):
    with pytest.raises(LatopoError, match="Gain: the gain must be a finite number > 0"):
        Gain(start)


def test_a_start_in_inference_mode_can_be_trained_with():
    gain = Gain(5.0)
    with torch.inference_mode():
        gain.restart(7.0)
        gain.nudge(2.0)
    gain().backward()
    assert gain().item() == 14.0
    gain.load_state_dict(Gain(3.0).state_dict())
    assert gain().item() == 3.0


@pytest.mark.parametrize("shift", [1e6, -1e6])
def test_no_step_leads_to_zero_or_infinity(shift):
    gain = Gain(5.0)
    with torch.no_grad():
        gain.shift.fill_(shift)
    assert 0 < gain().item() < math.inf


def test_a_factor_of_nothing_changes_nothing():
    gain = Gain(5.0)
    gain.nudge(0.0)
    assert gain().item() == 5.0
