"""CSV files that are safe to open in a spreadsheet."""

from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["safe_cell", "write_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe in front if a spreadsheet would run it as a formula; numbers stay."""
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def write_csv(path: Path, frame: pd.DataFrame, float_format: str | None = None) -> None:
    """Write a UTF-8 CSV file; texts that look like formulas are defused (:func:`safe_cell`)."""
    safe = frame.map(safe_cell).set_axis(map(safe_cell, frame.columns), axis=1)
    safe.to_csv(path, index=False, float_format=float_format, lineterminator="\r\n")
