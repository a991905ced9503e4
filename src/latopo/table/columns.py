"""What a column is: numbers, dates or categories, or nothing to learn from."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError

__all__ = ["MOSTLY", "Column", "Kind", "infer_column", "is_finite_number", "parse_dates", "parse_numbers"]

Kind = Literal["number", "date", "category"]
Cells = list[str | None]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_CATEGORIES = 50
MOSTLY = 0.9  # share of numbers from which a column counts as numeric with mistakes in it
_EXACT = 2**53  # integers beyond have no float64 of their own
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# A number as people write it: a currency or percent sign, separators of thousands, a decimal comma.
_NUMBER_LIKE = re.compile(
    r"[+-]?[$€£¥]?\s*[+-]?(\d{1,3}([., '’\u00a0\u202f]\d{3})+|\d+)?([.,]\d*)?([eE][+-]?\d+)?(?<=[\d.,])\s*[%$€£¥]?"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


@dataclass(frozen=True)
class Column:
    """How one column becomes features.

    Attributes:
        name: of the column.
        kind: numbers and dates (in days) give one feature, categories one for each value.
        fill: what stands for a missing number: the median of the training rows.
        values: the categories, most frequent first; None among them is "missing".
    """

    name: str
    kind: Kind
    fill: float = 0.0
    values: tuple[str | None, ...] = ()

    @property
    def feature_names(self) -> list[str]:
        """Names of the features that it gives."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={'(missing)' if value is None else value}" for value in self.values]


def infer_column(
    name: str, cells: Cells, categorical: bool = False, rows: IntArray | None = None
) -> tuple[Column | None, list[str]]:
    """The column's kind, None if there is nothing to learn from it, and notes on what was decided and why.

    All cells are checked and decide on the kind; the median and the categories are those of ``rows`` alone, by default
    of all: rows that are held out for a test must not be learned from.

    Raises:
        LatopoError: a number is infinite, or a numeric column has text in it.

    Example:
        >>> infer_column("size", ["1", "3", None, "8"])[0]
        Column(name='size', kind='number', fill=3.0, values=())
        >>> infer_column("same", ["x", "x"])
        (None, ["column 'same' is constant ('x'): left out"])
    """
    rows = np.arange(len(cells)) if rows is None else rows
    learned = Counter(cells[row] for row in rows)
    if set(learned) <= {None}:
        return None, [f"column {name!r} is empty: left out"]
    if len(learned) == 1:
        return None, [f"column {name!r} is constant ({next(iter(learned))!r}): left out"]
    counts = Counter(cell for cell in cells if cell is not None)
    if not categorical:
        _refuse_text_among_numbers(name, cells, counts)
        if all(map(_is_number, counts)):
            return _number_column(name, cells, rows)
        if all(map(_is_date, counts)):
            return _filled(name, "date", parse_dates(name, cells)[rows])
        return _text_column(name, cells, counts, learned)
    return _category_column(name, learned)


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None or _is_infinite(cell)


def is_finite_number(cell: str) -> bool:
    """Whether a cell is a number that float64 can hold."""
    return _NUMBER.fullmatch(cell) is not None and math.isfinite(float(cell))


def _is_infinite(cell: str) -> bool:
    return cell.lower().lstrip("+-") in ("inf", "infinity")


def _is_like_a_number(cell: str) -> bool:
    return _NUMBER_LIKE.fullmatch(cell) is not None


def _is_date(cell: str) -> bool:
    return _DATE.fullmatch(cell) is not None


def _refuse_text_among_numbers(name: str, cells: Cells, counts: Counter[str]) -> None:
    texts = [cell for cell in counts if not _is_number(cell)]
    numbers = sum(count for cell, count in counts.items() if _is_number(cell))
    if texts and len(counts) - len(texts) > 10 and numbers >= MOSTLY * counts.total():
        row = next(at for at, cell in enumerate(cells) if cell in texts)
        raise LatopoError(
            f"column {name!r} has {numbers} numbers and text, first {cells[row]!r} in row {row + 1}; correct it, or "
            f"use --drop {name!r} or --categorical {name!r}"
        )


