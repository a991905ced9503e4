"""Reading the files of run folders, with errors that name the file."""

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.report.data import ROLES, FloatArray, History, IntArray

__all__ = ["FoldAnswer", "read_answer", "read_history", "read_json", "read_rows"]


class FoldAnswer(NamedTuple):
    """What a fold's model answered, [N] each; roles and classes as in :class:`~latopo.report.Points`."""

    roles: IntArray
    targets: NDArray[Any]
    predictions: NDArray[Any]
    confidence: FloatArray


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LatopoError(f"report: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LatopoError(f"report: {path} is damaged ({error}); run it again") from error


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise LatopoError(f"report: {path} cannot be read: {error.strerror}") from error


def read_history(path: Path) -> History:
    """A ``metrics.csv``: one column per measure, None for empty fields."""
    rows = read_rows(path)
    columns = [name for name in (rows[0] if rows else ()) if name != "fold"]
    try:
        return {name: [float(row[name]) if row[name] else None for row in rows] for name in columns}
    except (ValueError, TypeError) as error:
        raise LatopoError(f"report: {path} is damaged ({error}); run it again") from error


def read_answer(path: Path, is_quantity: bool) -> FoldAnswer:
    """A fold's ``predictions.csv``."""
    rows = read_rows(path)
    number: Any = np.float64 if is_quantity else np.int64
    try:
        return FoldAnswer(
            np.array([ROLES.index(row["part"]) if row["part"] else -1 for row in rows], np.int64),
            np.array([float(row["target"]) for row in rows]).astype(number),
            np.array([float(row["prediction"]) for row in rows]).astype(number),
            np.array([float(row["probability"] or "nan") for row in rows]),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise LatopoError(f"report: {path} is damaged ({error}); train this fold again") from error
