import torch

from latopo._compile import uncompiled


def test_outside_of_a_compiler_nothing_is_between(monkeypatch):
    monkeypatch.setattr(torch.compiler, "disable", lambda function: 1 / 0)
    assert uncompiled(divmod)(7, 2) == (3, 1)


def test_a_compiler_is_told_to_stay_outside(monkeypatch):
    seen = []
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    monkeypatch.setattr(torch.compiler, "disable", lambda function: seen.append(function) or function)
    assert uncompiled(divmod)(7, 2) == (3, 1)
    assert seen == [divmod]
