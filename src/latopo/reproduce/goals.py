"""Two questions of tables 1 and 2, answered by counting cells: are the printed figures reached, and do we lead?

A cell counts once all of its runs are there; until then it is missing, never met.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from latopo.models import SYSTEMS
from latopo.reproduce.experiments import DATASET_TITLES, EXPERIMENTS, needed_folds
from latopo.reproduce.paper import paper_number
from latopo.reproduce.record import Record
from latopo.reproduce.tables import build_table

__all__ = ["Goals", "LeadCell", "PrintCell", "count_goals", "goals_text"]

_TABLES = ("table1", "table2")
_BASELINES = ("mlp", "gcn")
_RELEASED, _DESCRIBED = "dcm-released", "dcm"
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class PrintCell:
    """A printed figure of ``dcm`` beside ours under ``paper``; ``ours`` is None while runs are missing."""

    dataset: str
    graph: bool
    printed: str
    least: float
    ours: float | None

    @property
    def met(self) -> bool:
        """Whether ours is within one printed standard deviation of the print, or above it."""
        return self.ours is not None and self.ours >= self.least


@dataclass(frozen=True)
class LeadCell:
    """A model of ours beside the better of MLP and GCN, honest; without a graph there is only the MLP.

    ``difference`` is in points over the common folds, None while runs are missing; ``p`` is corrected by Holm's method
    for the baselines of the cell.
    """

    dataset: str
    graph: bool
    baseline: str
    baseline_mean: float | None
    ours: float | None
    difference: float | None
    p: float | None

    @property
    def met(self) -> bool:
        """Whether ours is at or above it."""
        return self.difference is not None and self.difference >= 0

    @property
    def significantly_below(self) -> bool:
        """Whether ours is below by more than chance."""
        return self.difference is not None and self.difference < 0 and self.p is not None and self.p < _SIGNIFICANT


@dataclass(frozen=True)
class Goals:
    """The cells of both questions: of the model as released and as described, and of every model of ours."""

    printed: dict[str, list[PrintCell]]
    lead: dict[str, list[LeadCell]]

    @property
    def best(self) -> str:
        """The single model of ours that meets most cells; of equals that which is significantly below in fewest."""
        return max(self.lead, key=lambda model: _tally(self.lead[model]))


def count_goals(records: Iterable[Record]) -> Goals:
    """Both questions, from what is stored.

    Example:
        >>> goals = count_goals([])
        >>> released = goals.printed["dcm-released"]
        >>> len(released), sum(cell.met for cell in released), released[0].ours
        (18, 0, None)
    """
    records = list(records)
    ours = [name for name in EXPERIMENTS[_TABLES[0]].models if SYSTEMS[name].role == "ours"]
    printed: dict[str, list[PrintCell]] = {_RELEASED: [], _DESCRIBED: []}
    lead: dict[str, list[LeadCell]] = {name: [] for name in ours}
    for name in _TABLES:
        table = build_table(name, records, models=[*_BASELINES, *printed, *ours], settings={})
        cells = {(c.dataset, c.graph, c.model, c.protocol): c for c in table.cells.itertuples()}
        for model in printed:
            printed[model] += _print_cells(name, model, table.datasets, cells)
        for model in ours:
            lead[model] += _lead_cells(model, table.datasets, cells, table.tests)
    return Goals(printed, lead)


def _places(datasets: Iterable[str]) -> Iterator[tuple[str, bool]]:
    return ((dataset, graph) for graph in (False, True) for dataset in datasets)


def _given(graph: bool) -> str:
    return "with" if graph else "without"


def _is_complete(cell: Any) -> bool:
    """Whether all folds that the cell needs are there, with all their seeds."""
    return cell is not None and set(needed_folds(cell.dataset)) <= set(cell.scores) and _has_seeds(cell)


def _has_seeds(cell: Any) -> bool:
    return bool(cell.least_seeds >= cell.expected_seeds)


def _print_cells(table: str, model: str, datasets: Iterable[str], cells: dict[Any, Any]) -> Iterator[PrintCell]:
    for dataset, graph in _places(datasets):
        number = paper_number(table, dataset, graph, _DESCRIBED)
        assert number is not None
        cell: Any = cells.get((dataset, _given(graph), model, "paper"))
        ours = cell.ours_mean if _is_complete(cell) else None
        yield PrintCell(dataset, graph, number.printed, number.mean - (number.std or 0.0), ours)


def _lead_cells(model: str, datasets: Iterable[str], cells: dict[Any, Any], tests: pd.DataFrame) -> Iterator[LeadCell]:
    for dataset, graph in _places(datasets):
        places = {"mlp": "without", **({"gcn": "with"} if graph else {})}
        found: dict[str, Any] = {name: cells.get((dataset, given, name, "honest")) for name, given in places.items()}
        cell: Any = cells.get((dataset, _given(graph), model, "honest"))
        if not all(map(_is_complete, found.values())):
            yield LeadCell(dataset, graph, "", None, None, None, None)
            continue
        better = max(found, key=lambda name: found[name].ours_mean)
        mean = found[better].ours_mean
        if not _is_complete(cell):
            yield LeadCell(dataset, graph, better, mean, None, None, None)
            continue
        chosen = (tests.dataset == dataset) & (tests.graph == _given(graph)) & (tests.protocol == "honest")
        (test,) = tests[chosen & (tests.model == model) & (tests.baseline == better)].itertuples()
        yield LeadCell(dataset, graph, better, mean, cell.ours_mean, test.difference, test.p_holm)


def _tally(cells: list[LeadCell]) -> tuple[int, int, int]:
    missing = sum(cell.difference is None for cell in cells)
    return sum(cell.met for cell in cells), -sum(cell.significantly_below for cell in cells), -missing


def goals_text(goals: Goals) -> str:
    """The counts and a table of all cells, as Markdown.

    Example:
        >>> goals_text(count_goals([])).splitlines()[0][-47:]
        'deviation or above in 0 of 18 cells, 18 missing'
    """
    cells = zip(*goals.printed.values(), goals.lead[goals.best], strict=True)
    lines = [
        *(_print_line(model, cells) for model, cells in goals.printed.items()),
        *(_lead_line(model, cells, model == goals.best) for model, cells in goals.lead.items()),
        "",
        f"| data set | graph | printed | `{_RELEASED}` | reached | `{_DESCRIBED}` | reached | better of MLP, GCN | "
        f"`{goals.best}` | difference |",
        "|" + " --- |" * 10,
        *(_row(*three) for three in cells),
    ]
    return "\n".join(lines)


def _print_line(model: str, cells: list[PrintCell]) -> str:
    met, missing = sum(cell.met for cell in cells), sum(cell.ours is None for cell in cells)
    return (
        f"- Printed figures: `{model}` (`paper`) within one printed standard deviation or above in {met} of "
        f"{len(cells)} cells, {missing} missing"
    )


def _lead_line(model: str, cells: list[LeadCell], best: bool) -> str:
    met, significant, missing = _tally(cells)
    below = len(cells) - met + missing
    name = f"**`{model}`**" if best else f"`{model}`"
    return (
        f"- The lead: {name} (`honest`) at or above the better of MLP and GCN in {met} of {len(cells)} cells, below in "
        f"{below}, significantly in {-significant}, {-missing} missing"
    )


def _row(released: PrintCell, described: PrintCell, lead: LeadCell) -> str:
    reached = ["missing" if cell.ours is None else "yes" if cell.met else "no" for cell in (released, described)]
    chance = "" if lead.p is None else ", p < 0.001" if lead.p < 0.001 else f", p = {lead.p:.3f}"
    difference = "missing" if lead.difference is None else f"{lead.difference:+.1f}{chance}".replace("-", "−")
    baseline = "–" if lead.baseline_mean is None else f"{lead.baseline.upper()} {lead.baseline_mean:.1f}"
    numbers = ["–" if mean is None else f"{mean:.1f}" for mean in (released.ours, described.ours, lead.ours)]
    place = [DATASET_TITLES[lead.dataset], _given(lead.graph), released.printed]
    cells = [*place, numbers[0], reached[0], numbers[1], reached[1], baseline, numbers[2], difference]
    return f"| {' | '.join(cells)} |"
