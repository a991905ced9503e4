"""CSV files that are safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["safe_cell", "write_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe in front if a spreadsheet would run it as a formula; numbers stay.

    Example:
        >>> safe_cell("=1+1"), safe_cell("-3.5"), safe_cell("plain")
        ("'=1+1", '-3.5', 'plain')
    """
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a UTF-8 CSV file; text cells that look like formulas are defused (:func:`safe_cell`)."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([safe_cell(name) for name in header])
        writer.writerows([safe_cell(cell) for cell in row] for row in rows)
