"""The ``latopo`` command: the list of commands, and the one place where errors become exit codes."""

import os
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn, cast

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
from latopo.errors import LatopoError, one_line

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


# Threads that spin while they wait make a command sixteen times as slow on a machine that others use as well; torch and
# numpy read these when they are imported.
_PATIENT_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}
_STOPPED = 130  # by Ctrl-C, as shells say it
# typer brings a click of its own, or not: what its errors have in common is their ancestor.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line; bad input and files that cannot be used end in one line on standard error, exit code 2."""
    os.environ.update(_PATIENT_THREADS | os.environ)
    warnings.showwarning = cast(Any, _show_warning)
    try:
        code = app(standalone_mode=False) or 0
        if code == _STOPPED:  # so typer says it; a command that has said what is kept raises SystemExit
            raise KeyboardInterrupt
        sys.exit(code)
    except LatopoError as error:
        _fail(str(error))
    except _USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        where = "latopo" if error.ctx is None else error.ctx.command_path
        _fail(f"{error.format_message()} (try {where} --help)")
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _fail(f"{where}{error.strerror or error}; check the name, the rights and the free space")
    except MemoryError:
        _fail("there is not enough memory for this; use fewer rows (--max-anchors) or columns (--drop)")
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("latopo: stopped", err=True)
        sys.exit(_STOPPED)


def _fail(message: str) -> NoReturn:
    typer.echo(f"latopo: {one_line(message)}", err=True)
    sys.exit(2)


def _show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    # What libraries tell programmers is none of a user's business; what latopo says is one line, without a path.
    if "latopo" in Path(filename).parts:
        typer.echo(f"note: {one_line(str(message))}", err=True)
