"""Settings: frozen dataclasses, one per part, nested as the parts are.

They are printed, saved, hashed and changed by one mechanism. A part within a part is a field whose type is another
settings class, an alternative of several, or None where it may be left out; an alternative is known by its ``kind``.
Names of fields are unique in a tree, so ``gain=20`` says enough, wherever the gain is.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from latopo.errors import LatopoError

__all__ = ["Settings", "changed", "checked_fields", "from_plain", "names_of", "to_plain"]

S = TypeVar("S", bound="Settings")

# What a field may promise of its number, by the name of its metadata.
_BOUNDS = {
    "at_least": (lambda value, bound: value >= bound, "of at least {}"),
    "above": (lambda value, bound: value > bound, "above {}"),
    "below": (lambda value, bound: value < bound, "below {}"),
    "at_most": (lambda value, bound: value <= bound, "of at most {}"),
}


@dataclass(frozen=True)
class Settings:
    """Base class; checks the types and bounds of its fields.

    Example:
        >>> from dataclasses import field
        >>> @dataclass(frozen=True)
        ... class Dropout(Settings):
        ...     dropout: float = field(default=0.5, metadata={"at_least": 0, "below": 1})
        >>> Dropout(dropout=1.0)
        Traceback (most recent call last):
        latopo.errors.LatopoError: dropout must be a number of at least 0 and below 1, got 1.0
    """

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse what has another type or lies out of bounds."""
        for name, value in checked_fields(self).items():
            object.__setattr__(self, name, value)

    def change(self, **changes: Any) -> Self:
        """A copy in which fields here or in the parts below have other values."""
        return changed(self, changes)


def checked_fields(owner: Any) -> dict[str, Any]:
    """The fields of a dataclass as their declared types; one that does not fit its type or its bounds is refused."""
    hints, values = get_type_hints(type(owner)), {}
    for item in fields(owner):
        declared = hints[item.name]
        value = values[item.name] = _as_declared(getattr(owner, item.name), declared)
        bounds = {name: item.metadata[name] for name in _BOUNDS if name in item.metadata}
        if not _fits(value, declared) or not _within(value, bounds):
            limits = " and ".join(_BOUNDS[name][1].format(bound) for name, bound in bounds.items())
            raise LatopoError(f"{item.name} must be {_words(declared, limits)}, got {value!r}")
    return values


def _as_declared(value: Any, declared: Any) -> Any:
    """NumPy's numbers as Python's, whole numbers as floats where floats are declared, lists as tuples."""
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    options = _options(declared)
    if type(value) is int and float in options and int not in options and abs(value) <= sys.float_info.max:
        return float(value)
    for option in options:
        if isinstance(value, list | tuple) and get_origin(option) is tuple:
            return tuple(_as_declared(item, get_args(option)[0]) for item in value)
    return value


def _options(declared: Any) -> tuple[Any, ...]:
    return get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)


def _kinds(declared: Any) -> list[type[Settings]]:
    return [option for option in _options(declared) if isinstance(option, type) and issubclass(option, Settings)]


def _fits(value: Any, declared: Any) -> bool:
    return any(_fits_one(value, option) for option in _options(declared))


def _fits_one(value: Any, option: Any) -> bool:
    if get_origin(option) is Literal:
        return isinstance(value, str) and value in get_args(option)
    if get_origin(option) is tuple:
        return isinstance(value, tuple) and all(_fits(item, get_args(option)[0]) for item in value)
    if option is float:
        return isinstance(value, float) and math.isfinite(value)
    return option is Any or type(value) is option


