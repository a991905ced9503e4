"""torch.compile, torch.export and what they cannot look into."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

from latopo.errors import LatopoError

__all__ = ["changes_size", "is_traced", "refuse_script", "uncompiled"]

P = ParamSpec("P")
R = TypeVar("R")


def is_traced() -> bool:
    """Whether operations are being recorded rather than computed with, so that only torch's own can be used."""
    return bool(torch.compiler.is_compiling() or torch.jit.is_tracing())  # type: ignore[no-untyped-call, attr-defined]


def uncompiled(function: Callable[P, R]) -> Callable[P, R]:
    """Keep ``torch.compile`` out of a function whose outcome has a size that depends on the data.

    What is around it is compiled. A program without Python (``torch.export``, ONNX, TorchScript) cannot call it: that
    is refused. ``torch.compiler.disable`` alone would keep the compiler out, but it loads all of it with the package.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.jit.is_tracing() or torch.compiler.is_exporting():  # type: ignore[attr-defined]
            _refuse_export()
        if torch.compiler.is_compiling():
            outside: Callable[P, R] = torch.compiler.disable(function)
            return outside(*args, **kwargs)
        if torch.get_default_device().type != "meta":
            return function(*args, **kwargs)
        with torch.device("cpu"):  # sizes that depend on the data need numbers, whatever the caller builds on
            return function(*args, **kwargs)

    return call


def _refuse_export() -> None:
    """Raise: what infers cells stays in Python."""
    raise LatopoError(
        "latopo: torch.export, ONNX and TorchScript cannot hold an inference of cells, whose number depends on the "
        "data; export the model with its complex fixed: model.dcm.topology = latopo.nn.FixedTopology(cells)"
    )


def refuse_script(module: object) -> None:
    """A module's ``__prepare_scriptable__``, which ``torch.jit.script`` calls first."""
    raise LatopoError(
        f"{type(module).__name__}: torch.jit.script cannot read it; fix the complex (latopo.nn.FixedTopology) and use "
        "torch.jit.trace or torch.export"
    )


def changes_size(tensor: Tensor | None, dim: int) -> None:
    """Tell ``torch.compile`` that this size will be another one in the next call, so that it compiles once, not twice.

    Nothing is loaded for it: without the compiler there is nobody to tell.
    """
    compiler = sys.modules.get("torch._dynamo")
    if compiler is not None and tensor is not None:
        compiler.maybe_mark_dynamic(tensor, dim)
