"""What the JSON files of a fitted run must hold, for all who read them."""

from pathlib import Path
from typing import Any

from latopo.errors import LatopoError

__all__ = ["CHECKED", "check_run_file"]

_FIELDS: dict[str, dict[str, Any]] = {
    "run.json": {"format": int, "target": str, "task": str, "id_column": str | None},
    "metrics.json": {"score": str, "training_rows": int, "held_out_rows": int, "held_out": dict | None},
    "points.json": {"target": list, "prediction": list},
}
_LISTS: dict[str, type] = {"anchors.json": object, "history.json": dict}

CHECKED = (*_FIELDS, *_LISTS)


def check_run_file(path: Path, content: Any) -> Any:
    """The content of one of the files :data:`CHECKED`, if it is of its form.

    Raises:
        LatopoError: it is not; the message names the file.

    Example:
        >>> check_run_file(Path("run/anchors.json"), 5)
        Traceback (most recent call last):
        latopo.errors.LatopoError: run/anchors.json is damaged (expected a list, got 5); fit again
    """
    if path.name in _LISTS:
        if not isinstance(content, list) or not all(isinstance(item, _LISTS[path.name]) for item in content):
            raise _damaged(path, "a list", content)
        return content
    if not isinstance(content, dict):
        raise _damaged(path, "an object", content)
    for name, kind in _FIELDS[path.name].items():
        if not isinstance(content.get(name), kind):
            raise _damaged(path, f"{name!r} of type {getattr(kind, '__name__', kind)}", content.get(name))
    return content


def _damaged(path: Path, expected: str, got: Any) -> LatopoError:
    return LatopoError(f"{path} is damaged (expected {expected}, got {str(got)[:50]}); fit again")
