"""CSV files that are safe to open in a spreadsheet."""

import re
import unicodedata
from pathlib import Path
from typing import Any, Literal

import pandas as pd

__all__ = ["safe_cell", "write_csv"]

_FORMULA = ("=", "+", "-", "@", "|", "%")
_SEPARATOR = re.compile(r"([;,\t\r\n])")


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe in front of whatever a spreadsheet would run as a formula; numbers stay.

    A cell may be cut where it has a separator, so each part counts. Full-width signs are read like the plain ones, and
    signs that do not show are left out.

    Example:
        >>> safe_cell("=1+1"), safe_cell("a; =1+1"), safe_cell("-1.5"), safe_cell("\uff1d1")
        ("'=1+1", "a;' =1+1", '-1.5', "'＝1")
    """
    if not isinstance(value, str):
        return value
    shown = "".join(sign for sign in value if sign in "\t\r\n" or unicodedata.category(sign) not in _HIDDEN)
    if shown.startswith(("\t", "\r")):
        shown = "'" + shown
    return "".join(map(_safe_part, _SEPARATOR.split(shown)))


_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")  # control and format signs, what is no character


def _safe_part(part: str) -> str:
    if not unicodedata.normalize("NFKC", part).lstrip().startswith(_FORMULA):
        return part
    try:
        float(part)
    except ValueError:
        return "'" + part
    return part


def write_csv(path: Path, frame: pd.DataFrame, float_format: str | None = None, append: bool = False) -> None:
    """Write a UTF-8 CSV file, or go on with one; texts that look like formulas are defused (:func:`safe_cell`)."""
    safe = frame.map(safe_cell).set_axis(map(safe_cell, frame.columns), axis=1)
    mode: Literal["a", "w"] = "a" if append else "w"
    safe.to_csv(path, mode=mode, header=not append, index=False, float_format=float_format, lineterminator="\r\n")
