"""``latopo fit``: a table of one's own, from the file to a fitted run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from latopo.table.fitting import FitResult
    from latopo.table.reading import RawTable


def fit(
    source: Annotated[
        str, typer.Argument(metavar="FILE_OR_DATASET", help="A CSV, TSV or Parquet file, or iris, wine, digits …")
    ],
    target: Annotated[str | None, typer.Option(help="Column to predict; an embedded data set has its own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; by default runs/fit-NAME.")] = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column to take as categories, whatever it looks like; may be repeated.")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the rows.")] = None,
    graph: Annotated[Path | None, typer.Option(help="File of a given graph: two columns of ids (--id).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of the text files; UTF-8 by default.")] = None,
    test_fraction: Annotated[float, typer.Option(help="Share of the rows to hold out and score; 0 for none.")] = 0.2,
    max_length: Annotated[int, typer.Option(help="Longest polygon.")] = 4,
    epochs: Annotated[int | None, typer.Option(help="Most epochs.")] = None,
    max_anchors: Annotated[
        int | None, typer.Option(help="Fit a random part of so many rows: time grows with their square.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of everything random.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace a run that is already in the folder.")] = False,
    quiet: Annotated[bool, typer.Option(help="Print the score alone.")] = False,
) -> None:
    """Fit a table: learn a cell complex over its rows that predicts a column.

    The folder holds the model (safetensors and JSON, no pickle), the complex as edges.csv and polygons.csv, the scores
    and a picture. `latopo predict FOLDER new.csv` uses it.
    """
    from latopo.errors import LatopoError
    from latopo.table.fitting import FitRequest, fit_table
    from latopo.table.run_folder import check_run_folder, new_run_folder, write_points, write_run

    folder = out if out is not None else Path("runs") / f"fit-{Path(source).stem}"
    check_run_folder(folder, overwrite)
    table, own_target = _read(source, encoding)
    if target is None and own_target is None:
        raise LatopoError(f"--target: name the column to predict; the table has {', '.join(table.names[:20])}")
    parameters: dict[str, Any] = {"max_length": max_length, "max_anchors": max_anchors, "verbose": int(not quiet)}
    if epochs is not None:
        parameters["max_epochs"] = epochs
    request = FitRequest(
        target or own_target or "", task, tuple(drop or ()), tuple(categorical or ()), id_column, graph, encoding,
        test_fraction, seed, tuple(parameters.items()),
    )  # fmt: skip
    result = fit_table(table, request, (lambda line: None) if quiet else typer.echo)
    with new_run_folder(folder, overwrite) as draft:
        write_run(draft, result.run, result.metrics)
        write_points(draft, result.run.estimator, result.known_targets)
        picture = _draw(result, draft / "complex.png")
    _report(result.metrics, folder, picture, quiet)


def _read(source: str, encoding: str | None) -> tuple["RawTable", str | None]:
    """The table, and the name of its target if it is an embedded data set."""
    from latopo.data import find_dataset, read_table
    from latopo.errors import LatopoError
    from latopo.table.reading import RawTable, read_raw_table

    path = Path(source)
    if not path.exists() and not path.suffix and path.name == source:
        try:
            entry = find_dataset(source)
        except LatopoError as error:
            raise LatopoError(f"{source} is no file, and {error}") from error
        if entry.has_graph:
            raise LatopoError(f"{entry.title} is a graph, not a table: use latopo train {entry.name}")
        x, y, names = read_table(entry.name)
        columns: list[list[str | None]] = [[repr(float(cell)) for cell in column] for column in x.T]
        return RawTable([*names, "target"], [*columns, list(map(str, y.tolist()))]), "target"
    return read_raw_table(path, encoding), None


def _draw(result: "FitResult", path: Path) -> bool:
    """A picture of the complex, if matplotlib is there."""
    from latopo.draw import draw
    from latopo.errors import LatopoError

    try:
        draw(result.run.estimator.complex_, result.targets).save(path)
    except LatopoError as error:
        typer.echo(f"no picture: {error}", err=True)
        return False
    return True


def _report(metrics: dict[str, Any], folder: Path, picture: bool, quiet: bool) -> None:
    if not quiet:
        size = f"{metrics['edges']:,} edges and {metrics['polygons']:,} polygons"
        learned, rows = metrics["learned_rows"], metrics["training_rows"]
        part = f"; the other {rows - learned:,} training rows were not learned from (--max-anchors)"
        typer.echo(f"{size} over {learned:,} rows" + (part if learned < rows else ""))
        typer.echo(f"run: {folder}" + (f"; picture: {folder / 'complex.png'}" if picture else ""))
    scores = metrics.get("held_out")
    if scores is None:
        one = "one row was held out, too few for R2" if metrics["held_out_rows"] else "no rows were held out"
        typer.echo(f"{one}: no score")
        return
    words = " · ".join(f"{name} {score:.3f}" for name, score in scores.items())
    typer.echo(f"held-out {metrics['score']} ({metrics['held_out_rows']:,} rows): {words}")
