import sys
from types import ModuleType

import pytest

from latopo.errors import LatopoError
from latopo.training.tensorboard import check_tensorboard, write_events


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("latopo.training.tensorboard.find_spec", lambda name: None)
    with pytest.raises(LatopoError, match="needs the package tensorboard; pip install tensorboard"):
        check_tensorboard()


def test_every_number_becomes_a_scalar(monkeypatch, tmp_path):
    written = []

    class Writer:
        def __init__(self, folder):
            assert folder == str(tmp_path)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            written.append("closed")

        def add_scalar(self, name, value, step):
            written.append((name, value, step))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    write_events(tmp_path, [{"epoch": 1, "loss": 0.5, "alpha": None}, {"epoch": 2, "loss": 0.25, "alpha": 1.5}])
    assert written == [("loss", 0.5, 1), ("loss", 0.25, 2), ("alpha", 1.5, 2), "closed"]
