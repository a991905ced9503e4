"""``latopo predict``: new rows join a fitted complex."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from latopo.table.reading import RawTable
    from latopo.table.run_folder import FittedRun

_SHOWN = 5  # anchors of a row that are listed


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that latopo fit made.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV or Parquet file with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file to write; by default FILE-predictions.csv.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of the text file; UTF-8 by default.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Predict the rows of a table.

    Each row gets a prediction, for classes the probability of each, and the training rows that it was tied to, the
    strongest first, with their weights: why it was predicted so.
    """
    from latopo._files import atomic_path
    from latopo.errors import LatopoError
    from latopo.table.reading import read_raw_table
    from latopo.table.run_folder import read_run
    from latopo.table.spreadsheet import write_csv

    path = out if out is not None else file.with_name(f"{file.stem}-predictions.csv")
    if path.is_dir():
        raise LatopoError(f"--out {path} is a folder; name a file such as {path / 'predictions.csv'}")
    if path.exists() and not overwrite:
        raise LatopoError(f"--out {path} exists; use --overwrite to replace it, or another name")
    fitted, table = read_run(run), read_raw_table(file, encoding)
    header, rows = _predictions(fitted, table)
    try:
        with atomic_path(path) as draft:
            write_csv(draft, header, rows)
    except OSError as error:
        raise LatopoError(f"--out {path} cannot be written: {error.strerror}") from error
    typer.echo(f"{table.num_rows:,} rows predicted: {path}")


def _predictions(fitted: "FittedRun", table: "RawTable") -> tuple[list[str], Iterator[list[Any]]]:
    X, notes = fitted.preprocessing.transform(table)
    for note in notes:
        typer.echo(note, err=True)
    extra = set(table.names) - {column.name for column in fitted.preprocessing.columns}
    known = {fitted.settings.get("target"), fitted.settings.get("id_column")}
    if extra - known:
        typer.echo(f"{len(extra - known)} columns were not used in the fit and are ignored", err=True)
    id_column = fitted.settings.get("id_column")
    if id_column not in table.names:
        id_column = None
    header = [id_column or "row", f"predicted {fitted.settings['target']}"]
    # As they are: an id may come again, or be missing, in rows that only ask.
    ids = range(1, table.num_rows + 1) if id_column is None else (cell or "" for cell in table.column(id_column))
    columns: list[Any] = [list(ids)]
    estimator = fitted.estimator
    if fitted.settings["task"] == "classification":
        probabilities = estimator.predict_proba(X)
        columns.append(estimator.classes_[probabilities.argmax(axis=1)].tolist())
        columns += [[f"{p:.6f}" for p in column] for column in probabilities.T]
        header += [f"probability of {name}" for name in estimator.classes_]
    else:
        columns.append(estimator.predict(X).tolist())
    columns.append(_reasons(estimator.attachments(X), fitted.anchor_ids))
    return [*header, "tied to"], (list(row) for row in zip(*columns, strict=True))


def _reasons(attachments: Any, ids: list[str]) -> list[str]:
    """For each row its strongest anchors as ``id (weight); …``."""
    reasons = []
    for start, stop in zip(attachments.indptr[:-1], attachments.indptr[1:], strict=True):
        weights, anchors = attachments.data[start:stop], attachments.indices[start:stop]
        strongest = (-weights).argsort(kind="stable")[:_SHOWN]
        reasons.append("; ".join(f"{ids[anchors[at]]} ({weights[at]:.2f})" for at in strongest))
    return reasons
