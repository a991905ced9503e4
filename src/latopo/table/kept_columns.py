"""The columns of a table as a run keeps them, if it is asked to: so that its rows mean something to a reader."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from latopo.errors import LatopoError
from latopo.table.columns import as_texts, read_cells, read_numbers

__all__ = ["KeptColumn", "check_size", "keep_columns"]

_LONGEST = 200  # characters of a text
_MOST_CELLS = 5_000_000


class KeptColumn(NamedTuple):
    """A column's name and values: numbers or texts, None where one is missing."""

    name: str
    values: list[str | float | None]


def check_size(frame: pd.DataFrame) -> None:
    """Raise if the table has too many cells to keep."""
    if frame.size > _MOST_CELLS:
        raise LatopoError(
            f"--keep-columns: {len(frame):,} rows of {frame.shape[1]:,} columns have {frame.size:,} cells, expected at "
            f"most {_MOST_CELLS:,}; leave columns out with --drop, or do not keep them"
        )


def keep_columns(frame: pd.DataFrame) -> list[KeptColumn]:
    """Every column of a table; one that holds nothing but numbers as numbers, any other as (shortened) texts.

    Example:
        >>> keep_columns(pd.DataFrame({"size": ["1", None], "colour": ["red", "blue"]}))
        [KeptColumn(name='size', values=[1.0, None]), KeptColumn(name='colour', values=['red', 'blue'])]
    """
    check_size(frame)
    return [KeptColumn(_short(str(name)), _values(frame[name])) for name in frame.columns]


def _values(column: Any) -> list[str | float | None]:
    cells = read_cells(column)
    numbers = read_numbers(cells)
    if (np.isnan(numbers) & ~pd.isna(cells)).any():
        return [None if text is None else _short(text) for text in as_texts(cells)]
    return [number if np.isfinite(number) else None for number in numbers.tolist()]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
