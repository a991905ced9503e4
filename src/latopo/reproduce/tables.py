"""From records to tables: ours beside the paper's, under both protocols, with the tests. Pure functions, no files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import pandas as pd

from latopo.errors import LatopoError
from latopo.models import find_system
from latopo.reproduce.comparisons import Place, compare
from latopo.reproduce.experiments import FOLDS, Experiment, ResultRow, choose, default_settings, experiment, seeds_of
from latopo.reproduce.paper import ABLATION_DEFAULTS, contradictions, paper_number, remarks
from latopo.reproduce.published import published_notes
from latopo.reproduce.record import Record
from latopo.reproduce.statistics import summarize
from latopo.reproduce.unit import PROTOCOLS, USUAL_PROTOCOLS, Protocol, Unit
from latopo.training.graph_protocol import best_mean_epoch

__all__ = ["ResultTable", "build_table"]

_COLUMNS = (
    "table", "dataset", "graph", "model", "variable", "value", "protocol",
    "ours_mean", "ours_std", "folds", "expected_folds", "least_seeds", "most_seeds", "expected_seeds",
    "paper_mean", "paper_std", "paper_printed", "difference", "scores",
)  # fmt: skip
_CAPTION = (
    "Each number is the mean ± sample standard deviation (n − 1) over the authors' ten folds; seeds are averaged "
    "within a fold first. Protocol honest: the next chunk is the validation set, eight chunks train, and the test "
    "score at the epoch of the best validation score is reported. Protocol paper: nine chunks train and the best test "
    "score over the epochs is reported, as in the paper's released experiments; it is optimistic. Runs have the "
    "paper's 200 epochs, 100 on Physics and the heterophilic sets; every third and the last are evaluated. The weight "
    "decay is chosen per fold among 1e-4, 5e-4 and 5e-3 on that fold's validation chunk, after a third of the epochs; "
    "under paper, and on PubMed, CS and Physics, it is 5e-4. There networks that choose edges by entmax "
    "standardise a row of distances by a sample of 512 of them. Δ is ours minus the paper's printed number. Features: "
    "Planetoid (Cora, CiteSeer, PubMed) row-normalised, all others raw 0/1, the same for every model."
)
_PATIENT_CAPTION = (
    "Protocol patient: as honest, with up to 1,000 epochs, until fifty evaluations in a row bring nothing better; the "
    "weight decay is chosen after as many epochs as under honest."
)
_TEST_CAPTION = (
    "Tests: {ours} against each baseline, paired over common folds, two-sided Nadeau–Bengio corrected "
    "resampled t-test (variance (1/n + n_test/n_train)·s²), p-values adjusted by Holm's method for one model within a "
    "data set, graph setting and protocol, baselines not yet run included."
)
_NODE_TESTS = (
    " The MLP has no graph: its runs without one stand on both sides. DGM-E and DGM-M are trained without their "
    "reward, which costs them accuracy on the development sets."
)
_GRAPH_CAPTION = (
    "Each number is the mean ± sample standard deviation (n − 1) over ten stratified folds (StratifiedKFold(10, "
    "shuffle=True, random_state=0)); seeds are averaged within a fold first. Protocol honest: a ninth of the training "
    "part validates, and the test accuracy at the epoch of the best validation accuracy is reported. Protocol paper, "
    "as GIN and CWN report: nine tenths train, and the epoch with the best mean test accuracy over the folds is "
    "reported; it is optimistic. All systems have width 32, three layers, dropout 0.5, batches of 64 graphs and Adam "
    "with a learning rate that falls from 0.003 to 0 on half a cosine over 40 epochs, 20 on NCI1 and NCI109."
)


@dataclass(frozen=True)
class ResultTable:
    """A table, ready to be rendered. The frames have the columns of its CSV files; None stands for what is missing.

    Attributes:
        experiment: which table.
        datasets: columns.
        protocols: protocols shown.
        cells: one line per row, data set and protocol, in order: ours and the paper's, in the table's unit; ``scores``
            are ours by fold.
        tests: ours against the baselines; empty for tables without our models or without baselines.
        caption: how the numbers were made.
        notes: contradictions and slips of the paper, and what is to be known about single cells of ours.
    """

    experiment: Experiment
    datasets: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    cells: pd.DataFrame
    tests: pd.DataFrame
    caption: str
    notes: tuple[str, ...]


def build_table(
    name: str,
    records: Iterable[Record],
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    protocols: Sequence[Protocol] = USUAL_PROTOCOLS,
    settings: Mapping[str, Any] | None = None,
) -> ResultTable:
    """A table of the paper from our records and the paper's numbers; what is missing is missing, never an error.

    A cell shows runs of *one* recipe, the full settings that they were trained with. Of several, it shows the one that
    the named settings mean today; if there are more such, or none, the one with most runs (of equals the latest). A
    note says what was left out, and what is out of date.

    Args:
        name: table name.
        records: any records; those of other tables are ignored.
        datasets: columns, all by default.
        models: models, all by default.
        protocols: protocols to show.
        settings: those that :func:`~latopo.reproduce.plan.plan_units` was given: runs with others do not count. By
            default all count.

    Example:
        >>> table = build_table("cycle-length", [], datasets=["cora"], models=["dcm"], protocols=["honest"])
        >>> table.cells[["graph", "value", "paper_printed"]].values.tolist()[-1]
        ['with', 5, '85.54 ± 2.43']
    """
    item = experiment(name)
    columns, rows = item.columns(datasets), list(item.rows(models))
    protocols = choose(name, "protocol", PROTOCOLS, protocols)
    groups, notes = _choose(_grouped(item, columns, records, settings))
    groups = {place: _at_best_mean_epoch(group) for place, group in groups.items()}
    tests = compare(item, groups, columns, protocols, rows)
    if item.quantity == "homophily":
        rows.append(ResultRow("input", True))
    cells = pd.DataFrame(
        [
            _cell(item, place, groups.get(place, ()))
            for place in product(rows, columns, protocols) if place[2] in place[0].protocols
        ],
        columns=_COLUMNS, dtype=object,
    )  # fmt: skip
    ours = " and ".join(model for model in item.models if find_system(model).role == "ours")
    made, tested = (_GRAPH_CAPTION, _TEST_CAPTION) if item.of_graphs else (_CAPTION, _TEST_CAPTION + _NODE_TESTS)
    caption = [f"{item.title}.", made, item.caption, "" if tests.empty else tested.format(ours=ours)]
    caption += [_PATIENT_CAPTION if "patient" in protocols else "", _other_settings(item, groups)]
    published = published_notes(columns) if item.of_graphs else []
    all_notes = (*published, *_paper_notes(name, rows, columns), *notes, *_sampled_notes(groups))
    return ResultTable(item, columns, protocols, cells, tests, " ".join(filter(None, caption)), all_notes)


def _grouped(
    item: Experiment, columns: Sequence[str], records: Iterable[Record], settings: Mapping[str, Any] | None
) -> dict[Place, dict[str, list[Record]]]:
    """Place in the table → recipe → records."""

    @cache
    def wanted(place: Place) -> Unit:
        return item.unit(*place, settings or {}, fold=0, seed=0)

    places: dict[Place, dict[str, list[Record]]] = {}
    for record in records:
        unit = record.unit
        if unit.dataset not in columns or unit.model not in item.models:
            continue
        if record.metric != "accuracy":
            raise LatopoError(f"build_table: the record of {unit} has metric {record.metric!r}, expected accuracy")
        value = None if item.variable is None else unit.settings.get(item.variable, item.default)
        place = (ResultRow(unit.model, unit.graph, value), unit.dataset, unit.protocol)
        if _is_usual(item, unit) if settings is None else _is_same(record, wanted(place)):
            places.setdefault(place, {}).setdefault(record.resolved.hash, []).append(record)
    return places


def _is_usual(item: Experiment, unit: Unit) -> bool:
    """Whether a run belongs to no other table's ablation."""
    others = {name: default for name, default in ABLATION_DEFAULTS.items() if name != item.variable}
    return all(unit.settings.get(name, default) == default for name, default in others.items())


