"""From records to tables: ours beside the paper's, under both protocols, with the tests. Pure functions, no files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from latopo.errors import LatopoError
from latopo.reproduce.experiments import (
    ABLATION_DEFAULTS,
    BASELINES,
    FOLDS,
    OURS,
    Experiment,
    Row,
    SettingsFor,
    check_protocols,
    default_settings,
    experiment,
    seeds_of,
)
from latopo.reproduce.paper import PaperNumber, contradictions, paper_number, remarks
from latopo.reproduce.record import PROTOCOLS, Protocol, Record
from latopo.reproduce.statistics import PairedTest, Summary, corrected_paired_t, fold_means, holm, summarize

__all__ = ["Cell", "Comparison", "Table", "build_table"]

_Place = tuple[str, str, bool, Protocol, int | None]

_CAPTION = (
    "Each number is the mean ± sample standard deviation (n − 1) over the authors' ten folds; seeds are averaged "
    "within a fold first. Protocol honest: the next chunk is the validation set, eight chunks train, and the test "
    "score at the epoch of the best validation score is reported. Protocol paper: nine chunks train and the best test "
    "score over the epochs is reported, as in the paper's released experiments; it is optimistic. Runs have the "
    "paper's 200 epochs, 100 on Physics and the heterophilic sets; every third and the last are evaluated. The weight "
    "decay is chosen per fold among 1e-4, 5e-4 and 5e-3 on that fold's validation chunk, after a third of the epochs; "
    "under paper, and on PubMed, CS and Physics, it is 5e-4. Δ is ours minus the paper's printed number. Features: "
    "Planetoid (Cora, CiteSeer, PubMed) row-normalised, all others raw 0/1, the same for every model."
)
_HOMOPHILY_CAPTION = (
    "Homophily is that of the latent graph at the reported epoch: edges between equal labels over edges."
)
_TOPK_CAPTION = "The top-k systems are trained with the reward of the DGM."
_TEST_CAPTION = (
    f"Tests: {' and '.join(OURS)} against each baseline, paired over common folds, two-sided Nadeau–Bengio corrected "
    "resampled t-test (variance (1/n + n_test/n_train)·s²), p-values adjusted by Holm's method for one model within a "
    "data set, graph setting and protocol, baselines not yet run included. The MLP has no graph: its runs without one "
    "stand on both sides. DGM-E and DGM-M are trained without their reward, which costs them accuracy on the "
    "development sets."
)


@dataclass(frozen=True)
class Cell:
    """One data set of one row.

    Attributes:
        ours: protocol → our summary in the table's unit, None where nothing has been run.
        paper: the paper's number, None where it has none.
        expected_folds: folds of a complete cell.
        expected_seeds: seeds per fold of a complete cell.
    """

    ours: dict[Protocol, Summary | None]
    paper: PaperNumber | None
    expected_folds: int
    expected_seeds: int

    def difference(self, protocol: Protocol) -> float | None:
        """Ours minus the paper's, None if either is missing."""
        ours = self.ours.get(protocol)
        return None if ours is None or self.paper is None else ours.mean - self.paper.mean


@dataclass(frozen=True)
class Comparison:
    """One of our models against one baseline in one column.

    Attributes:
        model, dataset, graph, protocol, baseline: what is compared; a baseline without graph stands in both settings.
        test: the test in the table's unit.
        p_adjusted: p after Holm's correction over the baselines of this model, data set, graph setting and protocol.
    """

    model: str
    dataset: str
    graph: bool
    protocol: Protocol
    baseline: str
    test: PairedTest
    p_adjusted: float | None


@dataclass(frozen=True)
class Table:
    """A table, ready to be rendered.

    Attributes:
        experiment: which table.
        datasets: columns.
        protocols: protocols shown.
        cells: row → data set → cell, rows in order.
        comparisons: the tests, empty for tables without our model or without baselines.
        caption: how the numbers were made.
        notes: contradictions and slips of the paper, and records that were left out.
    """

    experiment: Experiment
    datasets: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    cells: dict[Row, dict[str, Cell]]
    comparisons: tuple[Comparison, ...]
    caption: str
    notes: tuple[str, ...]


