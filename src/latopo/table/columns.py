"""What a column is (numbers, dates, categories, or nothing to learn from) and the features that it gives."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from latopo.errors import LatopoError

__all__ = ["Column", "as_texts", "infer_column", "parse_cells", "read_cells", "read_numbers", "refuse_mistakes"]

Cells = NDArray[np.object_]  # numbers, dates and texts; None where a cell is missing
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_TYPED = (Real, Decimal, date)
_MAX_CATEGORIES = 50
_MOSTLY = 0.9  # share of numbers from which texts among them are mistakes
_EXACT = 2**53  # integers beyond have no float64 of their own
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
# A number as people write it: a currency or percent sign, separators of thousands, a decimal comma.
_NUMBER_LIKE = re.compile(
    r"[+-]?[$€£¥]?\s*[+-]?(\d{1,3}([., '’\u00a0\u202f]\d{3})+|\d+)?([.,]\d*)?([eE][+-]?\d+)?(?<=[\d.,])\s*[%$€£¥]?"
)


@dataclass(frozen=True)
class Column:
    """How one column becomes features: numbers and dates (in days) give one, categories one for each value."""

    name: str
    kind: Literal["number", "date", "category"]
    fill: float = 0.0  # stands for a missing number or date: the median of the training rows
    values: tuple[str | None, ...] = ()  # the categories, most frequent first, then None if some were missing

    @property
    def feature_names(self) -> list[str]:
        """Names of the features that it gives."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={'(missing)' if value is None else value}" for value in self.values]

    def encode(self, cells: Cells, before: int = 0) -> tuple[FloatArray, list[str]]:
        """Features [rows, features], and notes on missing values and new categories; so many rows came before them."""
        if self.kind != "category":
            values = parse_cells(self.name, self.kind, cells, before)
            return np.where(np.isnan(values), self.fill, values)[:, None], self.missing(values)
        texts = as_texts(cells)
        new = sorted({*texts} - {None, *self.values})
        notes = [f"the category {new[0]!r} is unknown, taken as none"] if new else []
        return (texts[:, None] == np.array(self.values, object)).astype(np.float64), notes

    def missing(self, values: FloatArray) -> list[str]:
        """A note on the missing numbers or dates, if there are any."""
        count = int(np.isnan(values).sum())
        fill = np.datetime64(math.floor(self.fill), "D") if self.kind == "date" else f"{self.fill:g}"
        return [f"{count} missing, set to the median {fill}"] if count else []


def read_cells(values: Iterable[Any]) -> Cells:
    """The cells of a column of any type: numbers and dates as they are, the others as text without outer blanks."""
    return np.array([_cell(value) for value in values], object)


def _cell(value: Any) -> Any:
    if isinstance(value, _TYPED) and not isinstance(value, bool | np.bool_):
        return value if value == value else None  # NaN and NaT
    return None if value is None or value is pd.NA else str(value).strip() or None


def as_texts(cells: Cells) -> Cells:
    """The cells as names of rows, classes or categories; None stays."""
    texts = [cell.isoformat() if isinstance(cell, date) else None if cell is None else str(cell) for cell in cells]
    return np.array(texts, object)


def read_numbers(cells: Cells) -> FloatArray:
    """The numbers among the cells, infinite ones too; NaN elsewhere."""
    known = ~np.isnan(pd.to_numeric(cells, errors="coerce"))
    return np.where(known, cells, np.nan).astype(np.float64)  # rounds correctly, as to_numeric does from pandas 3 on


def _read_days(cell: Any) -> float:
    # Not pandas.to_datetime: before pandas 3 it ends in the year 2262, and 9999-12-31 is a common way to say "never".
    try:
        moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell))
    except ValueError:
        return math.nan
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() / 86400


def parse_cells(name: str, kind: Literal["number", "date"], cells: Cells, before: int = 0) -> FloatArray:
    """Numbers, or dates in days since 1970-01-01, [rows]; NaN where a cell is missing, an error if it is neither.

    So many rows of the file came before these.
    """
    values = read_numbers(cells) if kind == "number" else np.array([_read_days(cell) for cell in cells], np.float64)
    bad = ~(np.isfinite(values) | pd.isna(cells))
    if bad.any():
        expected = "a finite number" if kind == "number" else "a date such as 2024-01-31"
        raise LatopoError(
            f"column {name!r}, row {before + bad.argmax() + 1}: expected {expected}, got {str(cells[bad][0])[:40]!r}; "
            "correct it, or leave the cell empty"
        )
    return values


