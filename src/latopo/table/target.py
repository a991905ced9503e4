"""The column to predict."""

from collections import Counter
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.columns import Cells, as_texts, parse_cells, read_cells, read_numbers, refuse_mistakes

__all__ = ["Target", "read_target"]

_LONGEST = 500  # characters of a class
_FEW = 20  # different integers up to which a numeric target counts as classes


class Target(NamedTuple):
    """What is to be predicted."""

    task: Literal["classification", "regression"]
    values: NDArray[np.str_] | NDArray[np.float64]  # [rows], "" or NaN where there is none
    labelled: NDArray[np.bool_]  # [rows], whether there is one
    notes: list[str]  # what was decided


def read_target(column: pd.Series, task: str = "auto") -> Target:
    """The target; ``task="auto"`` takes numbers with fractions, or more than 20 different ones, as regression.

    Raises:
        LatopoError: it is empty, has one class or a class of one row, or text among numbers.
    """
    if task not in ("auto", "classification", "regression"):
        raise LatopoError(f"--task must be auto, classification or regression, got {task!r}")
    name, cells = f"the target {column.name!r}", read_cells(column)
    labelled = ~pd.isna(cells)
    if not labelled.any():
        raise LatopoError(f"{name} is empty")
    notes = []
    if not labelled.all():
        count = (~labelled).sum()
        notes.append(
            f"{count} rows have no target (empty, NA, NaN, null, None or ?): what they look like is learned from, too"
        )
    if task == "auto":
        task = _infer_task(name, cells)
        notes.append(f"{name} calls for {task} (--task overrides this)")
    if task == "classification":
        classes = as_texts(cells)
        _check_classes(name, Counter(classes[labelled]))
        return Target("classification", np.where(labelled, classes, "").astype(np.str_), labelled, notes)
    values = parse_cells(str(column.name), "number", cells)
    if np.nanmin(values) == np.nanmax(values):
        raise LatopoError(f"{name} is always {np.nanmin(values):g}; there is nothing to learn")
    return Target("regression", values, labelled, notes)


def _infer_task(name: str, cells: Cells) -> str:
    numbers = read_numbers(cells)
    stray, finite = np.isnan(numbers) & ~pd.isna(cells), np.unique(numbers[np.isfinite(numbers)])
    if len(finite) <= _FEW and not (finite % 1).any():
        return "classification"
    # Where nearly all are numbers to regress, the others are mistakes rather than classes.
    refuse_mistakes(name, cells, stray, "use --task classification to take every value as a class")
    return "classification" if stray.any() else "regression"


def _check_classes(name: str, counts: Counter[str]) -> None:
    longest = max(counts, key=len)
    if len(longest) > _LONGEST:  # NumPy would give every row as much room
        raise LatopoError(
            f"{name} has a class of {len(longest):,} characters ({longest[:40]!r} …), expected at most {_LONGEST}; "
            "is it free text? Name another --target"
        )
    if len(counts) == 1:
        raise LatopoError(f"{name} has only one class, {next(iter(counts))!r}; at least two are needed")
    lonely = [value for value, count in counts.items() if count == 1]
    if len(lonely) > len(counts) // 2 and len(counts) > _FEW:
        raise LatopoError(
            f"{name} has {len(counts)} classes, most of a single row; is it an identifier? Name another --target, or "
            "use --task regression"
        )
    if lonely:
        raise LatopoError(
            f"{name} has only one row of the class {lonely[0]!r}, which cannot be both learned from and tested on; "
            "drop that row, or merge the class with another"
        )
