"""``latopo bench``: the speed and memory bars, each measured beside its peer in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from latopo.errors import LatopoError


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which to run, such as search or fit; by default all.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results.json and the table in README.md.")] = None,
    peers: Annotated[
        Path | None, typer.Option(help="Folder with more benchmarks: benchmarks/peers of the repository.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Small sizes and no bars, to check that everything runs.")] = False,
) -> None:
    """Measure how fast this machine is, each figure beside another in the same run, and print the ratios."""
    from latopo.bench import run

    try:
        run(names or None, out=out, quick=quick, peers=peers)
    except ImportError as error:
        raise LatopoError(f'bench: {error}; the peers come with pip install "latopo[dev]"') from error