def _is_same(record: Record, unit: Unit) -> bool:
    return record.unit.settings == unit.settings or record.resolved.hash == _recipe(unit)


def _recipe(unit: Unit) -> str | None:
    """Hash of what a unit's settings come to today; None if the model does not have them any more."""
    try:
        return unit.resolved().hash
    except LatopoError:
        return None


def _words(place: Place) -> str:
    row, dataset, protocol = place
    named = row.model if row.value is None else f"{row.model} ({row.value})"
    return f"{dataset}, {row.given} graph, {named}, {protocol}"


def _choose(places: dict[Place, dict[str, list[Record]]]) -> tuple[dict[Place, list[Record]], list[str]]:
    chosen, notes = {}, []
    for place, groups in places.items():
        current = {recipe: recipe == _recipe(group[0].unit) for recipe, group in groups.items()}
        # Reversed, since max keeps the first of equals and the latest is wanted.
        best = max(reversed(groups), key=lambda recipe: (current[recipe], len(groups[recipe])))
        chosen[place] = groups[best]
        left_out = sum(map(len, groups.values())) - len(groups[best])
        if left_out:
            notes.append(f"{_words(place)}: {left_out} runs with other settings left out")
        if not current[best]:
            notes.append(f"{_words(place)}: trained with settings that have changed since; to be run again")
    return chosen, notes


