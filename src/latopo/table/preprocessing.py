"""From the columns of a table to features, kept as JSON."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.columns import Column, infer_column, parse_dates, parse_numbers
from latopo.table.reading import RawTable

__all__ = ["Preprocessing"]

MAX_FEATURES = 20_000


class Preprocessing:
    """Columns in, features out: numbers and dates as they are (the estimator scales them), categories one-hot.

    Attributes:
        columns: what each used column is.
        notes: what was decided at :meth:`fit`, one line each.

    Example:
        >>> table = RawTable(["size", "colour"], [["1", "2", "4"], ["red", "blue", "red"]])
        >>> preprocessing = Preprocessing.fit(table)
        >>> preprocessing.feature_names, preprocessing.transform(table)[0].tolist()
        (['size', 'colour=red', 'colour=blue'], [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
    """

    def __init__(self, columns: list[Column], notes: list[str]) -> None:
        self.columns, self.notes = columns, notes

    @classmethod
    def fit(
        cls,
        table: RawTable,
        drop: Collection[str] = (),
        categorical: Collection[str] = (),
        rows: NDArray[np.int64] | None = None,
    ) -> "Preprocessing":
        """Decide on every column but those in ``drop``; medians and categories are those of ``rows``, by default all.

        Raises:
            LatopoError: a cell cannot be used, or no column is left, or too many features.
        """
        columns, notes = [], []
        for name, cells in zip(table.names, table.columns, strict=True):
            if name in drop:
                continue
            column, remarks = infer_column(name, cells, name in categorical, rows)
            notes += remarks
            if column is not None:
                columns.append(column)
        found = cls(columns, notes)
        width = len(found.feature_names)
        if width == 0:
            raise LatopoError(
                "no column is left to learn from: " + "; ".join(notes or ["the table has the target only"])
            )
        if width > MAX_FEATURES:
            raise LatopoError(f"the columns give {width:,} features, expected at most {MAX_FEATURES:,}; --drop some")
        return found

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return [name for column in self.columns for name in column.feature_names]

    def kinds(self) -> dict[str, int]:
        """How many columns there are of each kind."""
        return dict(Counter(column.kind for column in self.columns))

    def transform(self, table: RawTable) -> tuple[NDArray[np.float64], list[str]]:
        """Features [rows, features], and notes on unknown categories and missing values.

        Raises:
            LatopoError: a column is missing, or has text where it had numbers.
        """
        cells = dict(zip(table.names, table.columns, strict=True))
        absent = [column.name for column in self.columns if column.name not in cells]
        if absent:
            shown = ", ".join(map(repr, absent[:5])) + (" …" if len(absent) > 5 else "")
            raise LatopoError(f"the table lacks {len(absent)} of the {len(self.columns)} columns of the fit: {shown}")
        parts, notes = [], []
        for column in self.columns:
            features, remarks = _features(column, cells[column.name])
            parts.append(features)
            notes += remarks
        return np.column_stack(parts), notes

    def to_json(self) -> dict[str, Any]:
        """A dictionary for :func:`json.dumps`."""
        return {"columns": [asdict(column) for column in self.columns], "notes": self.notes}

    @classmethod
    def from_json(cls, stored: Any) -> "Preprocessing":
        """From what :meth:`to_json` gave.

        Raises:
            LatopoError: it is something else.
        """
        try:
            columns = [Column(**{**column, "values": tuple(column["values"])}) for column in stored["columns"]]
            if not columns or any(column.kind not in ("number", "date", "category") for column in columns):
                raise ValueError("unknown kind of column")
            return cls(columns, list(stored["notes"]))
        except (TypeError, KeyError, ValueError) as error:
            raise LatopoError(f"preprocessing.json is damaged ({error}); fit again") from error


def _features(column: Column, cells: list[str | None]) -> tuple[NDArray[np.float64], list[str]]:
    if column.kind == "category":
        return _one_hot(column, cells)
    values = (parse_dates if column.kind == "date" else parse_numbers)(column.name, cells)
    missing = np.isnan(values)
    notes = [f"column {column.name!r}: {missing.sum()} missing, set to {column.fill:g}"] if missing.any() else []
    return np.where(missing, column.fill, values)[:, None], notes


def _one_hot(column: Column, cells: list[str | None]) -> tuple[NDArray[np.float64], list[str]]:
    number = {value: at for at, value in enumerate(column.values)}
    codes = np.array([number.get(cell, -1) for cell in cells], np.int64)
    features = np.zeros((len(cells), len(column.values)))
    known = np.flatnonzero(codes >= 0)
    features[known, codes[known]] = 1.0
    unknown = sorted({str(cell) for cell in cells if cell not in number and cell is not None})
    notes = [f"column {column.name!r}: unknown category {unknown[0]!r}, taken as none of the known"] if unknown else []
    return features, notes
