"""``latopo merge``: several stores of finished runs as one."""

from pathlib import Path
from typing import Annotated

import typer

from latopo.errors import LatopoError


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Folders with finished runs, such as results/shard-*.")],
    out: Annotated[Path, typer.Option(help="Folder that gets the runs of all of them.")] = Path("results"),
) -> None:
    """Add the finished runs of some folders of `latopo reproduce` to another.

    A run that is there already stays as it is, so the same command may be given again. Nothing is deleted. Then
    `latopo reproduce --tables-only` writes the tables.
    """
    from latopo._files import check_folder
    from latopo.reproduce import Store

    check_folder(out)
    for folder in folders:
        if not (folder / "records.jsonl").is_file():
            raise LatopoError(f"merge: {folder} has no finished runs; expected a folder with records.jsonl")
    store = Store(out)
    with store.writing():
        for folder in folders:
            source = Store(folder)
            added = store.merge(source)
            typer.echo(f"{folder}: {added} of {len(source)} runs added to {out}")
