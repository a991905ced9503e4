"""Arguments of public functions, checked in one place: numbers and choices by their annotations, tensors by their kind.

A wrong argument is answered before any work is done, by one :class:`~latopo.errors.LatopoError` that names it.
"""

import inspect
import math
import operator
from collections.abc import Callable
from functools import wraps
from numbers import Real
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

import torch
from torch import Tensor

from latopo.errors import LatopoError

__all__ = [
    "Alpha", "AtLeastOne", "Bounds", "Chance", "Count", "Positive", "Size", "all_finite", "check_dense",
    "check_tensor", "checked",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")


_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Tensor: "a tensor",
    type(None): "None",
}


class Bounds(NamedTuple):
    """Between which numbers an argument has to be; it is finite in any case."""

    least: int | None = None
    most: int | None = None
    above: float | None = None
    below: float | None = None

    def hold(self, value: Any) -> bool:
        """Whether a number is within them."""
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f"from {self.least} to {self.most:,}"
        words = {"of at least": self.least, "above": self.above, "below": self.below}
        return " and ".join(f"{word} {bound}" for word, bound in words.items() if bound is not None)


Size = Annotated[int, Bounds(1, 2**24)]  # of a layer: a mistyped one must not take all memory
Count = Annotated[int, Bounds(0, 1000)]  # of layers
AtLeastOne = Annotated[int, Bounds(1)]
Positive = Annotated[float, Bounds(above=0)]
Alpha = Annotated[float, Bounds(1)]  # of an entmax
Chance = Annotated[float, Bounds(0, below=1)]  # of dropping something


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse numbers, choices, tensors and objects that are not of the kind that a function's annotations name.

    ``int``: a whole number of 64 bits; ``float``: a number; ``Annotated`` with :class:`Bounds`: one within
    them; ``Tensor``: one that can be computed with, of any layout but nested; ``Literal``: one of these names;
    a class: one of its objects; and unions of these. Other annotations are not looked at, and while ``torch.compile``
    traces a function, nothing is.

    Example:
        >>> @checked
        ... def thin(x: Tensor, share: float = 0.5) -> None: ...
        >>> thin(torch.zeros(3), share="x")
        Traceback (most recent call last):
        latopo.errors.LatopoError: thin: share must be a number, got 'x'
    """
    parameters = inspect.signature(function).parameters
    kinds = {name: options for name, item in parameters.items() if (options := _options(item.annotation))}
    names = tuple(parameters)
    is_method = names[:1] == ("self",)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not torch.compiler.is_compiling():
            caller = type(args[0]).__name__ if is_method else function.__name__
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                if name in kinds:
                    _check(caller, name, value, kinds[name])
        return function(*args, **kwargs)

    return call


def _options(annotation: Any) -> tuple[Any, ...]:
    """What an argument may be; nothing if it is not looked at."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return options if all(map(_is_known, options)) else ()


def _is_known(option: Any) -> bool:
    if get_origin(option) in (Literal, Annotated):
        return True
    plain = isinstance(option, type) and get_origin(option) is None and option is not inspect.Parameter.empty
    return plain and not getattr(option, "_is_protocol", False)


def _words(option: Any) -> str:
    if get_origin(option) is Literal:
        *first, last = map(str, get_args(option))
        return f"{', '.join(first)} or {last}" if first else last
    if get_origin(option) is Annotated:
        return f"{'a whole' if option.__origin__ is int else 'a finite'} number {option.__metadata__[0]}"
    return _WORDS.get(option, f"a {option.__name__}")


def _check(caller: str, name: str, value: Any, options: tuple[Any, ...]) -> None:
    if any(_is(value, option) for option in options):
        if isinstance(value, Tensor):
            check_tensor(caller, name, value)
        return
    came = repr(value) if isinstance(value, str | int | float) else type(value).__name__
    remedy = "; use torch.as_tensor" if options[0] is Tensor and value is not None else ""
    raise LatopoError(f"{caller}: {name} must be {' or '.join(map(_words, options))}, got {came[:60]}{remedy}")


def _is(value: Any, option: Any) -> bool:
    if get_origin(option) is Literal:
        return isinstance(value, str | int) and value in get_args(option)
    if get_origin(option) is Annotated:
        return _is(value, option.__origin__) and option.__metadata__[0].hold(value)
    if option is int:
        return _is_whole(value)
    if option is float:
        return _is_number(value)
    return isinstance(value, option)


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool | Tensor):
        return False
    try:
        return -(2**63) <= operator.index(value) < 2**63
    except TypeError:
        return False


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def check_tensor(caller: str, name: str, value: Any) -> None:
    """Raise unless it is a tensor whose content can be read here and now.

    Example:
        >>> check_tensor("DCM", "x", [[1.0]])
        Traceback (most recent call last):
        latopo.errors.LatopoError: DCM: x must be a tensor, got list; use torch.as_tensor
    """
    if not isinstance(value, Tensor):
        raise LatopoError(f"{caller}: {name} must be a tensor, got {type(value).__name__}; use torch.as_tensor")
    if torch.compiler.is_compiling():
        return
    if value.device.type == "meta" or type(value).__name__ == "FakeTensor":
        raise LatopoError(f"{caller}: {name} is a meta or fake tensor, which has no content to compute with")
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise LatopoError(
            f"{caller}: {name} is inside a transform of torch.func, which cannot look into compiled kernels; use "
            "torch.autograd, and a loop instead of vmap"
        )
    if value.is_nested or value.is_quantized:
        raise LatopoError(f"{caller}: {name} must be an ordinary tensor, got a nested or quantized one")


def check_dense(caller: str, name: str, value: Any) -> None:
    """Raise unless it is an ordinary, dense tensor."""
    check_tensor(caller, name, value)
    if value.layout != torch.strided:
        raise LatopoError(f"{caller}: {name} must be dense, got {value.layout}; use {name}.to_dense()")


def all_finite(x: Tensor) -> bool:
    """Whether no entry is NaN or infinite.

    Example:
        >>> all_finite(torch.tensor([1e38, 3e38])), all_finite(torch.tensor([0.0, torch.nan]))
        (True, False)
    """
    x = x.detach()
    # A sum is thirty times as fast as a look at each entry, and finite only if all entries are; a large one may not be.
    return bool(x.sum().isfinite()) or bool(x.isfinite().all())
