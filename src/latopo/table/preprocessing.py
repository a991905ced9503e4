"""From the columns of a table to features, kept as JSON."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.columns import Column, infer_column, read_cells

__all__ = ["Preprocessing"]

_MAX_FEATURES = 20_000


def _named(names: Iterable[str], remarks: Iterable[list[str]]) -> list[str]:
    return [f"column {name!r}: {note}" for name, notes in zip(names, remarks, strict=True) for note in notes]


@dataclass(frozen=True)
class Preprocessing:
    """Columns in, features out: numbers and dates as they are (the estimator scales them), categories one-hot.

    Example:
        >>> frame = pd.DataFrame({"size": [1, 2, 4], "colour": ["red", "blue", "red"]})
        >>> preprocessing = Preprocessing.fit(frame)
        >>> preprocessing.feature_names, preprocessing.transform(frame)[0].tolist()
        (['size', 'colour=red', 'colour=blue'], [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
    """

    columns: list[Column]  # those that are used
    notes: list[str]  # what was decided at the fit, one line each

    @classmethod
    def fit(
        cls, frame: pd.DataFrame, categorical: Collection[str] = (), rows: NDArray[np.int64] | None = None
    ) -> "Preprocessing":
        """Decide on every column; medians and categories are those of ``rows``, by default all.

        Raises:
            LatopoError: a cell cannot be used, no column is left, or there are too many features.
        """
        columns = zip(frame.columns, frame.to_numpy(object).T, strict=True)  # at once: frame[name] is slow
        inferred = [infer_column(name, read_cells(cells), name in categorical, rows) for name, cells in columns]
        notes = _named(frame.columns, [remarks for _, remarks in inferred])
        found = cls([column for column, _ in inferred if column is not None], notes)
        width = len(found.feature_names)
        if width == 0:
            raise LatopoError(f"no column is left to learn from: {'; '.join(notes) or 'the table has no other column'}")
        if width > _MAX_FEATURES:
            raise LatopoError(f"the columns give {width:,} features, expected at most {_MAX_FEATURES:,}; --drop some")
        return found

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return [name for column in self.columns for name in column.feature_names]

    def transform(self, frame: pd.DataFrame, before: int = 0) -> tuple[NDArray[np.float64], list[str]]:
        """Features [rows, features], and notes on unknown categories and missing values.

        So many rows of the file came before these; errors name rows by their number in the file.

        Raises:
            LatopoError: a column is missing, or has text where it had numbers.
        """
        absent = [column.name for column in self.columns if column.name not in frame.columns]
        if absent:
            shown = ", ".join(map(repr, absent[:5])) + (" …" if len(absent) > 5 else "")
            raise LatopoError(f"the table lacks {len(absent)} of the {len(self.columns)} columns of the fit: {shown}")
        names = [column.name for column in self.columns]
        columns = zip(self.columns, frame[names].to_numpy(object).T, strict=True)
        parts, remarks = zip(*(column.encode(read_cells(cells), before) for column, cells in columns), strict=True)
        return np.column_stack(parts), _named(names, remarks)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Preprocessing":
        """From what ``dataclasses.asdict`` gave, and a file of that form."""
        parts = [(item["name"], item["kind"], item["fill"], tuple(item["values"])) for item in stored["columns"]]
        return cls([Column(*part) for part in parts], stored["notes"])
