"""The paper's own numbers, as printed, from ``paper_numbers.json``.

The file keeps every digit: ``80.00`` is not ``80``. Where the paper prints one quantity twice with two values, both are
kept: see :func:`contradictions`.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from latopo.errors import LatopoError

__all__ = [
    "ABLATION_DEFAULTS", "FigurePoint", "PaperNumber", "contradictions", "figure_points", "paper_number",
    "paper_numbers", "remarks",
]  # fmt: skip


@dataclass(frozen=True)
class PaperNumber:
    """One cell of one table of the paper.

    Attributes:
        table: ``table1``, ``table2``, ``sampling``, ``depth``, ``cycle-length`` or ``homophily``.
        dataset: name of the data set, in lower case.
        graph: whether the model was given the input graph.
        model: the model's name in this library; ``input`` is the given graph itself (table ``homophily``).
        value: number of rounds (``depth``) or longest cycle (``cycle-length``), else None.
        mean: per cent for accuracies, a share for homophily.
        std: the standard deviation (the paper does not say which), None where none is printed.
        printed: the digits as printed, for instance ``85.71 ± 7.87``.
    """

    table: str
    dataset: str
    graph: bool
    model: str
    value: int | None
    mean: float
    std: float | None
    printed: str


class FigurePoint(NamedTuple):
    """Caption of one panel of the paper's figures; epoch 0 is the input."""

    epoch: int
    polygon_percent: int
    homophily: float


# A Decimal keeps its trailing zeros.
_PAPER: dict[str, Any] = json.loads(
    (files("latopo.reproduce") / "paper_numbers.json").read_text(encoding="utf-8"), parse_float=Decimal
)
_TABLES = _PAPER["tables"]
ABLATION_DEFAULTS: dict[str, int] = {i["variable"]: i["default"] for i in _TABLES.values() if "variable" in i}
"""Setting that a table varies → its value in every other table."""


@cache
def paper_numbers(table: str | None = None) -> tuple[PaperNumber, ...]:
    """Every number of a table, row by row as printed; of all tables by default.

    Example:
        >>> len(paper_numbers("table2")), paper_numbers("table2")[0].printed
        (40, '77.78 ± 10.24')
    """
    if table is None:
        return tuple(number for name in _TABLES for number in paper_numbers(name))
    if table not in _TABLES:
        raise LatopoError(f"paper_numbers: there is no table {table!r}; expected one of {', '.join(_TABLES)}")
    numbers = []
    for row in _TABLES[table]["rows"]:
        for dataset, digits in zip(_TABLES[table]["datasets"], row["cells"], strict=True):
            mean, std = map(float, digits) if len(digits) > 1 else (float(digits[0]), None)
            place = (table, dataset, row["graph"], row["model"], row.get("value"))
            numbers.append(PaperNumber(*place, mean, std, " ± ".join(map(str, digits))))
    return tuple(numbers)


def paper_number(table: str, dataset: str, graph: bool, model: str, value: int | None = None) -> PaperNumber | None:
    """The paper's number for one cell, None where the paper has none (our own models, for instance)."""
    place = (dataset, graph, model, value)
    return next((n for n in paper_numbers(table) if (n.dataset, n.graph, n.model, n.value) == place), None)


@cache
def contradictions() -> tuple[tuple[PaperNumber, ...], ...]:
    """Accuracies that the paper prints in several tables with different digits; both are kept.

    Example:
        >>> for numbers in contradictions():
        ...     print(numbers[0].dataset, numbers[0].model, {number.table: number.printed for number in numbers})
        physics dcm-all {'table1': '96.22 ± 0.27', 'sampling': '96.2 ± 0.27'}
        cs dcm-all {'table1': '95.78 ± 0.49', 'sampling': '94.81 ± 0.49'}
    """
    places: dict[tuple[str, bool, str], dict[str, PaperNumber]] = {}
    for number in paper_numbers():
        # A cell of an ablation at its default value is the same quantity as in tables 1 and 2.
        if number.value == _TABLES[number.table].get("default") and number.table != "homophily":
            places.setdefault((number.dataset, number.graph, number.model), {}).setdefault(number.printed, number)
    return tuple(tuple(printed.values()) for printed in places.values() if len(printed) > 1)


def figure_points(dataset: str) -> tuple[FigurePoint, ...]:
    """Epoch, percentage of polygons and homophily from the captions of the paper's two figures of complexes."""
    figures = _PAPER["figures"]
    if dataset not in figures:
        raise LatopoError(f"figure_points: the paper draws {' and '.join(figures)}, not {dataset!r}")
    return tuple(FigurePoint(p["epoch"], p["polygon_percent"], float(p["homophily"])) for p in figures[dataset])


def remarks(table: str) -> tuple[str, ...]:
    """What a reader of the paper's table should know: its slips and inconsistencies."""
    return tuple(remark["text"] for remark in _PAPER["remarks"] if table in remark["tables"])