def build_table(
    name: str,
    records: Iterable[Record],
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    protocols: Sequence[Protocol] = PROTOCOLS,
    settings_for: SettingsFor | None = None,
) -> Table:
    """A table of the paper from our records and the paper's numbers; what is missing is missing, never an error.

    A cell shows runs of *one* group of equal settings and version. With ``settings_for`` only runs with those settings
    count. If several groups remain, the one with most runs is shown (of equals the latest), and a note says so.

    Args:
        name: table name.
        records: any records; those of other tables are ignored.
        datasets: columns, all by default.
        models: models, all by default.
        protocols: protocols to show.
        settings_for: the settings that :func:`~latopo.reproduce.plan.plan_units` was given.

    Example:
        >>> table = build_table("cycle-length", [], datasets=["cora"])
        >>> table.cells[Row("dcm", True, 5)]["cora"].paper.printed
        '85.54 ± 2.43'
    """
    check_protocols("build_table", protocols)
    table = experiment(name)
    columns = table.columns(datasets)
    groups, notes = _choose(_grouped(table, columns, records, settings_for))
    cells = {
        row: {dataset: _cell(table, groups, row, dataset, protocols) for dataset in columns}
        for row in table.rows(models)
    }
    if table.quantity == "homophily":
        cells[Row("input", True)] = {dataset: _input_cell(table, dataset) for dataset in columns}
    comparisons = _compare(table, groups, columns, protocols, models)
    caption = [f"{table.title}.", _CAPTION]
    caption += [_HOMOPHILY_CAPTION] if table.quantity == "homophily" else []
    caption += [_TOPK_CAPTION] if any(row.model.startswith("topk") for row in cells) else []
    caption += [_TEST_CAPTION] if comparisons else []
    caption += _other_settings(table, groups)
    notes += _sampled_notes(groups)
    paper_notes = _paper_notes(cells, name)
    return Table(table, columns, tuple(protocols), cells, comparisons, " ".join(caption), (*paper_notes, *notes))


def _grouped(
    table: Experiment, columns: Sequence[str], records: Iterable[Record], settings_for: SettingsFor | None
) -> dict[_Place, dict[str, list[Record]]]:
    """Place in the table → group of equal settings and version → records."""
    places: dict[_Place, dict[str, list[Record]]] = {}
    for record in records:
        unit = record.unit
        value = None if table.variable is None else unit.settings.get(table.variable, table.default)
        row = Row(unit.model, unit.graph, value)
        if unit.dataset not in columns or not _belongs(table, record, row, settings_for):
            continue
        place = (unit.model, unit.dataset, unit.graph, unit.protocol, value)
        group = repr((sorted(unit.settings.items()), unit.version))
        places.setdefault(place, {}).setdefault(group, []).append(record)
    return places


def _belongs(table: Experiment, record: Record, row: Row, settings_for: SettingsFor | None) -> bool:
    unit = record.unit
    if unit.model not in table.models:
        return False
    if record.metric != "accuracy":
        raise LatopoError(f"build_table: the record of {unit} has metric {record.metric!r}, expected accuracy")
    if settings_for is None:
        # Runs of other tables' ablations are not this table's runs.
        others = {name: default for name, default in ABLATION_DEFAULTS.items() if name != table.variable}
        return all(unit.settings.get(name, default) == default for name, default in others.items())
    return unit.settings == table.settings(settings_for(unit.model, unit.dataset, unit.graph, unit.protocol), row)


def _choose(places: dict[_Place, dict[str, list[Record]]]) -> tuple[dict[_Place, list[Record]], list[str]]:
    chosen: dict[_Place, list[Record]] = {}
    notes = []
    for place, groups in places.items():
        # Reversed, since max keeps the first of equals and the latest is wanted.
        chosen[place] = max(reversed(groups.values()), key=len)
        left_out = sum(map(len, groups.values())) - len(chosen[place])
        if left_out:
            model, dataset, graph, protocol, _ = place
            setting = "with graph" if graph else "without graph"
            notes.append(
                f"{dataset}, {setting}, {model}, {protocol}: {left_out} runs of other settings or versions left out"
            )
    return chosen, notes


