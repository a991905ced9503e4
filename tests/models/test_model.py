import pytest
import torch

from latopo.models import Model
from latopo.models.settings import BaselineSettings


class Constant(Model):
    default = BaselineSettings()


def test_a_model_of_ones_own_says_what_it_must_define():
    with pytest.raises(NotImplementedError, match=r"Constant must define forward\(x, edge_index\)"):
        Constant(2, 3)(torch.ones(1, 2))


def test_defaults_and_changes():
    assert Constant(2, 3).settings == BaselineSettings()
    assert Constant(2, 3, hidden_channels=5).feature_channels == 5
    assert Constant(2, 3, BaselineSettings(dropout=0.1), hidden_channels=5).settings == BaselineSettings(5, 0.1)
