"""The column to predict."""

from collections import Counter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.columns import MOSTLY, is_finite_number, parse_numbers
from latopo.table.reading import RawTable

__all__ = ["Target", "Task", "read_target"]

Task = Literal["classification", "regression"]

_FEW = 20  # different integers up to which a numeric target counts as classes


class Target(NamedTuple):
    """What is to be predicted.

    Attributes:
        task: classification or regression.
        values: one per row: classes as text, "" where there is none; or numbers, NaN where there is none.
        labelled: which rows have one.
        notes: what was decided.
    """

    task: Task
    values: NDArray[np.str_] | NDArray[np.float64]
    labelled: NDArray[np.bool_]
    notes: list[str]


def read_target(table: RawTable, name: str, task: str = "auto") -> Target:
    """The target column; ``task="auto"`` takes numbers with fractions, or more than 20 different ones, as regression.

    Raises:
        LatopoError: there is no such column, it is empty, has one class or a class of one row, or text among numbers.
    """
    if task not in ("auto", "classification", "regression"):
        raise LatopoError(f"--task must be auto, classification or regression, got {task!r}")
    if name not in table.names:
        raise LatopoError(
            f"there is no column {name!r} to predict; the table has {', '.join(map(repr, table.names[:10]))}"
        )
    cells = table.column(name)
    labelled = np.array([cell is not None for cell in cells])
    if not labelled.any():
        raise LatopoError(f"the target column {name!r} is empty")
    notes = []
    if not labelled.all():
        notes.append(
            f"{int((~labelled).sum())} rows have no target (nothing, NA, NaN, null, None or ?): they take part in "
            "the topology only"
        )
    if task == "auto":
        task = "regression" if _is_continuous(cells) else "classification"
        if task == "classification":
            _refuse_text_among_numbers(name, cells)
        notes.append(f"{name!r} is taken as a target for {task} (--task says otherwise)")
    if task == "regression":
        return Target("regression", _numbers(name, cells), labelled, notes)
    _check_classes(name, cells)
    return Target("classification", np.array([cell or "" for cell in cells]), labelled, notes)


def _is_continuous(cells: list[str | None]) -> bool:
    try:
        values = parse_numbers("", cells)
    except LatopoError:
        return False
    known = np.unique(values[~np.isnan(values)])
    return bool(len(known) > _FEW or (known % 1 != 0).any())


def _refuse_text_among_numbers(name: str, cells: list[str | None]) -> None:
    """Nearly all labels are numbers to regress: the others are mistakes rather than classes."""
    numbers: list[str | None] = [cell for cell in cells if cell is not None and is_finite_number(cell)]
    labels = sum(cell is not None for cell in cells)
    if len(set(numbers)) <= 10 or not MOSTLY * labels <= len(numbers) < labels or not _is_continuous(numbers):
        return
    row = next(at for at, cell in enumerate(cells) if cell is not None and not is_finite_number(cell))
    raise LatopoError(
        f"the target {name!r} has {len(numbers)} numbers, but row {row + 1} has {str(cells[row])[:40]!r}; correct it, "
        "leave the cell empty, or use --task classification to take every value as a class"
    )


def _numbers(name: str, cells: list[str | None]) -> NDArray[np.float64]:
    values = parse_numbers(name, cells)
    known = values[~np.isnan(values)]
    if known.min() == known.max():
        raise LatopoError(f"the target {name!r} is always {known[0]:g}; there is nothing to learn")
    return values


def _check_classes(name: str, cells: list[str | None]) -> None:
    counts = Counter(cell for cell in cells if cell is not None)
    if len(counts) == 1:
        raise LatopoError(f"the target {name!r} has one class only, {next(iter(counts))!r}; at least two are needed")
    lonely = [value for value, count in counts.items() if count == 1]
    if len(lonely) > len(counts) // 2 and len(counts) > _FEW:
        raise LatopoError(
            f"the target {name!r} has {len(counts)} classes, most of them of one row; is it an identifier? "
            "Name another --target, or use --task regression"
        )
    if lonely:
        raise LatopoError(
            f"the class {lonely[0]!r} of the target {name!r} has one row only; drop that row, or merge the class with "
            "another: one row cannot be both learned from and tested on"
        )
