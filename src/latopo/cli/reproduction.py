"""What ``latopo reproduce`` does once its options are read: train, verify, draw, write."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from rich.console import Console

from latopo.data.graph_loading import load_any
from latopo.errors import LatopoError
from latopo.reproduce import Record, Store, Unit, build_table, describe_cost, plan_units, train_units, write_table
from latopo.reproduce.experiments import experiment
from latopo.reproduce.figures import FIGURE_DATASETS, make_figure
from latopo.reproduce.goals import count_goals, goals_text
from latopo.reproduce.unit import PROTOCOLS, USUAL_PROTOCOLS
from latopo.reproduce.verify import judge
from latopo.reproduce.work import probe_seconds
from latopo.training.progress import TrainingProgress

__all__ = ["Choice", "Work", "draw_figures", "print_goals", "runs", "train_tables", "verify", "write_tables"]

# An epoch on a large graph takes seconds: what was not tried within this time counts as of unknown cost.
_PROBE_SECONDS = 30.0


@dataclass(frozen=True)
class Choice:
    """Which runs: arguments of :func:`latopo.reproduce.plan_units`."""

    datasets: list[str] | None
    models: list[str] | None
    values: list[int] | None
    folds: list[int]
    seeds: list[int] | None
    protocols: Any
    settings: dict[str, Any]


@dataclass(frozen=True)
class Work:
    """Where and how the runs are done."""

    out: Path
    jobs: int
    backend: Any
    cluster: str | None
    shard: tuple[int, int] | None
    data_root: Path | None
    device: str
    dry_run: bool

    @property
    def folder(self) -> Path:
        """The folder of the store that is written: that of the shard, if there is one."""
        return self.out if self.shard is None else self.out / "shard-{}-of-{}".format(*self.shard)

    @property
    def how(self) -> dict[str, Any]:
        """Arguments of :func:`latopo.reproduce.train_units`."""
        return {name: getattr(self, name) for name in ("jobs", "backend", "cluster", "data_root", "device")}


def runs(count: int) -> str:
    """A number of runs in words."""
    return "1 run" if count == 1 else f"{count} runs"


def train_tables(what: str, tables: list[str], chosen: Choice, work: Work) -> int:
    """Train what is missing and write the tables; returns how many runs failed."""
    units = plan_units(what, **vars(chosen))
    store = Store(work.folder)
    done = store if work.shard is None else Store(work.out)
    if work.shard is not None:
        units = units[work.shard[0] - 1 :: work.shard[1]]  # of all runs, whatever is done: parts never overlap
    todo = [unit for unit in units if unit.key not in store and unit.key not in done]
    for dataset in dict.fromkeys(unit.dataset for unit in todo):  # missing files are reported now
        load_any(dataset, work.data_root)
    if work.dry_run:
        _say_cost(len(units), todo, [*done.records(), *store.records()], work)
        return 0
    with store.writing():  # from here on, so that a second process is told before it has tried anything
        _say_cost(len(units), todo, [*done.records(), *store.records()], work)
        try:
            return _train(len(units), todo, store, work)
        except KeyboardInterrupt:
            store = Store(work.folder)  # read anew: the last record may have been interrupted on its way to memory
            left = sum(unit.key not in store for unit in todo)
            typer.echo(f"latopo: stopped; {runs(left)} left. Run the same command again to go on", err=True)
            raise SystemExit(130) from None
        finally:
            if work.shard is None:
                _write(tables, chosen, store)
            else:
                typer.echo(store.folder)


def _say_cost(total: int, todo: Sequence[Unit], records: Sequence[Record], work: Work) -> None:
    if len(todo) < total:
        typer.echo(f"{total - len(todo)} of {runs(total)} are already in {work.out}", err=True)
    stop = time.monotonic() + _PROBE_SECONDS

    def probe(unit: Unit) -> float | None:
        return probe_seconds(unit, work.data_root, work.device) if time.monotonic() < stop else None

    typer.echo(f"to do: {describe_cost(todo, records, probe, work.jobs)}", err=True)


def _train(total: int, todo: Sequence[Unit], store: Store, work: Work) -> int:
    def end(unit: Unit, outcome: Record | LatopoError) -> None:
        progress.finish(f"{unit}: {_words(outcome)}")

    if not todo:
        return 0
    with TrainingProgress(total, total - len(todo)) as progress:
        return len(train_units(todo, store, **work.how, on_start=partial(_start, progress), on_end=end))


def _start(progress: TrainingProgress, unit: Unit) -> Any:
    label = f"{unit.model} {unit.dataset} {unit.protocol} fold {unit.fold}"
    return progress.start(label, unit.run.planned_epochs)


def _words(outcome: Record | LatopoError) -> str:
    if isinstance(outcome, Exception):
        return f"failed: {outcome}"
    return f"test {outcome.test_score:.3f}, epoch {outcome.best_epoch}, {outcome.seconds:.1f} s"


def verify(count: int, what: str, chosen: Choice, work: Work) -> None:
    """Train some finished runs again, in a store that is thrown away, and say whether they are the same."""
    records = Store(work.out).records()
    stored = {record.key: record for record in records}
    known = [unit for unit in plan_units(what, **vars(chosen)) if unit.key in stored]
    if not known:
        raise LatopoError(f"--verify: {work.out} has no finished run of this choice; name another --out or table")
    drawn = random.Random(0).sample(known, min(count, len(known)))
    typer.echo(f"to do: {describe_cost(drawn, records, jobs=work.jobs)}", err=True)
    failing = []

    def end(unit: Unit, outcome: Record | LatopoError) -> None:
        holds, line = False, f"{unit}: {_words(outcome)}"
        if isinstance(outcome, Record):
            holds, line = judge(stored[unit.key], outcome, records)
        failing.extend([] if holds else [line])
        progress.finish(line)

    with TemporaryDirectory() as folder, TrainingProgress(len(drawn), console=Console()) as progress:
        train_units(drawn, Store(folder), **work.how, on_start=partial(_start, progress), on_end=end)
    typer.echo(f"{len(drawn) - len(failing)} of {runs(len(drawn))} hold")
    if failing:
        typer.echo("\n".join(["latopo: these do not hold:", *failing]), err=True)
        raise typer.Exit(1)


def print_goals(out: Path) -> None:
    """Count the cells that reach the print, and those where we lead, and print the counts with a table."""
    typer.echo(goals_text(count_goals(Store(out).records())))


def write_tables(tables: Sequence[str], chosen: Choice, work: Work) -> None:
    """Write tables from what is finished."""
    _write(tables, chosen, Store(work.out))


def _write(tables: Sequence[str], chosen: Choice, store: Store) -> None:
    """Write the tables with what was chosen and what the store has besides, and name the Markdown files."""
    records = store.records()
    units = [record.unit for record in records]
    protocols: Any = _also(chosen.protocols, [unit.protocol for unit in units], PROTOCOLS, USUAL_PROTOCOLS)
    for name in tables:
        table = experiment(name)
        seen = [unit.dataset for unit in units if unit.model in table.models and table.suits(unit.dataset)]
        datasets = _also(chosen.datasets, seen, table.known_datasets, table.datasets)
        models = _also(chosen.models, [unit.model for unit in units], table.models, table.models)
        if datasets and models:
            built = build_table(name, records, datasets, models, protocols, chosen.settings)
            typer.echo(write_table(built, store.folder / "tables")[0])


def _also(chosen: Sequence[str] | None, seen: Sequence[str], known: Sequence[str], default: Sequence[str]) -> list[str]:
    # A later command must not take columns and rows out of the files of an earlier one.
    return [name for name in known if name in (default if chosen is None else chosen) or name in seen]


def draw_figures(chosen: Choice, work: Work, strict: bool) -> None:
    """Draw Texas and Wisconsin, or what was chosen; without ``strict`` only what the paper draws."""
    datasets, models = chosen.datasets or list(FIGURE_DATASETS), chosen.models or ["dcm"]
    if not strict:
        datasets, models = [name for name in datasets if name in FIGURE_DATASETS], [n for n in models if n == "dcm"]
    epochs, folder = chosen.settings.get("epochs", 200), work.out / "figures"
    if work.dry_run:
        for dataset, model in product(datasets, models):
            typer.echo(f"to do: figure {dataset} {model}, {epochs} epochs, unless its run is in {folder}", err=True)
        return
    with TrainingProgress(len(datasets) * len(models)) as progress:
        for dataset, model in product(datasets, models):
            label = f"figure {dataset} {model}"
            paths = make_figure(
                folder, dataset, model, epochs=epochs, data_root=work.data_root, device=work.device,
                on_start=lambda fold, label=label: progress.start(label, epochs),  # type: ignore[misc]
            )  # fmt: skip
            progress.finish(label)
            typer.echo(paths[0])
