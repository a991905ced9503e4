"""``latopo reproduce``: the paper's tables and figures, ours beside theirs."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latopo.cli.train import DataRoot, Device, check_data_root, parse_numbers, parse_settings

if TYPE_CHECKING:
    from latopo.errors import LatopoError
    from latopo.reproduce import Record, Store, Unit
    from latopo.reproduce.experiments import SettingsFor
    from latopo.training.loop import OnEpoch
    from latopo.training.progress import TrainingProgress

# An epoch on a large graph takes seconds: what was not tried within this time counts as of unknown cost.
_PROBE_SECONDS = 30.0


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
        typer.Option(help="Rounds of depth, or longest cycles of cycle-length, such as 0,1; by default all."),
    ] = None,
    splits: Annotated[str, typer.Option(help="Folds, such as 0-9, 3 or 0,2,5-7.")] = "0-9",
    seeds: Annotated[
        str | None, typer.Option(help="Seeds per fold; by default 0-2 on Texas and Wisconsin and 0 elsewhere.")
    ] = None,
    protocols: Annotated[str, typer.Option(help="honest, paper or both.")] = "honest,paper",
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
        int, typer.Option(min=1, help="Worker processes, of one thread each: numbers must not depend on the machine.")
    ] = 1,
    data_root: DataRoot = None,
    device: Device = "auto",
    dry_run: Annotated[bool, typer.Option(help="Show what is left to do and what it costs, and stop.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Write the tables from the finished runs and train nothing.")
    ] = False,
) -> None:
    """Train what the paper's tables and figures need and write them, with our numbers beside the paper's.

    Every finished run is kept: the same command goes on where it stopped, and tables share runs. Data sets outside the
    paper (`latopo datasets`) may be named too.
    """
    from latopo.errors import LatopoError
    from latopo.reproduce import Store
    from latopo.reproduce.experiments import EXPERIMENTS, experiment

    check_data_root("reproduce", data_root)
    settings = parse_settings(setting or []) | ({} if epochs is None else {"epochs": epochs})
    chosen = _Choice(datasets, models, values, splits, seeds, protocols, settings)
    if what in ("figures", "all") and setting:
        raise LatopoError(f"--set: {what} includes figures, which have the paper's settings; name a table")
    if what == "figures":
        _refuse_for_figures(values, splits != "0-9" or None, seeds, protocols != "honest,paper" or None)
    tables = [] if what == "figures" else list(EXPERIMENTS) if what == "all" else [what]
    for table in tables:
        if experiment(table).variable in settings:
            raise LatopoError(f"--set {experiment(table).variable}: the rows of {table} vary it; choose with --values")
    if tables_only:
        if not tables or not out.is_dir():
            wrong = "figures are no tables" if not tables else f"there is no folder {out} with finished runs"
            raise LatopoError(f"--tables-only: {wrong}; name a table and the --out folder of an earlier run")
        for path in _write(tables, chosen, Store(out)):
            typer.echo(path)
        return
    failed = _tables(what, tables, chosen, out, jobs, data_root, device, dry_run) if tables else 0
    if what in ("figures", "all"):
        _figures(chosen, out, data_root, device, dry_run, strict=what == "figures")
    if failed:
        typer.echo(f"latopo: {_runs(failed)} failed, see above; the tables show them as missing", err=True)
        raise typer.Exit(1)


def _refuse_for_figures(*options: object) -> None:
    from latopo.errors import LatopoError

    names = ("--values", "--splits", "--seeds", "--protocols")
    if named := [name for name, value in zip(names, options, strict=True) if value is not None]:
        raise LatopoError(f"{', '.join(named)}: figures show fold 0, seed 0, under honest; leave the option out")


class _Choice:
    """What the options choose, checked."""

    def __init__(
        self,
        datasets: str | None,
        models: str | None,
        values: str | None,
        splits: str,
        seeds: str | None,
        protocols: str,
        settings: dict[str, Any],
    ) -> None:
        from latopo.data import find_dataset
        from latopo.errors import LatopoError
        from latopo.models import MODELS

        names = _names(datasets, "--datasets")
        self.datasets = None if names is None else [find_dataset(name).name for name in names]
        self.models = _names(models, "--models")
        for model in self.models or ():
            if model not in MODELS:
                raise LatopoError(f"--models: expected some of {', '.join(MODELS)}, got {model!r}")
        self.values = None if values is None else parse_numbers(values, "--values")
        self.folds = parse_numbers(splits, "--splits", 9)
        self.seeds = None if seeds is None else parse_numbers(seeds, "--seeds")
        self.protocols: Any = _names(protocols, "--protocols")
        self.settings = settings

    @property
    def settings_for(self) -> "SettingsFor":
        """Settings of every run: the defaults, and those that were given."""
        from latopo.data import find_dataset
        from latopo.reproduce.experiments import default_settings

        def settings_of(model: str, dataset: str, graph: bool, protocol: Any) -> dict[str, Any]:
            settings = {**default_settings(model, dataset, graph, protocol), **self.settings}
            if settings.get("epochs") == find_dataset(dataset).epochs:
                del settings["epochs"]  # the default, named: not another run
            return settings

        return settings_of


def _names(text: str | None, option: str) -> list[str] | None:
    from latopo.errors import LatopoError

    if text is None:
        return None
    names = [name for name in text.replace(" ", "").split(",") if name]
    if not names:
        raise LatopoError(f"{option}: expected names, separated by commas, got {text!r}")
    return names


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _tables(
    what: str,
    tables: list[str],
    chosen: _Choice,
    out: Path,
    jobs: int,
    data_root: Path | None,
    device: str,
    dry_run: bool,
) -> int:
    """Train and write the tables; returns how many runs failed."""
    from latopo._device import find_device
    from latopo.data import load
    from latopo.reproduce import Store, plan_units, unfinished

    find_device(device)  # a wrong name is said now, as missing files are
    units = plan_units(
        what, chosen.datasets, chosen.models, chosen.folds, chosen.seeds, chosen.protocols, chosen.settings_for,
        values=chosen.values,
    )  # fmt: skip
    store = Store(out)
    todo = unfinished(units, store)
    for dataset in dict.fromkeys(unit.dataset for unit in todo):
        load(dataset, data_root)  # missing files are said now, not in the middle of the night
    _say_cost(units, todo, store, jobs, data_root, device)
    if dry_run:
        return 0
    failed = 0
    try:
        if todo:
            failed = _train(units, todo, store, jobs, data_root, device)
    except KeyboardInterrupt:
        left = len(unfinished(units, store))
        typer.echo(f"latopo: stopped; {_runs(left)} left. Run the same command again to go on", err=True)
        raise typer.Exit(130) from None
    finally:
        for path in _write(tables, chosen, store):
            typer.echo(path)
    left = len(unfinished(units, store)) - failed
    if left:
        typer.echo(
            f"{_runs(left)} left to another process that trains them; run again to have them in the tables", err=True
        )
    return failed


def _say_cost(
    units: Sequence["Unit"], todo: Sequence["Unit"], store: "Store", jobs: int, data_root: Path | None, device: str
) -> None:
    from latopo.reproduce import estimate_cost
    from latopo.reproduce.train_unit import probe_seconds

    if len(todo) < len(units):
        typer.echo(f"{len(units) - len(todo)} of {_runs(len(units))} are already in {store.folder}", err=True)
    stop = time.monotonic() + _PROBE_SECONDS

    def probe(unit: "Unit") -> float | None:
        return probe_seconds(unit, data_root, device) if time.monotonic() < stop else None

    cost = estimate_cost(todo, store.records(), probe)
    typer.echo(f"to do: {cost.text(jobs)}", err=True)


def _train(
    units: Sequence["Unit"], todo: Sequence["Unit"], store: "Store", jobs: int, data_root: Path | None, device: str
) -> int:
    from latopo.reproduce import run_units
    from latopo.reproduce.train_unit import run_of, train_unit
    from latopo.reproduce.workers import run_parallel
    from latopo.training.progress import TrainingProgress

    failed: set[str] = set()

    def fail(unit: "Unit", error: "LatopoError") -> None:
        if unit.key not in failed:  # another worker may have tried it as well
            failed.add(unit.key)
            progress.finish(f"{unit}: failed: {error}")

    def train(unit: "Unit") -> "Record":
        label = f"{unit.model} {unit.dataset} {unit.protocol} fold {unit.fold}"
        return train_unit(unit, data_root, progress.start(label, run_of(unit).planned_epochs), device)

    def finish(record: "Record") -> None:
        progress.finish(_line(record))

    with TrainingProgress(len(units), len(units) - len(todo)) as progress:
        if jobs == 1:
            run_units(todo, store, train, finish, fail)
        else:
            run_parallel(todo, store.folder, jobs, data_root, device, finish, fail)
    return len(failed)


def _line(record: "Record") -> str:
    return f"{record.unit}: test {record.test_score:.3f}, epoch {record.best_epoch}, {record.seconds:.1f} s"


def _write(tables: Sequence[str], chosen: _Choice, store: "Store") -> list[Path]:
    """Write the tables with what was chosen and what the store has besides; returns the Markdown files."""
    from latopo.reproduce import build_table, write_table
    from latopo.reproduce.experiments import DEVELOPMENT, experiment
    from latopo.reproduce.record import PROTOCOLS

    records = store.records()
    units = [record.unit for record in records]
    protocols: Any = _also(chosen.protocols, [unit.protocol for unit in units], PROTOCOLS, PROTOCOLS)
    paths = []
    for name in tables:
        table = experiment(name)
        shown = [unit.dataset for unit in units if unit.model in table.models and table.suits(unit.dataset)]
        datasets = _also(chosen.datasets, shown, (*table.datasets, *DEVELOPMENT), table.datasets)
        models = _also(chosen.models, [unit.model for unit in units], table.models, table.models)
        if datasets and models:
            built = build_table(name, records, datasets, models, protocols, chosen.settings_for)
            paths += [path for path in write_table(built, store.folder / "tables") if path.suffix == ".md"]
    return paths


def _also(chosen: Sequence[str] | None, seen: Sequence[str], known: Sequence[str], default: Sequence[str]) -> list[str]:
    # A later command must not take columns and rows out of the files of an earlier one.
    return [name for name in known if name in (default if chosen is None else chosen) or name in seen]


def _figures(chosen: _Choice, out: Path, data_root: Path | None, device: str, dry_run: bool, strict: bool) -> None:
    """Draw Texas and Wisconsin, or what was chosen; without ``strict`` only what the paper draws."""
    from latopo.reproduce.figures import FIGURE_DATASETS, make_figure
    from latopo.training.progress import TrainingProgress

    datasets, models = chosen.datasets or list(FIGURE_DATASETS), chosen.models or ["dcm"]
    if not strict:
        datasets, models = [name for name in datasets if name in FIGURE_DATASETS], [n for n in models if n == "dcm"]
    epochs = chosen.settings.get("epochs", 200)
    if dry_run:
        for dataset, model in product(datasets, models):
            typer.echo(
                f"to do: figure {dataset} {model}, {epochs} epochs, unless its run is in {out / 'figures'}", err=True
            )
        return
    with TrainingProgress(len(datasets) * len(models)) as progress:
        for dataset, model in product(datasets, models):
            start = partial(_start_figure, progress, f"figure {dataset} {model}", epochs)
            paths = make_figure(
                out / "figures", dataset, model, epochs=epochs, data_root=data_root, device=device, on_start=start
            )
            progress.finish(f"figure {dataset} {model}")
            typer.echo(paths[0])


def _start_figure(progress: "TrainingProgress", label: str, epochs: int, fold: int) -> "OnEpoch":
    return progress.start(label, epochs)
