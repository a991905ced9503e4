import pytest
import torch

from latopo._device import find_device
from latopo.errors import LatopoError


def test_auto_is_a_gpu_if_there_is_one(monkeypatch):
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert find_device("auto").type == expected
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto").type == "cpu"


def test_a_device_that_is_not_there_is_named():
    for name in ("toaster", "meta"):
        with pytest.raises(LatopoError, match=rf"device: expected 'auto', 'cpu' or another device.*got '{name}'"):
            find_device(name)