def _other_settings(table: Experiment, groups: dict[_Place, list[Record]]) -> list[str]:
    """What runs have that the caption does not say and the rows do not vary."""
    named: set[str] = set()
    for (model, dataset, graph, protocol, _), group in groups.items():
        usual = default_settings(model, dataset, graph, protocol)
        for settings in (record.unit.settings for record in group):
            other = [name for name, value in settings.items() if name != table.variable and usual.get(name) != value]
            named.update(f"{name}={settings[name]}" for name in other)
    return [f"Other settings here: {', '.join(sorted(named))}."] if named else []


def _sampled_notes(groups: dict[_Place, list[Record]]) -> list[str]:
    """Where the polygons were chosen among a sample of the cycles, because there were too many."""
    notes = []
    for (model, dataset, graph, protocol, value), group in groups.items():
        sampled = sum(record.budget_sampled for record in group)
        if sampled:
            named = model if value is None else f"{model} ({value})"
            notes.append(
                f"{dataset}, {'with' if graph else 'without'} graph, {named}, {protocol}: in {sampled} of {len(group)} "
                "runs the graph had more induced cycles than are scored, so the polygons are chosen among a sample"
            )
    return notes


def _cell(
    table: Experiment, groups: dict[_Place, list[Record]], row: Row, dataset: str, protocols: Sequence[Protocol]
) -> Cell:
    ours = {
        protocol: summarize(
            groups.get((row.model, dataset, row.graph, protocol, row.value), ()), table.quantity, table.scale
        )
        for protocol in protocols
    }
    number = paper_number(table.name, dataset, row.graph, row.model, row.value)
    return Cell(ours, number, len(FOLDS), len(seeds_of(dataset)))


def _input_cell(table: Experiment, dataset: str) -> Cell:
    return Cell({}, paper_number(table.name, dataset, True, "input"), len(FOLDS), len(seeds_of(dataset)))


def _paper_notes(cells: dict[Row, dict[str, Cell]], name: str) -> list[str]:
    """The paper's contradictions about cells that are shown, then its other slips."""
    shown = {cell.paper for row in cells.values() for cell in row.values()}
    clashes = [f"† {clash}" for clash in contradictions() if shown & set(clash.numbers)]
    return [*clashes, *(f"The paper: {remark}" for remark in remarks(name))]


def _compare(
    table: Experiment,
    groups: dict[_Place, list[Record]],
    datasets: Sequence[str],
    protocols: Sequence[Protocol],
    models: Sequence[str] | None,
) -> tuple[Comparison, ...]:
    rows = list(table.rows(models))
    baselines = [baseline for baseline in BASELINES if any(row.model == baseline for row in rows)]
    if table.quantity != "test_score":
        return ()
    return tuple(
        comparison
        for model in OURS
        for dataset in datasets
        for graph in (row.graph for row in rows if row.model == model)
        for protocol in protocols
        for comparison in _family(table, groups, model, dataset, graph, protocol, baselines)
    )


def _family(
    table: Experiment,
    groups: dict[_Place, list[Record]],
    model: str,
    dataset: str,
    graph: bool,
    protocol: Protocol,
    baselines: Sequence[str],
) -> list[Comparison]:
    """A model of ours against every baseline in one column: the tests that Holm's correction counts together."""
    ours = groups.get((model, dataset, graph, protocol, None), [])
    names = [name for name in baselines if graph or name != "gcn"]
    tests = []
    for name in names:
        baseline = groups.get((name, dataset, graph and name != "mlp", protocol, None), [])
        tests.append(_paired(ours, baseline, table.scale))
    adjusted = holm([test.p_value for test in tests])
    return [
        Comparison(model, dataset, graph, protocol, name, test, p_adjusted)
        for name, test, p_adjusted in zip(names, tests, adjusted, strict=True)
    ]


def _paired(ours: Sequence[Record], baseline: Sequence[Record], scale: float) -> PairedTest:
    if not ours or not baseline:
        return PairedTest(None, None, None, 0)
    ratio = fmean(record.num_test for record in ours) / fmean(record.num_train for record in ours)
    scaled = [{fold: scale * mean for fold, mean in fold_means(side).items()} for side in (ours, baseline)]
    return corrected_paired_t(scaled[0], scaled[1], ratio)