def parse_numbers(name: str, cells: Cells) -> FloatArray:
    """Numbers as float64, NaN where a cell is missing.

    Raises:
        LatopoError: a cell is text, infinite, or beyond float64.
    """
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if not _is_number(cell):
            raise LatopoError(f"column {name!r} must hold numbers, but row {row + 1} has the text {cell!r}")
        values[row] = float(cell)
        if math.isinf(values[row]):
            why = "is infinite" if _is_infinite(cell) else "is too large for a number"
            raise LatopoError(
                f"column {name!r}: {cell[:40]} in row {row + 1} {why}; correct it, or leave the cell empty"
            )
    return values


def parse_dates(name: str, cells: Cells) -> FloatArray:
    """ISO dates as days since 1970-01-01, NaN where a cell is missing."""
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            moment = datetime.fromisoformat(cell)
        except ValueError as error:
            raise LatopoError(
                f"column {name!r} must hold dates such as 2024-01-31, but row {row + 1} has {cell!r}; correct it, or "
                "leave the cell empty"
            ) from error
        zone = moment.tzinfo or UTC
        values[row] = moment.replace(tzinfo=zone).timestamp() / 86400
    return values


def _number_column(name: str, cells: Cells, rows: IntArray) -> tuple[Column | None, list[str]]:
    values = parse_numbers(name, cells)
    if len(values) >= 20 and bool(np.all(np.diff(values) == 1)):
        return None, [f"column {name!r} only numbers the rows: left out"]
    column, notes = _filled(name, "number", values[rows])
    if any(cell is not None and cell.lstrip("+-").isdigit() and abs(float(cell)) > _EXACT for cell in cells):
        notes.append(f"column {name!r} has integers beyond 2^53, which lose digits; if it is an identifier, --drop it")
    return column, notes


def _filled(name: str, kind: Kind, values: FloatArray) -> tuple[Column, list[str]]:
    missing, fill = int(np.isnan(values).sum()), float(np.nanmedian(values))
    notes = [f"column {name!r} holds dates: taken as days"] if kind == "date" else []
    if missing:
        words = "value" if missing == 1 else "values"
        notes.append(f"column {name!r}: {missing} missing {words}, set to the median {fill:g}")
    return Column(name, kind, fill=fill), notes


def _text_column(
    name: str, cells: Cells, counts: Counter[str], learned: Counter[str | None]
) -> tuple[Column | None, list[str]]:
    too_many = len(counts) > min(MAX_CATEGORIES, max(len(cells) // 2, 2))
    column, notes = (None, []) if too_many else _category_column(name, learned)
    if (too_many or len(counts) > 10) and sum(map(_is_like_a_number, counts)) > len(counts) / 2:
        row = next(at for at, cell in enumerate(cells) if cell is not None and not _is_number(cell))
        notes.append(
            f"column {name!r} looks like numbers, but {cells[row]!r} in row {row + 1} is no plain number: "
            f"{'left out' if too_many else 'taken as categories'}; for numbers, write plain ones such as 1234.5, and "
            "leave cells without one empty"
        )
    elif too_many:
        notes.append(
            f"column {name!r} has {len(counts)} different texts in {len(cells)} rows, an identifier or free text: left "
            f"out (keep it with --categorical {name!r})"
        )
    return column, notes


def _category_column(name: str, learned: Counter[str | None]) -> tuple[Column, list[str]]:
    missing = learned[None]
    known = [(cell, count) for cell, count in learned.items() if cell is not None]
    values: list[str | None] = [cell for cell, _ in sorted(known, key=lambda item: (-item[1], item[0]))]
    if not missing:
        return Column(name, "category", values=tuple(values)), []
    notes = [f"column {name!r}: {missing} missing, taken as a category of their own"]
    return Column(name, "category", values=(*values, None)), notes
