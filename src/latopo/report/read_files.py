"""Reading JSON and CSV files, with errors that name the file."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from latopo.errors import LatopoError

__all__ = ["read_columns", "read_json"]


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    return _read(path, json.loads)


def read_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV file with a header: ``part`` as text, others as floats, None where empty."""
    return _read(path, _columns)


def _columns(text: str) -> dict[str, list[Any]]:
    header, *rows = csv.reader(text.splitlines())
    columns = zip(*rows, strict=True) if rows else ((),) * len(header)
    return {
        name: [cell if name == "part" else float(cell) if cell else None for cell in cells]
        for name, cells in zip(header, columns, strict=True)
    }


def _read(path: Path, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LatopoError(f"report: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LatopoError(f"report: {path} is damaged ({error}); run it again") from error
