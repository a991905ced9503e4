import sys

import pytest
import torch

from latopo._compile import changes_size, refuse_script, uncompiled
from latopo.errors import LatopoError


def test_outside_of_a_compiler_nothing_is_between(monkeypatch):
    monkeypatch.setattr(torch.compiler, "disable", lambda function: 1 / 0)
    assert uncompiled(divmod)(7, 2) == (3, 1)


def test_a_compiler_is_told_to_stay_outside(monkeypatch):
    seen = []
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    monkeypatch.setattr(torch.compiler, "disable", lambda function: seen.append(function) or function)
    assert uncompiled(divmod)(7, 2) == (3, 1)
    assert seen == [divmod]


@pytest.mark.parametrize("asked", ["torch.jit.is_tracing", "torch.compiler.is_exporting"])
def test_an_export_is_refused(monkeypatch, asked):
    monkeypatch.setattr(asked, lambda: True)
    with pytest.raises(LatopoError, match="cannot hold an inference of cells"):
        uncompiled(divmod)(7, 2)


def test_torchscript_is_refused_by_name():
    with pytest.raises(LatopoError, match=r"Linear: torch\.jit\.script cannot read it"):
        refuse_script(torch.nn.Linear(1, 1))


def test_without_a_compiler_nobody_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)
    tensor = torch.zeros(3)
    changes_size(tensor, 0)
    assert not hasattr(tensor, "_dynamo_weak_dynamic_indices")


def test_a_compiler_is_told_which_size_changes():
    import torch._dynamo

    tensor = torch.zeros(3, 2)
    changes_size(tensor, 1)
    changes_size(None, 1)
    assert tensor._dynamo_weak_dynamic_indices == {1}
