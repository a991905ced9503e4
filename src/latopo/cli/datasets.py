"""``latopo datasets``: what can be loaded, with measured statistics."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latopo.cli.train import DataRoot, check_data_root
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.data import DatasetEntry

_COLUMNS = ("name", "nodes", "features", "classes", "edges", "homophily", "source", "present")


def datasets(
    data_root: DataRoot = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list with more columns instead of a table.")
    ] = False,
) -> None:
    """List the data sets: size, edge homophily, source, and whether their files are here.

    Edges are pairs of nodes that are joined. Homophily is that of the edges as the files list them, with each direction
    and self-loops counted, as in the paper. Of a set of graphs all nodes and edges are counted; --json also says how
    many graphs there are.

    Statistics are measured on the first call, which takes a few seconds, and kept. Files that are not here are
    downloaded when the data set is first used.
    """
    from latopo.data import find_dataset, list_datasets

    check_data_root("datasets", data_root)
    entries = [find_dataset(name) for name in list_datasets()]
    _measure(entries, data_root)
    rows = [_row(entry, data_root) for entry in entries]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        _print_table(rows)


def _measure(entries: Iterable["DatasetEntry"], data_root: Path | None) -> None:
    """Measure what is here and not yet measured; a damaged data set costs one line, not the list."""
    from rich.console import Console
    from rich.progress import track

    from latopo.data.raw_files import find_folder
    from latopo.data.statistics import dataset_statistics, read_statistics

    here = [entry for entry in entries if find_folder(entry.raw_files, data_root)]
    todo = [entry.name for entry in here if read_statistics(entry) is None]
    if not todo:
        return
    console = Console(stderr=True)
    typer.echo(f"Measuring {len(todo)} data sets (first time only)", err=True)
    for name in track(todo, "", console=console, transient=True, disable=not console.is_terminal):
        try:
            dataset_statistics(name, data_root)
        except LatopoError as error:
            typer.echo(f"latopo: {error}", err=True)


def _row(entry: "DatasetEntry", data_root: Path | None) -> dict[str, Any]:
    """What is known of one data set; its statistics are None if its files are not here."""
    from dataclasses import asdict, fields

    from latopo.data.raw_files import find_folder
    from latopo.data.statistics import Statistics, read_statistics

    here = find_folder(entry.raw_files, data_root) is not None
    measured = read_statistics(entry) if here else None
    facts = asdict(measured) if measured else dict.fromkeys(field.name for field in fields(Statistics))
    about = {"task": entry.task, "treatment": entry.features, "source": entry.source}
    return {"name": entry.name, **facts, **about, "present": "yes" if here else "no"}


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if console.is_terminal:  # the last part of an address is enough, so that the table fits 80 columns
        rows = [row | {"source": row["source"].rpartition("/")[2]} for row in rows]
    else:
        console.width = 200  # into a pipe or a file nothing is cut
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in _COLUMNS:
        text = column in ("name", "source", "present")
        table.add_column(column, justify="left" if text else "right", no_wrap=column != "source", overflow="fold")
    for values in ([row[column] for column in _COLUMNS] for row in rows):
        table.add_row(*("–" if v is None else f"{v:.3f}" if isinstance(v, float) else str(v) for v in values))
    console.print(table)
