"""torch.compile and what it cannot look into."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

__all__ = ["uncompiled"]

P = ParamSpec("P")
R = TypeVar("R")


def uncompiled(function: Callable[P, R]) -> Callable[P, R]:
    """Keep ``torch.compile`` out of a function with compiled kernels of our own; what is around it is compiled.

    ``torch.compiler.disable`` alone would do, but it loads the whole compiler with the package.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.compiler.is_compiling():
            outside: Callable[P, R] = torch.compiler.disable(function)
            return outside(*args, **kwargs)
        return function(*args, **kwargs)

    return call
