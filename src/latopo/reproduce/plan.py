"""Which runs a table needs, which of them are done, and what the others will cost."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from latopo._version import __version__
from latopo.data.catalogue import find_dataset
from latopo.errors import LatopoError
from latopo.reproduce.experiments import (
    EXPERIMENTS,
    FOLDS,
    SettingsFor,
    check_protocols,
    experiment,
    no_settings,
    seeds_of,
)
from latopo.reproduce.record import PROTOCOLS, Protocol, Record, Unit
from latopo.reproduce.store import Store

__all__ = ["CostEstimate", "estimate_cost", "plan_units", "unfinished"]


def plan_units(
    table: str,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    folds: Sequence[int] = FOLDS,
    seeds: Sequence[int] | None = None,
    protocols: Sequence[Protocol] = PROTOCOLS,
    settings_for: SettingsFor = no_settings,
    version: str = __version__,
    values: Sequence[int] | None = None,
) -> list[Unit]:
    """The runs of a table in the order they should be done: data set by data set, cell by cell, ``honest`` first.

    Args:
        table: a name of :data:`~latopo.reproduce.experiments.EXPERIMENTS`, or ``all`` for every table: runs that
            several tables share come once, and a table without any of the chosen data sets or models is left out.
        datasets: columns, all of the table by default; a table without graph has only the rows without one.
        models: models, all of the table by default.
        folds: folds, 0 to 9 by default.
        seeds: seeds per fold; by default three for Texas and Wisconsin and one elsewhere.
        protocols: protocols in the order they are run.
        settings_for: settings of a run from (model, data set, graph, protocol).
        version: version that identifies the runs.
        values: values of the table's variable (``depth``: rounds, ``cycle-length``: the longest cycle), all by default.

    Example:
        >>> units = plan_units("depth", ["texas"], folds=[0], seeds=[0], protocols=["honest"])
        >>> [(unit.graph, unit.settings) for unit in units][:3]
        [(False, {'rounds': 0}), (False, {}), (False, {'rounds': 2})]
    """
    check_protocols("plan_units", protocols)
    for fold in folds:
        if fold not in FOLDS:
            raise LatopoError(f"plan_units: no fold {fold}; expected folds from {FOLDS[0]} to {FOLDS[-1]}")
    known = () if table == "all" else experiment(table).values
    if not set(values or ()) <= set(known):
        expected = ", ".join(map(str, known)) or "none"
        raise LatopoError(f"{table}: the values of this table's variable are {expected}, got {list(values or ())}")
    tables = list(EXPERIMENTS) if table == "all" else [table]
    units: dict[str, Unit] = {}
    for name in tables:
        wanted = _restricted(name, datasets, models) if table == "all" else (datasets, models)
        for unit in _units(name, *wanted, folds, seeds, protocols, settings_for, version, values):
            units.setdefault(unit.key, unit)
    return list(units.values())


def _restricted(
    name: str, datasets: Sequence[str] | None, models: Sequence[str] | None
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """The part of a choice that a table knows; a name that no table knows raises there."""
    known = experiment(name)
    every_dataset = {dataset for item in EXPERIMENTS.values() for dataset in item.datasets}
    every_model = {model for item in EXPERIMENTS.values() for model in item.models}
    return (
        None if datasets is None else [d for d in datasets if d in known.datasets or d not in every_dataset],
        None if models is None else [m for m in models if m in known.models or m not in every_model],
    )


def _units(
    name: str,
    datasets: Sequence[str] | None,
    models: Sequence[str] | None,
    folds: Sequence[int],
    seeds: Sequence[int] | None,
    protocols: Sequence[Protocol],
    settings_for: SettingsFor,
    version: str,
    values: Sequence[int] | None,
) -> Iterable[Unit]:
    table = experiment(name)
    rows = [row for row in table.rows(models) if values is None or row.value in values]
    for dataset, protocol, row in product(table.columns(datasets), protocols, rows):
        if row.graph and not find_dataset(dataset).has_graph:
            continue
        settings = table.settings(settings_for(row.model, dataset, row.graph, protocol), row)
        for fold, seed in product(folds, seeds_of(dataset) if seeds is None else seeds):
            yield Unit(row.model, dataset, row.graph, protocol, fold, seed, settings, version)


def unfinished(units: Iterable[Unit], store: Store) -> list[Unit]:
    """The units that are not in the store yet, in the same order."""
    return [unit for unit in units if unit.key not in store]


@dataclass(frozen=True)
class CostEstimate:
    """What units will cost, from the seconds of finished ones.

    Attributes:
        seconds: sum over the units whose like has been measured.
        num_known: how many those are.
        num_unknown: units nothing is known about.
    """

    seconds: float
    num_known: int
    num_unknown: int

    def text(self, jobs: int = 1) -> str:
        """One line for the user, the time divided among ``jobs`` workers.

        Example:
            >>> CostEstimate(5400.0, 10, 2).text(jobs=2)
            '12 runs: about 45 min for 10 of them, 2 of unknown cost'
        """
        total = self.num_known + self.num_unknown
        runs = "1 run" if total == 1 else f"{total} runs"
        time = _readable(self.seconds / max(1, jobs))
        if not total:
            return "nothing left to run"
        if not self.num_known:
            return f"{runs} of unknown cost"
        if not self.num_unknown:
            return f"{runs}: about {time}"
        return f"{runs}: about {time} for {self.num_known} of them, {self.num_unknown} of unknown cost"


def _readable(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _likenesses(unit: Unit) -> tuple[tuple[object, ...], ...]:
    """From nearly the same run to any run of that model on that data set."""
    return (
        (unit.model, unit.dataset, unit.graph, unit.protocol, repr(sorted(unit.settings.items()))),
        (unit.model, unit.dataset, unit.graph, unit.protocol),
        (unit.model, unit.dataset),
    )


def _epochs(unit: Unit) -> float:
    return float(unit.settings.get("epochs", find_dataset(unit.dataset).epochs))


def estimate_cost(
    units: Iterable[Unit], records: Iterable[Record], probe: Callable[[Unit], float | None] | None = None
) -> CostEstimate:
    """Add up the mean seconds of the most similar finished runs, per epoch; other data sets tell nothing.

    Args:
        units: what is to be done.
        records: what is done.
        probe: seconds of a unit like which nothing has been run, or None; asked once for each kind. Without it, such
            units count as unknown.

    Example:
        >>> units = plan_units("table2", ["texas"], ["mlp"], folds=[0, 1], seeds=[0], protocols=["honest"])
        >>> done = Record(units[0], 0.8, num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
        >>> estimate_cost(units[1:], [done]).text(), estimate_cost(units, []).text()
        ('1 run: about 2 s', '2 runs of unknown cost')
    """
    measured: dict[tuple[object, ...], list[float]] = {}
    for record in records:
        for likeness in _likenesses(record.unit):
            measured.setdefault(likeness, []).append(record.seconds / _epochs(record.unit))
    means: dict[tuple[object, ...], float | None] = {like: fmean(seconds) for like, seconds in measured.items()}
    costs = []
    for unit in units:
        kind = next((like for like in _likenesses(unit) if like in means), None)
        if kind is None:
            kind = _likenesses(unit)[0]
            probed = None if probe is None else probe(unit)
            means[kind] = None if probed is None else probed / _epochs(unit)
        rate = means[kind]
        costs.append(None if rate is None else rate * _epochs(unit))
    known = [cost for cost in costs if cost is not None]
    return CostEstimate(sum(known), len(known), len(costs) - len(known))
