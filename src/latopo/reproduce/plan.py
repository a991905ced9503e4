"""Which runs a table needs, and what they will cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any

from latopo.data.catalogue import find_dataset
from latopo.errors import LatopoError
from latopo.reproduce.experiments import EXPERIMENTS, FOLDS, Experiment, choose, experiment, seeds_of
from latopo.reproduce.record import Record
from latopo.reproduce.unit import PROTOCOLS, USUAL_PROTOCOLS, Protocol, Unit

__all__ = ["describe_cost", "plan_units"]


def plan_units(
    table: str,
    datasets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    folds: Sequence[int] = FOLDS,
    seeds: Sequence[int] | None = None,
    protocols: Sequence[Protocol] = USUAL_PROTOCOLS,
    settings: Mapping[str, Any] | None = None,
    values: Sequence[int] | None = None,
) -> list[Unit]:
    """The runs of a table in the order they should be done: data set by data set, cell by cell, ``honest`` first.

    Args:
        table: a name of :data:`~latopo.reproduce.experiments.EXPERIMENTS`, or ``all`` for every table: runs that
            several tables share come once, and each table takes those of the chosen data sets and models that it has.
        datasets: columns, all of the table by default; a data set without a graph has only the rows without one.
        models: models, all of the table by default.
        folds: folds, 0 to 9 by default.
        seeds: seeds per fold; by default three for Texas and Wisconsin and one elsewhere.
        protocols: ``honest``, ``paper``, ``patient``, or some of them; the first two by default.
        settings: settings of every run, beside the table's own.
        values: values of the table's variable (``depth``: rounds, ``cycle-length``: the longest cycle), all by default.

    Example:
        >>> units = plan_units("depth", ["texas"], folds=[0], seeds=[0], protocols=["honest"])
        >>> [(unit.graph, unit.settings) for unit in units][:3]
        [(False, {'rounds': 0}), (False, {}), (False, {'rounds': 2})]
    """
    known = () if table == "all" else experiment(table).values
    if not set(values or ()) <= set(known):
        expected = ", ".join(map(str, known)) or "none"
        raise LatopoError(f"{table}: the values of this table's variable are {expected}, got {list(values or ())}")
    units: dict[object, Unit] = {}
    for item in EXPERIMENTS.values() if table == "all" else [experiment(table)]:
        rows = item.rows(_known(table, models, item, "models"))
        columns = item.columns(_known(table, datasets, item, "known_datasets"))
        for dataset, protocol, row in product(columns, choose(table, "protocol", PROTOCOLS, protocols), list(rows)):
            if protocol not in row.protocols or not item.has(row, dataset) or (values and row.value not in values):
                continue
            chosen = choose(table, "fold", FOLDS, folds), seeds_of(dataset) if seeds is None else seeds
            for fold, seed in product(*chosen):
                unit = item.unit(row, dataset, protocol, settings or {}, fold, seed)
                units.setdefault(unit.key, unit)
    return list(units.values())


def _known(table: str, chosen: Sequence[str] | None, item: Experiment, kind: str) -> Sequence[str] | None:
    """What a table among all of them knows of a choice; a name that no table knows stays, and is refused."""
    if chosen is None or table != "all":
        return chosen
    every = {name for other in EXPERIMENTS.values() for name in getattr(other, kind)}
    return [name for name in chosen if name in getattr(item, kind) or name not in every]


def describe_cost(
    units: Iterable[Unit],
    records: Iterable[Record],
    probe: Callable[[Unit], float | None] = lambda unit: None,
    jobs: int = 1,
) -> str:
    """What units will cost, in one line: the mean seconds per epoch of the most similar finished runs, added up.

    Args:
        units: what is to be done.
        records: what is done; runs on other data sets tell nothing.
        probe: seconds of a unit whose like has not been run, or None if unknown; asked once for each kind.
        jobs: number of workers that share the time.

    Example:
        >>> units = plan_units("table2", ["texas"], ["mlp"], folds=[0, 1], seeds=[0], protocols=["honest"])
        >>> done = Record(units[0], 0.8, num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
        >>> describe_cost(units[1:], [done]), describe_cost(units, [])
        ('1 run: about 2 s', '2 runs of unknown cost')
    """
    measured: dict[tuple[object, ...], list[float]] = {}
    for record in records:
        for likeness in _likenesses(record.unit):
            measured.setdefault(likeness, []).append(record.seconds / _epochs(record.unit))
    rates: dict[tuple[object, ...], float | None] = {like: fmean(seconds) for like, seconds in measured.items()}
    costs = []
    for unit in units:
        kind = next((like for like in _likenesses(unit) if like in rates), next(_likenesses(unit)))
        if kind not in rates:
            seconds = probe(unit)
            rates[kind] = None if seconds is None else seconds / _epochs(unit)
        rate = rates[kind]
        costs.append(None if rate is None else rate * _epochs(unit))
    return _in_words(costs, jobs)


def _likenesses(unit: Unit) -> Iterator[tuple[object, ...]]:
    """From nearly the same run to any run of that model on that data set."""
    yield unit.model, unit.dataset, unit.graph, unit.protocol, repr(sorted(unit.settings.items()))
    yield unit.model, unit.dataset, unit.graph, unit.protocol
    yield unit.model, unit.dataset


def _epochs(unit: Unit) -> float:
    named = unit.settings.get("epochs") or find_dataset(unit.dataset).epochs
    return float(min(max(named, 1), 10**9))


def _in_words(costs: Sequence[float | None], jobs: int) -> str:
    known = [cost for cost in costs if cost is not None]
    runs, time = "1 run" if len(costs) == 1 else f"{len(costs)} runs", _readable(sum(known) / jobs)
    if len(known) == len(costs):
        return f"{runs}: about {time}" if costs else "nothing left to run"
    if not known:
        return f"{runs} of unknown cost"
    return f"{runs}: about {time} for {len(known)} of them, {len(costs) - len(known)} of unknown cost"


def _readable(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
