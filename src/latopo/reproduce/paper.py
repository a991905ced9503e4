"""The paper's own numbers, as printed, from ``paper_numbers.json``.

The data file keeps every cell as its printed text (``"96.2 ± 0.27"``), so that nothing is rounded or corrected on the
way. Where the paper prints one quantity twice with two values, both are kept: see :func:`contradictions`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from latopo.errors import LatopoError
from latopo.reproduce.experiments import ABLATION_DEFAULTS

__all__ = [
    "Contradiction",
    "FigurePoint",
    "PaperNumber",
    "contradictions",
    "figure_points",
    "input_homophily",
    "paper_number",
    "paper_numbers",
    "paper_tables",
    "remarks",
]


@dataclass(frozen=True)
class PaperNumber:
    """One cell of one table of the paper.

    Attributes:
        table: ``table1``, ``table2``, ``sampling``, ``depth``, ``cycle-length`` or ``homophily``.
        dataset: name of the data set, in lower case.
        graph: whether the input graph was given to the model.
        model: the model's name in this library; ``input`` is the given graph itself (table ``homophily``).
        variable: ``rounds`` (depth), ``max_length`` (cycle-length), else None.
        value: the variable's value, else None.
        printed: the cell's text, for instance ``"85.71 ± 7.87"``.
    """

    table: str
    dataset: str
    graph: bool
    model: str
    variable: str | None
    value: int | None
    printed: str

    @property
    def mean(self) -> float:
        """The printed mean: per cent for accuracies, a share for homophily."""
        return float(self.printed.split(" ± ")[0])

    @property
    def std(self) -> float | None:
        """The printed standard deviation (its definition is not stated in the paper), None where none is printed."""
        _, sign, std = self.printed.partition(" ± ")
        return float(std) if sign else None


@dataclass(frozen=True)
class Contradiction:
    """One quantity that the paper prints more than once, with different text."""

    numbers: tuple[PaperNumber, ...]

    @property
    def rounding_only(self) -> bool:
        """Whether one text is just the other with fewer digits (96.2 and 96.22)."""
        means = [Decimal(number.printed.split(" ± ")[0]) for number in self.numbers]
        coarsest = min(means, key=lambda mean: len(str(mean)))
        return all(mean.quantize(coarsest) == coarsest for mean in means)

    def __str__(self) -> str:
        """The quantity, then each value with its table."""
        first = self.numbers[0]
        places = " and ".join(f"{number.printed} in {number.table}" for number in self.numbers)
        graph = "with graph" if first.graph else "without graph"
        return f"{first.dataset}, {graph}, {first.model}: the paper prints {places}"


@dataclass(frozen=True)
class FigurePoint:
    """Caption of one panel of the paper's figures; epoch 0 is the input."""

    epoch: int
    polygon_percent: int
    homophily: float


@cache
def _content() -> dict[str, Any]:
    text = (files("latopo.reproduce") / "paper_numbers.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _table(name: str) -> dict[str, Any]:
    tables = _content()["tables"]
    if name not in tables:
        raise LatopoError(f"paper_numbers: no table {name!r}; expected one of {', '.join(tables)}")
    table: dict[str, Any] = tables[name]
    return table


def _cells(name: str) -> Iterator[PaperNumber]:
    table = _table(name)
    variable = table.get("variable")
    for row in table["rows"]:
        for dataset, printed in zip(table["datasets"], row["cells"], strict=True):
            yield PaperNumber(name, dataset, row["graph"], row["model"], variable, row.get("value"), printed)


def paper_tables() -> tuple[str, ...]:
    """Names of the paper's tables.

    Example:
        >>> paper_tables()
        ('table1', 'table2', 'sampling', 'depth', 'cycle-length', 'homophily')
    """
    return tuple(_content()["tables"])


@cache
def paper_numbers(table: str | None = None) -> tuple[PaperNumber, ...]:
    """Every number of a table, row by row as printed; of all tables by default.

    Example:
        >>> len(paper_numbers("table2")), paper_numbers("table2")[0].printed
        (40, '77.78 ± 10.24')
    """
    names = paper_tables() if table is None else (table,)
    return tuple(cell for name in names for cell in _cells(name))


@cache
def _by_place() -> dict[tuple[str, str, bool, str, int | None], PaperNumber]:
    return {(n.table, n.dataset, n.graph, n.model, n.value): n for n in paper_numbers()}


def paper_number(table: str, dataset: str, graph: bool, model: str, value: int | None = None) -> PaperNumber | None:
    """The paper's number for one cell, None where the paper has none (our own models, for instance).

    Args:
        table: a name of :func:`paper_tables`.
        dataset: data set in lower case.
        graph: with (True) or without the input graph.
        model: model name of this library.
        value: number of rounds (``depth``) or longest cycle (``cycle-length``).

    Example:
        >>> number = paper_number("depth", "texas", False, "dcm", value=2)
        >>> number.mean, number.std
        (87.89, 10.24)
    """
    _table(table)
    return _by_place().get((table, dataset, graph, model, value))


@cache
def contradictions() -> tuple[Contradiction, ...]:
    """Accuracies that the paper prints in several tables with different text, both kept.

    Example:
        >>> for contradiction in contradictions():
        ...     print(contradiction, "(rounding)" if contradiction.rounding_only else "")
        physics, without graph, dcm-all: the paper prints 96.22 ± 0.27 in table1 and 96.2 ± 0.27 in sampling (rounding)
        cs, with graph, dcm-all: the paper prints 95.78 ± 0.49 in table1 and 94.81 ± 0.49 in sampling
    """
    places: dict[tuple[str, bool, str], list[PaperNumber]] = {}
    for number in paper_numbers():
        # A cell of an ablation at its default value is the same quantity as in tables 1 and 2.
        is_default = number.variable is None or number.value == ABLATION_DEFAULTS[number.variable]
        if is_default and number.table != "homophily":
            places.setdefault((number.dataset, number.graph, number.model), []).append(number)
    return tuple(
        Contradiction(tuple({number.printed: number for number in reversed(same)}.values())[::-1])
        for same in places.values()
        if len({number.printed for number in same}) > 1
    )


def input_homophily(dataset: str) -> float | None:
    """Homophily of the given graph as tables 1 and 2 print it, None for a data set that is not the paper's.

    Example:
        >>> input_homophily("wisconsin")
        0.21
    """
    for name in ("table1", "table2"):
        table = _table(name)
        if dataset in table["datasets"]:
            return float(table["input_homophily"][table["datasets"].index(dataset)])
    return None


def figure_points(dataset: str) -> tuple[FigurePoint, ...]:
    """Epoch, percentage of polygons and homophily from the captions of the paper's two figures of complexes.

    Example:
        >>> figure_points("texas")[-1]
        FigurePoint(epoch=180, polygon_percent=20, homophily=0.99)
    """
    figures = _content()["figures"]
    if dataset not in figures:
        raise LatopoError(f"figure_points: the paper draws {' and '.join(figures)}, not {dataset!r}")
    return tuple(FigurePoint(**point) for point in figures[dataset])


def remarks(table: str) -> tuple[str, ...]:
    """What a reader of the paper's table should know: slips and inconsistencies of other kinds than two values.

    Example:
        >>> remarks("sampling")
        ('Cora with graph: the value in bold (85.78) is not the largest of its block (85.97).',)
    """
    _table(table)
    return tuple(remark["text"] for remark in _content()["remarks"] if table in remark["tables"])
