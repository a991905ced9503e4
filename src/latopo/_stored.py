"""Reading the files of a saved model or run: they may be damaged, or a stranger's, so everything about them is checked.

The form that a JSON file must have is data: a type (or a union of types), ``{"this", "that"}`` for one of these texts,
``[form]`` for a list of such items, ``{"name": form}`` for an object with such fields; others may stand beside them.
``{str: form}`` is an object whose fields all are such, and ``(form, None)`` may be missing, or null.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from latopo._version import __version__
from latopo.errors import LatopoError

__all__ = ["check_form", "checksum", "read_json", "read_stored"]

_LARGEST_JSON = 2**28  # bytes; a million rows take a tenth of it


def read_stored(path: Path, largest: int = 2**29) -> bytes:
    """The content of a regular file of at most ``largest`` bytes; a pipe would hang, and a device never end."""
    try:
        if (size := path.stat().st_size) > largest or not path.is_file():
            raise LatopoError(f"{path} is not a regular file of at most {largest:,} bytes (it has {size:,})")
        return path.read_bytes()
    except LatopoError:
        raise
    except OSError as error:
        raise LatopoError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a zero byte, or half a character
        raise LatopoError(f"{str(path)!r} cannot be the name of a file: {error}") from error


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(read_stored(path)).hexdigest()


def read_json(path: Path, form: Any = object, *, version: int | None = None, remedy: str = "fit again") -> Any:
    """The content of a JSON file, if it has the form, and the field ``format`` is the ``version``, if that is given.

    Numbers are finite. The ``remedy`` ends the message of an error.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "anchors.json"
        >>> _ = path.write_text('["a", 5]')
        >>> read_json(path, [str | int])
        ['a', 5]
    """
    content = read_stored(path, _LARGEST_JSON)
    try:
        value = json.loads(content.decode("utf-8"), parse_float=_finite, parse_constant=_finite)
        if version is not None and isinstance(value, dict) and value.get("format", version) != version:
            raise LatopoError(
                f"{path} was written by latopo {value.get('latopo')} in format {value['format']}, but this latopo "
                f"{__version__} reads format {version}; install that version, or {remedy}"
            )
        check_form(value, form)
    except LatopoError:
        raise
    except (ValueError, RecursionError) as error:
        raise LatopoError(f"{path} is damaged ({error}); {remedy}") from error
    return value


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"expected finite numbers, got {text[:50]}")
    return number


def check_form(value: Any, form: Any, place: str = "") -> None:
    """Raise ValueError unless a value has the form.

    Example:
        >>> check_form({"mean": 0.5, "std": None}, {"mean": float, "std": (float, None)})
        >>> check_form({"mean": 0.5, "std": "x"}, {str: float})
        Traceback (most recent call last):
        ValueError: expected the type float at 'std', got x
    """
    if isinstance(form, tuple):
        if value is None:
            return
        form = form[0]
    if isinstance(form, set):
        fits, expected = isinstance(value, str) and value in form, f"one of {', '.join(sorted(form))}"
    else:
        kind: Any = list | tuple if isinstance(form, list) else dict if isinstance(form, dict) else form
        fits = isinstance(value, kind) and (kind in (bool, object) or not isinstance(value, bool))
        expected = {list | tuple: "a list", list: "a list", dict: "an object"}.get(
            kind, f"the type {getattr(kind, '__name__', kind)}"
        )
    if not fits:
        raise ValueError(f"expected {expected}{place}, got {str(value)[:50]}")
    if isinstance(form, list):
        for item in value:
            check_form(item, form[0], place or " in the list")
    if isinstance(form, dict):
        for name, part in form.items():
            for field in value if name is str else (name,):
                check_form(value.get(field), part, f" at {field!r}")
