"""``latopo report``: a run, or two side by side, as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of latopo train, latopo fit or latopo reproduce, or a file of CellComplex.save."
        ),
    ],
    other: Annotated[
        Path | None, typer.Argument(metavar="RUN_B", help="A second one on the same points, to compare with.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; only an earlier report is overwritten. Default: report.html in the folder of the run, "
            "complex.html beside complex.safetensors."
        ),
    ] = None,
    fold: Annotated[
        int | None, typer.Option(min=0, help="Fold whose complex is drawn. Default: the first finished one.")
    ] = None,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            help="Run to compare the score with; may be repeated. Default: runs of an MLP or a GCN in the same parent "
            "folder."
        ),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Write a report: results in words, the complex to explore, curves and tables.

    The file is self-contained: it needs no network and can be mailed as it is. With two runs it also shows what one
    complex has and the other lacks.
    """
    from dataclasses import replace

    from latopo._files import check_output
    from latopo.errors import LatopoError
    from latopo.report import is_report, write_report
    from latopo.report.read_run import blaming, read_run

    if out is None and run.is_file():
        out = run.with_name(f"{run.stem}.html" if other is None else f"{run.stem}-{other.stem}.html")
    target = out if out is not None else run / ("report.html" if other is None else f"report-{other.name}.html")
    check_output(target, "report: --out")
    if target.exists() and not is_report(target):
        raise LatopoError(f"report: {target} exists and is not a latopo report; choose another --out")
    data = read_run(run, fold, baseline or None)
    second = None if other is None else read_run(other, fold, baseline or None)
    if other is not None and second is not None and second.title == data.title:
        data = replace(data, title=f"{data.title} ({run.name})")
        second = replace(second, title=f"{second.title} ({other.name})")
    try:
        with blaming(run):
            path = write_report(target, data, second)
    except OSError as error:
        raise LatopoError(f"report: {target} cannot be written ({error.strerror}); choose another --out") from error
    typer.echo(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if open_it:
        typer.launch(path.resolve().as_uri())
