"""Work that torch's function modes need not watch."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

from latopo._compile import is_traced

__all__ = ["unwatched"]

P = ParamSpec("P")
R = TypeVar("R")


def unwatched(function: Callable[P, R]) -> Callable[P, R]:
    """Hide from torch's function modes what a function does.

    By such a mode a training gives its own random numbers to whatever draws some
    (:class:`~latopo.training.seeding.RandomStream`), at the price of microseconds for each of a thousand operations.
    This is for functions that draw nothing, call no code of the user's, and name a device wherever they make a tensor.

    Example:
        >>> from latopo.training.seeding import RandomStream
        >>> class Watched(RandomStream):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return super().__torch_function__(func, types, args, kwargs)
        >>> with Watched(0):
        ...     number = torch.ones(1).exp()
        ...     number = unwatched(torch.exp)(number)
        ones
        exp
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_traced():
            return function(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return function(*args, **kwargs)

    return call
