"""The ``latopo`` command: the list of commands, and the one place where errors become exit codes."""

import sys

import typer

from latopo._version import __version__
from latopo.cli.bench import bench
from latopo.cli.datasets import datasets
from latopo.cli.fit import fit
from latopo.cli.merge import merge
from latopo.cli.models import models
from latopo.cli.predict import predict
from latopo.cli.report import report
from latopo.cli.reproduce import reproduce
from latopo.cli.train import train
from latopo.errors import LatopoError

app = typer.Typer(
    name="latopo",
    help="Learn a cell complex (nodes, edges, polygons) from points, tables or graphs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"latopo {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    pass


for _command in (bench, datasets, fit, models, merge, predict, report, reproduce, train):
    app.command()(_command)


def main() -> None:
    """Run the command line; bad input and files that cannot be used end in one line on standard error, exit code 2."""
    try:
        app()
    except LatopoError as error:
        typer.echo(f"latopo: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        typer.echo(f"latopo: {where}{error.strerror or error}; check the name, the rights and the free space", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("latopo: stopped", err=True)
        sys.exit(130)
