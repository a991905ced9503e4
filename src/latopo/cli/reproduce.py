"""``latopo reproduce``: the paper's tables and figures, ours beside theirs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latopo.cli.train import DataRoot, Device, check_data_root, parse_numbers, parse_settings

if TYPE_CHECKING:
    from latopo.errors import LatopoError
    from latopo.reproduce import Record, Store, Unit

# An epoch on a large graph takes seconds: what was not tried within this time counts as of unknown cost.
_PROBE_SECONDS = 30.0
_FOLDS, _PROTOCOLS = "0-9", "honest,paper"


def reproduce(
    what: Annotated[
        str,
        typer.Argument(help="table1, table2, sampling, depth, cycle-length, homophily, figures or all."),
    ] = "all",
    datasets: Annotated[
        str | None, typer.Option(help="Data sets, such as texas,cora; by default those of the table.")
    ] = None,
    models: Annotated[str | None, typer.Option(help="Models, such as mlp,dcm; by default those of the table.")] = None,
    values: Annotated[
        str | None,
        typer.Option(help="Rounds for depth, or longest cycles for cycle-length, such as 0,1; all by default."),
    ] = None,
    splits: Annotated[str, typer.Option(help="Folds, such as 0-9, 3 or 0,2,5-7.")] = _FOLDS,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds per fold; by default 0-2 on Texas and Wisconsin and 0 elsewhere.")
    ] = None,
    protocols: Annotated[str, typer.Option(help="honest, paper or both.")] = _PROTOCOLS,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs; the paper's by default.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Another setting of every run, such as hidden_channels=64; may be repeated. Use another --out.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder with the store of finished runs and the tables.")] = Path("results"),
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Worker processes, each with one thread; the numbers do not depend on how many."),
    ] = 1,
    backend: Annotated[
        str, typer.Option(help="loky (this machine), dask or ray (a cluster, which has its own number of workers).")
    ] = "loky",
    cluster: Annotated[
        str | None, typer.Option(help="Address of the cluster, such as tcp://10.0.0.1:8786 for dask.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Train one part of the runs, such as 2/8, into a store of its own; then see `latopo merge`."),
    ] = None,
    data_root: DataRoot = None,
    device: Device = "auto",
    dry_run: Annotated[bool, typer.Option(help="Show what is left to do and what it costs, and stop.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Write the tables from the finished runs and train nothing.")
    ] = False,
    verify: Annotated[
        int | None,
        typer.Option(min=1, help="Train that many finished runs again, drawn at random, and compare; store nothing."),
    ] = None,
) -> None:
    """Train what the paper's tables and figures need and write them, with our numbers beside the paper's.

    Every finished run is kept: the same command picks up where it stopped, and tables share runs. Data sets outside
    the paper (`latopo datasets`) may be named too.

    The same seed gives the same numbers on the same kind of CPU with the same versions. On other machines single runs
    differ and means stay within the spread; the store keeps CPU and versions with every run.
    """
    from latopo.data import find_dataset
    from latopo.engine import check_backend
    from latopo.errors import LatopoError
    from latopo.reproduce import Store
    from latopo.reproduce.experiments import EXPERIMENTS, experiment

    check_data_root("reproduce", data_root)
    settings = parse_settings(setting or []) | ({} if epochs is None else {"epochs": epochs})
    chosen = _Choice(
        datasets=None if datasets is None else [find_dataset(name).name for name in _names(datasets, "--datasets")],
        models=None if models is None else _models(models),
        values=None if values is None else parse_numbers(values, "--values"),
        folds=parse_numbers(splits, "--splits", 9),
        seeds=None if seeds is None else parse_numbers(seeds, "--seeds"),
        protocols=_names(protocols, "--protocols"),
        settings=settings,
    )
    check_backend(backend, cluster)
    work = _Work(out, jobs, backend, cluster, _parse_shard(shard), data_root, device, dry_run)
    if what in ("figures", "all") and setting:
        raise LatopoError(f"--set: {what} includes figures, which have the paper's settings; name a table")
    if what == "figures":
        given = (values, splits != _FOLDS, seeds, protocols != _PROTOCOLS, shard)
        names = ("--values", "--splits", "--seeds", "--protocols", "--shard")
        if ignored := [name for name, value in zip(names, given, strict=True) if value]:
            raise LatopoError(f"{', '.join(ignored)}: figures show fold 0, seed 0, under honest; leave the option out")
    tables = [] if what == "figures" else list(EXPERIMENTS) if what == "all" else [what]
    for table in tables:
        if experiment(table).variable in settings:
            raise LatopoError(f"--set {experiment(table).variable}: the rows of {table} vary it; choose with --values")
    if tables_only:
        if not tables or not out.is_dir():
            wrong = "figures are not tables" if not tables else f"there is no folder {out} with finished runs"
            raise LatopoError(f"--tables-only: {wrong}; name a table and the --out folder of an earlier run")
        _write(tables, chosen, Store(out))
        return
    if verify is not None:
        _verify(verify, what, chosen, work)
        return
    failed = _tables(what, tables, chosen, work) if tables else 0
    if what in ("figures", "all") and work.shard is None:
        _figures(chosen, work, strict=what == "figures")
    if failed:
        typer.echo(f"latopo: {_runs(failed)} failed, see above; the tables show them as missing", err=True)
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Choice:
    """Which runs the options choose."""

    datasets: list[str] | None
    models: list[str] | None
    values: list[int] | None
    folds: list[int]
    seeds: list[int] | None
    protocols: Any
    settings: dict[str, Any]


@dataclass(frozen=True)
class _Work:
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


def _parse_shard(text: str | None) -> tuple[int, int] | None:
    from latopo.errors import LatopoError

    if text is None:
        return None
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise LatopoError(f"--shard {text}: expected a part and the number of parts, such as 1/8 to 8/8")
    return int(part), int(parts)


def _names(text: str, option: str) -> list[str]:
    from latopo.errors import LatopoError

    names = [name for name in text.replace(" ", "").split(",") if name]
    if not names:
        raise LatopoError(f"{option}: expected names, separated by commas, got {text!r}")
    return names


def _models(text: str) -> list[str]:
    from latopo.models import MODELS
    from latopo.reproduce.experiments import choose

    return list(choose("--models", "model", tuple(MODELS), _names(text, "--models")))


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _plan(what: str, chosen: _Choice) -> list["Unit"]:
    from latopo.reproduce import plan_units

    return plan_units(
        what, chosen.datasets, chosen.models, chosen.folds, chosen.seeds, chosen.protocols, chosen.settings,
        chosen.values,
    )  # fmt: skip


def _tables(what: str, tables: list[str], chosen: _Choice, work: _Work) -> int:
    """Train and write the tables; returns how many runs failed."""
    from latopo._device import find_device
    from latopo.data import load
    from latopo.reproduce import Store

    find_device(work.device)  # a wrong name is reported now, and so are missing files
    units = _plan(what, chosen)
    store = Store(work.folder)
    done = store if work.shard is None else Store(work.out)
    if work.shard is not None:
        units = units[work.shard[0] - 1 :: work.shard[1]]  # of all runs, whatever is done: parts never overlap
    todo = [unit for unit in units if unit.key not in store and unit.key not in done]
    for dataset in dict.fromkeys(unit.dataset for unit in todo):
        load(dataset, work.data_root)
    if work.dry_run:
        _say_cost(len(units), todo, [*done.records(), *store.records()], work)
        return 0
    with store.writing():  # from here on, so that a second process is told before it has tried anything
        _say_cost(len(units), todo, [*done.records(), *store.records()], work)
        try:
            return _train(len(units), todo, store, work)
        except KeyboardInterrupt:
            left = sum(unit.key not in store for unit in todo)
            typer.echo(f"latopo: stopped; {_runs(left)} left. Run the same command again to go on", err=True)
            raise typer.Exit(130) from None
        finally:
            if work.shard is None:
                _write(tables, chosen, store)
            else:
                typer.echo(store.folder)


def _say_cost(total: int, todo: Sequence["Unit"], records: Sequence["Record"], work: _Work) -> None:
    from latopo.reproduce import describe_cost
    from latopo.reproduce.work import probe_seconds

    if len(todo) < total:
        typer.echo(f"{total - len(todo)} of {_runs(total)} are already in {work.out}", err=True)
    stop = time.monotonic() + _PROBE_SECONDS

    def probe(unit: "Unit") -> float | None:
        return probe_seconds(unit, work.data_root, work.device) if time.monotonic() < stop else None

    typer.echo(f"to do: {describe_cost(todo, records, probe, work.jobs)}", err=True)


def _train(total: int, todo: Sequence["Unit"], store: "Store", work: _Work) -> int:
    from latopo.reproduce import train_units
    from latopo.training.progress import TrainingProgress

    def start(unit: "Unit") -> Any:
        label = f"{unit.model} {unit.dataset} {unit.protocol} fold {unit.fold}"
        return progress.start(label, unit.run.planned_epochs)

    def end(unit: "Unit", outcome: "Record | LatopoError") -> None:
        progress.finish(f"{unit}: {_words(outcome)}")

    if not todo:
        return 0
    with TrainingProgress(total, total - len(todo)) as progress:
        failed = train_units(
            todo, store, work.jobs, work.backend, work.cluster,
            data_root=work.data_root, device=work.device, on_start=start, on_end=end,
        )  # fmt: skip
    return len(failed)


def _verify(count: int, what: str, chosen: _Choice, work: _Work) -> None:
    """Train some finished runs again, in a store that is thrown away, and say whether they are the same."""
    import random
    from tempfile import TemporaryDirectory

    from latopo.errors import LatopoError
    from latopo.reproduce import Store, describe_cost, train_units
    from latopo.reproduce.verify import judge

    records = Store(work.out).records()
    stored = {record.key: record for record in records}
    known = [unit for unit in _plan(what, chosen) if unit.key in stored]
    if not known:
        raise LatopoError(f"--verify: {work.out} has no finished run of this choice; name another --out or table")
    drawn = random.sample(known, min(count, len(known)))
    typer.echo(f"to do: {describe_cost(drawn, records, jobs=work.jobs)}", err=True)
    wrong = []

    def end(unit: "Unit", outcome: "Record | LatopoError") -> None:
        verdict = None if isinstance(outcome, LatopoError) else judge(stored[unit.key], outcome, records)
        typer.echo(verdict or f"{unit}: failed: {outcome}")
        if verdict is None or not verdict.holds:
            wrong.append(unit)

    with TemporaryDirectory() as folder:
        train_units(
            drawn, Store(folder), work.jobs, work.backend, work.cluster,
            data_root=work.data_root, device=work.device, on_end=end,
        )  # fmt: skip
    typer.echo(f"{len(drawn) - len(wrong)} of {_runs(len(drawn))} hold")
    if wrong:
        raise typer.Exit(1)


def _words(outcome: "Record | LatopoError") -> str:
    if isinstance(outcome, Exception):
        return f"failed: {outcome}"
    return f"test {outcome.test_score:.3f}, epoch {outcome.best_epoch}, {outcome.seconds:.1f} s"


def _write(tables: Sequence[str], chosen: _Choice, store: "Store") -> None:
    """Write the tables with what was chosen and what the store has besides, and name the Markdown files."""
    from latopo.reproduce import build_table, write_table
    from latopo.reproduce.experiments import experiment
    from latopo.reproduce.unit import PROTOCOLS

    records = store.records()
    units = [record.unit for record in records]
    protocols: Any = _also(chosen.protocols, [unit.protocol for unit in units], PROTOCOLS, PROTOCOLS)
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


def _figures(chosen: _Choice, work: _Work, strict: bool) -> None:
    """Draw Texas and Wisconsin, or what was chosen; without ``strict`` only what the paper draws."""
    from latopo.reproduce.figures import FIGURE_DATASETS, make_figure
    from latopo.training.progress import TrainingProgress

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
