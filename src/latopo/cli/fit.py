"""``latopo fit``: your own table, from the file to a fitted run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from latopo.table.fitting import FitResult


def fit(
    source: Annotated[
        str, typer.Argument(metavar="FILE_OR_DATASET", help="A CSV, TSV or Parquet file, or iris, wine, digits …")
    ],
    target: Annotated[str | None, typer.Option(help="Column to predict; embedded data sets have their own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the run; by default runs/fit-NAME.")] = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column to take as categories, whatever it looks like; may be repeated.")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the rows.")] = None,
    graph: Annotated[Path | None, typer.Option(help="File of a given graph: two columns of ids (see --id).")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of the text files; by default UTF-8.")] = None,
    test_fraction: Annotated[float, typer.Option(help="Share of the rows to hold out and score; 0 for none.")] = 0.2,
    labels: Annotated[
        int | None,
        typer.Option(min=1, help="Rehearse few labels: keep so many per class, hide the others and test on them."),
    ] = None,
    max_length: Annotated[int, typer.Option(help="Most sides that a polygon may have.")] = 4,
    epochs: Annotated[int | None, typer.Option(help="Maximum number of epochs.")] = None,
    class_weight: Annotated[
        str | None, typer.Option(help="balanced: rows of rare classes count more, each class as much as any other.")
    ] = None,
    weight_column: Annotated[
        str | None, typer.Option("--weight", help="Column of weights: how much each row counts; not learned from.")
    ] = None,
    max_anchors: Annotated[
        int | None,
        typer.Option(help="Fit a random sample of this many rows; by default of 100,000, if there are more."),
    ] = None,
    keep_columns: Annotated[
        bool,
        typer.Option(
            "--keep-columns",
            help="Keep the columns' values of the rows, so that the report can show them. Privacy: whoever gets the "
            "run or its report can then read these rows; columns named by --drop are not kept.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 0,
    overwrite: Annotated[bool, typer.Option(help="Replace a run that is already in the folder.")] = False,
    quiet: Annotated[bool, typer.Option(help="Print only the score.")] = False,
) -> None:
    """Fit a table: learn a cell complex over its rows that predicts a column.

    The folder holds the model (safetensors and JSON, no pickle), the complex as edges.csv and polygons.csv, the scores
    and a picture. `latopo predict FOLDER new.csv` uses it. Rows whose target is empty are learned from as well.
    """
    from latopo.errors import LatopoError
    from latopo.table.fit_folder import check_run_folder, new_run_folder, write_run
    from latopo.table.fitting import FitRequest, fit_table

    folder = out if out is not None else Path("runs") / f"fit-{Path(source).stem}"
    check_run_folder(folder, overwrite)
    frame, own_target = _read(source, encoding)
    target = target or own_target
    if target is None:
        raise LatopoError(f"--target: name the column to predict; the table has {', '.join(frame.columns[:20])}")
    parameters: dict[str, Any] = {"max_length": max_length, "verbose": int(not quiet)}
    if max_anchors is not None:
        parameters["max_anchors"] = max_anchors
    if epochs is not None:
        parameters["max_epochs"] = epochs
    request = FitRequest(
        target, task, tuple(drop or ()), tuple(categorical or ()), id_column, graph, encoding, test_fraction, seed,
        labels, parameters, weight_column, class_weight, keep_columns,
    )  # fmt: skip
    result = fit_table(
        frame,
        request,
        _silent if quiet else _say,
    )
    with new_run_folder(folder, overwrite) as draft:
        write_run(draft, *result)
        picture = _draw(result, draft / "complex.png")
    _report(result.metrics, folder, picture, quiet)


def _say(line: str) -> None:
    from latopo.errors import one_line

    typer.echo(line if line.isprintable() else one_line(line))  # a column may have any name


def _silent(line: str) -> None:
    pass


def _read(source: str, encoding: str | None) -> tuple["pd.DataFrame", str | None]:
    """The table, and the name of its target if it is an embedded data set."""
    import pandas as pd

    from latopo.data import find_dataset, read_table
    from latopo.errors import LatopoError
    from latopo.table.reading import read_frame

    path = Path(source)
    if path.is_file() or path.suffix or path.name != source:
        return read_frame(path, encoding), None
    try:
        entry = find_dataset(source)
    except LatopoError as error:
        raise LatopoError(f"{source} is not a file, and {error}") from error
    if entry.has_graph:
        raise LatopoError(f"{entry.title} is a graph, not a table: use latopo train {entry.name}")
    x, y, names = read_table(entry.name)
    return pd.DataFrame(x, columns=names).assign(target=y), "target"


def _draw(result: "FitResult", path: Path) -> bool:
    """A picture of the complex, if matplotlib is there."""
    from latopo.draw import draw
    from latopo.errors import LatopoError

    run, known = result.run, [value for value in result.targets if value is not None]
    few = run.settings["task"] == "classification" and len(known) < len(result.targets)
    # With few labels, colours are predictions and rings are labels; values that are missing are shown by the mean.
    mean = None if few or run.settings["task"] == "classification" else sum(known) / len(known)
    shown = [mean if value is None else value for value in result.targets]
    try:
        if few:
            shown = run.estimator.transduction_[run.estimator.anchor_rows_].tolist()
        title = f"Colours: predictions. Rings: the {len(known)} labelled rows" if few else None
        drawing = draw(run.estimator.complex_, shown, title=title)
        if few:
            drawing.circle([place for place, value in enumerate(result.targets) if value is not None])
        drawing.save(path)
    except LatopoError as error:
        typer.echo(f"no picture: {error}", err=True)
        return False
    return True


def _report(metrics: dict[str, Any], folder: Path, picture: bool, quiet: bool) -> None:
    from latopo.table.scores import score_lines

    if not quiet:
        learned, left, weightless = (metrics[f"{name}_rows"] for name in ("learned", "left_out", "weightless"))
        equal = metrics["training_rows"] - learned - left - weightless
        others = {"equal one of these": equal, "were left out (--max-anchors)": left, "have no weight": weightless}
        told = "".join(f"; {count:,} other training rows {why}" for why, count in others.items() if count)
        typer.echo(f"{metrics['edges']:,} edges and {metrics['polygons']:,} polygons over {learned:,} rows{told}")
        typer.echo(f"run: {folder}" + (f"; picture: {folder / 'complex.png'}" if picture else ""))
    held_out = metrics["held_out_rows"]
    if "held_out" not in metrics:
        typer.echo("no score: " + ("one held-out row is too few for R2" if held_out else "no rows were held out"))
        return
    scores = " · ".join(f"{name} {score:.3f}" for name, score in metrics["held_out"].items())
    typer.echo(f"held-out {metrics['score']} ({held_out:,} rows): {scores}")
    if not quiet:
        for line in score_lines(metrics):
            typer.echo(line)