def _at_best_mean_epoch(group: list[Record]) -> list[Record]:
    """The scores at the epoch that is best over all folds and seeds, for runs that leave the choice to the end."""
    if not all(record.curve for record in group):
        return group
    epoch = best_mean_epoch([record.curve for record in group])
    return [replace(record, test_score=record.curve[epoch], best_epoch=epoch + 1) for record in group]


def _other_settings(item: Experiment, groups: dict[Place, list[Record]]) -> str:
    """What runs have that the caption does not say and the rows do not vary."""
    named: set[str] = set()
    for (row, dataset, protocol), group in groups.items():
        usual = default_settings(row.model, dataset, protocol)
        for settings in (record.unit.settings for record in group):
            other = [name for name, value in settings.items() if name != item.variable and usual.get(name) != value]
            named.update(f"{name}={settings[name]}" for name in other)
    return f"Other settings here: {', '.join(sorted(named))}." if named else ""


def _sampled_notes(groups: dict[Place, list[Record]]) -> list[str]:
    """Where the polygons were chosen among a sample of the cycles, because there were too many."""
    counts = {place: sum(record.budget_sampled for record in group) for place, group in groups.items()}
    return [
        f"{_words(place)}: in {count} of {len(groups[place])} runs the graph had more induced cycles than are scored, "
        "so the polygons are chosen among a sample"
        for place, count in counts.items()
        if count
    ]


def _cell(item: Experiment, place: Place, records: Sequence[Record]) -> tuple[object, ...]:
    row, dataset, protocol = place
    ours = summarize(records, item.quantity, item.scale)
    number = paper_number(item.name, dataset, row.graph, row.model, row.value)
    scores, mean, std, seeds = ({}, None, None, (0, 0)) if ours is None else astuple(ours)
    paper = (None, None, None) if number is None else (number.mean, number.std, number.printed)
    difference = None if ours is None or number is None else ours.mean - number.mean
    return (
        item.name, dataset, row.given, row.model, item.variable, row.value, protocol,
        mean, std, len(scores), len(FOLDS), *seeds, len(seeds_of(dataset)), *paper, difference, scores,
    )  # fmt: skip


def _paper_notes(name: str, rows: Iterable[ResultRow], columns: Sequence[str]) -> list[str]:
    """The paper's contradictions about cells that are shown, then its other slips."""
    shown = {paper_number(name, dataset, row.graph, row.model, row.value) for row, dataset in product(rows, columns)}
    notes = []
    for numbers in contradictions():
        if shown & set(numbers):
            first, places = numbers[0], " and ".join(f"{number.printed} in {number.table}" for number in numbers)
            given = "with" if first.graph else "without"
            notes.append(f"† {first.dataset}, {given} graph, {first.model}: the paper prints {places}")
    return [*notes, *(f"The paper: {remark}" for remark in remarks(name))]