def refuse_mistakes(what: str, cells: Cells, stray: NDArray[np.bool_], remedy: str) -> None:
    """Raise if nearly all cells are numbers, more than ten different ones: the ``stray`` others are mistakes then."""
    numbers = cells[~(stray | pd.isna(cells))]
    if stray.any() and len(numbers) >= _MOSTLY * (len(numbers) + stray.sum()) and len(set(numbers)) > 10:
        raise LatopoError(
            f"{what} has {len(numbers)} numbers, but row {stray.argmax() + 1} has {str(cells[stray][0])[:40]!r}; "
            f"correct it, leave the cell empty, or {remedy}"
        )


def infer_column(
    name: str, cells: Cells, categorical: bool = False, rows: IntArray | None = None
) -> tuple[Column | None, list[str]]:
    """The column's kind, None if there is nothing to learn from it, and notes on what was decided and why.

    All cells decide on the kind, and one that does not fit it is an error. The median and the categories are those of
    ``rows`` alone, by default of all: rows that are held out for a test must not be learned from.

    Example:
        >>> infer_column("size", np.array(["1", "3", None, "8"], object))[0]
        Column(name='size', kind='number', fill=3.0, values=())
        >>> infer_column("same", np.array(["x", "x"], object))
        (None, ["constant ('x'), left out"])
    """
    rows = np.arange(len(cells)) if rows is None else rows
    texts = as_texts(cells)
    learned = Counter(texts[rows])
    if len(learned) == 1:
        only = next(iter(learned))
        return None, [("empty" if only is None else f"constant ({only!r})") + ", left out"]
    if categorical:
        return _category_column(name, learned)
    stray = np.isnan(read_numbers(cells)) & ~pd.isna(cells)
    if not stray.any():
        return _quantity_column(name, "number", cells, rows)
    refuse_mistakes(f"column {name!r}", cells, stray, f"use --drop {name!r} or --categorical {name!r}")
    if all(map(_DATE.fullmatch, set(texts) - {None})):
        return _quantity_column(name, "date", cells, rows)
    return _text_column(name, texts, stray, learned)


def _quantity_column(
    name: str, kind: Literal["number", "date"], cells: Cells, rows: IntArray
) -> tuple[Column | None, list[str]]:
    values = parse_cells(name, kind, cells)
    if kind == "number" and len(values) >= 20 and bool(np.all(np.diff(values) == 1)):
        return None, ["numbers of the rows, left out"]
    column = Column(name, kind, fill=float(np.nanmedian(values[rows])))
    notes = ["dates, taken as days"] if kind == "date" else []
    notes += column.missing(values[rows])
    if any(str(cell).lstrip("+-").isdigit() for cell in cells[np.abs(values) > _EXACT]):
        notes.append("integers beyond 2^53 lose digits; if these are identifiers, --drop the column")
    return column, notes


def _text_column(
    name: str, texts: Cells, stray: NDArray[np.bool_], learned: Counter[str | None]
) -> tuple[Column | None, list[str]]:
    different = set(texts) - {None}
    too_many = len(different) > min(_MAX_CATEGORIES, max(len(texts) // 2, 2))
    column, notes = (None, []) if too_many else _category_column(name, learned)
    looks_numeric = sum(_NUMBER_LIKE.fullmatch(text) is not None for text in different) > len(different) / 2
    if looks_numeric and (too_many or len(different) > 10):
        notes.append(
            f"looks numeric, but {texts[stray][0]!r} in row {stray.argmax() + 1} is not a plain number, "
            f"{'left out' if too_many else 'taken as categories'}; write numbers like 1234.5, and leave a cell empty "
            "where there is none"
        )
    elif too_many:
        words = f"{len(different)} different texts in {len(texts)} rows, an identifier or free text"
        notes.append(f"{words}, left out (keep it with --categorical {name!r})")
    return column, notes


def _category_column(name: str, learned: Counter[str | None]) -> tuple[Column, list[str]]:
    # Most frequent first; "missing" is the last.
    values = sorted(learned, key=lambda value: (value is None, -learned[value], value))
    notes = [f"{learned[None]} missing, taken as a category"] if None in learned else []
    return Column(name, "category", values=tuple(values)), notes
