"""``latopo reproduce``: the paper's tables and figures, ours beside theirs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from latopo.cli.train import (
    BackendName,
    Cluster,
    DataRoot,
    Device,
    Jobs,
    Splits,
    check_data_root,
    is_number,
    parse_numbers,
    parse_settings,
)
from latopo.errors import LatopoError

_FOLDS, _PROTOCOLS = "0-9", "honest,paper"


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, table2, sampling, depth, cycle-length, homophily, graphs, few-labels, figures, goals or all."
        ),
    ] = "all",
    datasets: Annotated[
        str | None, typer.Option(help="Data sets, such as texas,cora; by default those of the table.")
    ] = None,
    models: Annotated[str | None, typer.Option(help="Models, such as mlp,dcm; by default those of the table.")] = None,
    values: Annotated[
        str | None, typer.Option(help="Rounds for depth, longest cycles for cycle-length, such as 0,1; all by default.")
    ] = None,
    splits: Splits = _FOLDS,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds per fold; by default 0-2 on Texas and Wisconsin and 0 elsewhere.")
    ] = None,
    protocols: Annotated[str, typer.Option(help="honest, paper, patient, or some of them.")] = _PROTOCOLS,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs; the paper's by default.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Another setting of every run, such as hidden_channels=64; may be repeated. Best with its own --out.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder with the store of finished runs and the tables.")] = Path("results"),
    jobs: Jobs = 1,
    backend: BackendName = "loky",
    cluster: Cluster = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Train a part of the runs, such as 2/8, into its own store; then see `latopo merge`."),
    ] = None,
    data_root: DataRoot = None,
    device: Device = "auto",
    dry_run: Annotated[bool, typer.Option(help="Show what is left to do and what it costs, and stop.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Write the tables from the finished runs and train nothing.")
    ] = False,
    verify: Annotated[
        int | None,
        typer.Option(
            min=1, help="Train that many finished runs again, a fixed random draw, and compare; store nothing."
        ),
    ] = None,
) -> None:
    """Train what the paper's tables and figures need and write them, with our numbers beside the paper's.

    Every finished run is kept: the same command picks up where it stopped, and tables share runs. Data sets outside
    the paper (`latopo datasets`) may be named too.

    `few-labels` is a benchmark of its own: many rows, few of them labelled. There `--datasets` takes tasks or kinds of
    tasks too (tables, public, random, more-labels, folds, validated), and `--splits` are the draws of the labels.

    `goals` trains nothing: it counts the cells of tables 1 and 2 where the printed figures are reached, and where our
    best model is at or above the better of MLP and GCN.

    The same seed gives the same numbers on the same kind of CPU with the same versions. On other machines single runs
    differ and means stay within the spread; the store keeps CPU and versions with every run.
    """
    from latopo._device import find_device
    from latopo._files import check_folder
    from latopo.cli import reproduction
    from latopo.cli.few_labels import reproduce_few_labels
    from latopo.data import find_dataset
    from latopo.engine import check_backend

    check_data_root("reproduce", data_root)
    check_backend(backend, cluster)
    check_folder(out)
    find_device(device)
    given: dict[str, object]
    if what == "figures":
        given = {
            "--values": values, "--splits": splits != _FOLDS, "--seeds": seeds, "--protocols": protocols != _PROTOCOLS,
            "--shard": shard, "--tables-only": tables_only, "--verify": verify,
        }  # fmt: skip
        _refuse(given, "figures show fold 0, seed 0, under honest")
    if (what == "goals" or tables_only) and not out.is_dir():
        raise LatopoError(f"--out {out}: there is no such folder; name that of an earlier run")
    elsewhere = {"--device": device != "auto", "--backend": backend != "loky"}
    if tables_only:
        _refuse({"--shard": shard, "--dry-run": dry_run, "--verify": verify}, "--tables-only trains nothing")
    if verify is not None:
        _refuse({"--shard": shard, "--dry-run": dry_run}, "--verify trains finished runs again and stores nothing")
    if what == "few-labels":
        given = {
            "--values": values, "--seeds": seeds, "--protocols": protocols != _PROTOCOLS, "--epochs": epochs,
            "--set": setting, "--cluster": cluster, "--shard": shard, "--verify": verify, **elsewhere,
        }  # fmt: skip
        _refuse(given, "few-labels has settings and draws of its own")
        reproduce_few_labels(
            None if datasets is None else _names(datasets, "--datasets"),
            None if models is None else _names(models, "--models"),
            parse_numbers(splits, "--splits", 9),
            out=out, jobs=jobs, data_root=data_root, dry_run=dry_run, tables_only=tables_only,
        )  # fmt: skip
        return
    if what == "goals":
        given = {
            "--datasets": datasets, "--models": models, "--values": values, "--splits": splits != _FOLDS,
            "--seeds": seeds, "--protocols": protocols != _PROTOCOLS, "--epochs": epochs, "--set": setting,
            "--cluster": cluster, "--shard": shard, "--dry-run": dry_run, "--tables-only": tables_only,
            "--verify": verify, "--jobs": jobs != 1, **elsewhere,
        }  # fmt: skip
        _refuse(given, "goals reads all of the store and trains nothing")
        reproduction.print_goals(out)
        return
    chosen = reproduction.Choice(
        datasets=None if datasets is None else [find_dataset(name).name for name in _names(datasets, "--datasets")],
        models=None if models is None else _models(models),
        values=None if values is None else parse_numbers(values, "--values"),
        folds=parse_numbers(splits, "--splits", 9),
        seeds=None if seeds is None else parse_numbers(seeds, "--seeds"),
        protocols=_names(protocols, "--protocols"),
        settings=parse_settings(setting or []) | ({} if epochs is None else {"epochs": epochs}),
    )
    work = reproduction.Work(out, jobs, backend, cluster, _parse_shard(shard), data_root, device, dry_run)
    tables = _tables_of(what, chosen.settings, bool(setting))
    if tables_only:
        reproduction.write_tables(tables, chosen, work)
    elif verify is not None:
        reproduction.verify(verify, what, chosen, work)
    else:
        failed = reproduction.train_tables(what, tables, chosen, work) if tables else 0
        if what in ("figures", "all") and shard is None:
            reproduction.draw_figures(chosen, work, strict=what == "figures")
        if failed:
            text = f"latopo: {reproduction.runs(failed)} failed, see above; the tables show them as missing"
            typer.echo(text, err=True)
            raise typer.Exit(1)


def _refuse(given: Mapping[str, object], why: str) -> None:
    """Options that would change nothing are told, not ignored."""
    if ignored := ", ".join(name for name, value in given.items() if value):
        raise LatopoError(f"{ignored}: {why}; leave the option out")


def _tables_of(what: str, settings: dict[str, Any], has_settings: bool) -> list[str]:
    """The tables that are named, once the settings are known to go with them."""
    from latopo.reproduce.experiments import EXPERIMENTS, experiment

    if what in ("figures", "all") and has_settings:
        raise LatopoError(f"--set: {what} includes figures, which have the paper's settings; name a table")
    tables = [] if what == "figures" else list(EXPERIMENTS) if what == "all" else [what]
    for table in tables:
        variable = experiment(table).variable
        if variable in settings:
            raise LatopoError(f"--set {variable}: the rows of {table} vary it; choose with --values")
    return tables


def _names(text: str, option: str) -> list[str]:
    names = [name for name in text.replace(" ", "").split(",") if name]
    if not names:
        raise LatopoError(f"{option}: expected names, separated by commas, got {text!r}")
    return names


def _models(text: str) -> list[str]:
    from latopo.models import GRAPH_SYSTEMS, SYSTEMS
    from latopo.reproduce.experiments import choose

    return list(choose("--models", "model", (*SYSTEMS, *GRAPH_SYSTEMS), _names(text, "--models")))


def _parse_shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    part, slash, parts = text.partition("/")
    if not slash or not is_number(part) or not is_number(parts) or not 1 <= int(part) <= int(parts):
        raise LatopoError(f"--shard {text}: expected a part and the number of parts, such as 1/8 to 8/8")
    return int(part), int(parts)