def _within(value: Any, bounds: dict[str, float]) -> bool:
    if isinstance(value, tuple):
        return all(_within(item, bounds) for item in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return not number or all(_BOUNDS[name][0](value, bound) for name, bound in bounds.items())


def _words(declared: Any, limits: str) -> str:
    names = {
        int: f"a whole number {limits}".rstrip(), float: f"a number {limits}".rstrip(), bool: "true or false",
        NoneType: "null", str: "a text",
    }  # fmt: skip
    words = []
    for option in _options(declared):
        if get_origin(option) is Literal:
            words += [str(name) for name in get_args(option)]
        elif get_origin(option) is tuple:
            words.append(f"a list, each item {_words(get_args(option)[0], limits)}")
        elif isinstance(option, type) and issubclass(option, Settings):
            words.append(option.kind or option.__name__)
        else:
            words.append(names[option])
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def names_of(settings: Settings) -> list[str]:
    """Names of all fields, here and in the parts below."""
    values = {item.name: getattr(settings, item.name) for item in fields(settings)}
    return [*values, *(name for part in values.values() if isinstance(part, Settings) for name in names_of(part))]


def changed(settings: S, changes: Mapping[str, Any]) -> S:
    """A copy in which the named fields have other values, wherever in the tree they are.

    A field that holds a part takes the ``kind`` of an alternative, true for the part with its defaults, null to leave
    it out, or settings. Fields of a part that the same changes bring in may be named too.

    Raises:
        LatopoError: a name that no part has, or a value that does not fit.
    """
    copy, left = _changed(settings, dict(changes))
    if left:
        known = ", ".join(sorted(set(names_of(copy))))
        raise LatopoError(f"{', '.join(left)}: there is no such setting here; expected some of {known}")
    return copy


def _changed(settings: S, changes: dict[str, Any]) -> tuple[S, dict[str, Any]]:
    """The changed copy, and the changes whose names were not found."""
    hints = get_type_hints(type(settings))
    here: dict[str, Any] = {}
    for item in fields(settings):
        if item.name in changes:
            here[item.name] = _part(changes.pop(item.name), hints[item.name])
    for item in fields(settings):
        value = here.get(item.name, getattr(settings, item.name))
        if isinstance(value, Settings):
            here[item.name], changes = _changed(value, changes)
    return replace(settings, **here), changes


def _part(value: Any, declared: Any) -> Any:
    """The part that a word stands for; any other value as it is."""
    for option in _kinds(declared):
        if value is True or (isinstance(value, str) and value == option.kind != ""):
            return option()
    return value


def to_plain(settings: Settings) -> dict[str, Any]:
    """Settings as JSON's types; a part has its ``kind`` beside its fields, if it has one.

    A field whose metadata say ``unsaid`` is left out at its default. One that is added later has to: what was saved,
    and the hash by which a run is known, stay as they are.
    """
    plain: dict[str, Any] = {"kind": settings.kind} if settings.kind else {}
    for item in fields(settings):
        value = getattr(settings, item.name)
        if item.metadata.get("unsaid") and value == item.default:
            continue
        plain[item.name] = to_plain(value) if isinstance(value, Settings) else value
    return plain


def from_plain(cls: type[S], plain: Any) -> S:
    """Settings from what :func:`to_plain` gave, checked.

    Raises:
        LatopoError: a field is missing, unknown or has a value that does not fit.
    """
    if not isinstance(plain, dict) or plain.get("kind", cls.kind) != cls.kind:
        raise LatopoError(f"{cls.__name__}: expected an object of settings, got {plain!r}")
    hints, named = get_type_hints(cls), {name: value for name, value in plain.items() if name != "kind"}
    expected = {item.name for item in fields(cls)}
    unsaid = {item.name for item in fields(cls) if item.metadata.get("unsaid")}
    if set(named) | unsaid != expected:
        raise LatopoError(f"{cls.__name__}: expected the settings {sorted(expected)}, got {sorted(named)}")
    return cls(**{name: _restored(value, hints[name]) for name, value in named.items()})


def _restored(value: Any, declared: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fitting = [option for option in _kinds(declared) if option.kind == value.get("kind", "")]
    return from_plain(fitting[0], value) if fitting else value
