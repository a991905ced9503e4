"""``latopo predict``: new rows join a fitted complex."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from latopo.table.fit_folder import FittedRun

_SHOWN = 5  # anchors of a row that are listed
_ROWS = 50_000  # read, predicted and written at a time


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that latopo fit wrote.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV or Parquet file with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file to write; by default FILE-predictions.csv.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of the text file; by default UTF-8.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Predict the rows of a table.

    Each row gets a prediction, the probability of each class, and the training rows it was tied to, strongest first,
    with their weights: why it was predicted so.
    """
    from latopo._files import atomic_path, check_output
    from latopo.errors import LatopoError
    from latopo.table.fit_folder import read_run
    from latopo.table.reading import read_blocks
    from latopo.table.spreadsheet import write_csv

    path = out if out is not None else file.parent / f"{file.stem}-predictions.csv"
    check_output(path, source=file)
    if path.exists() and not overwrite:
        raise LatopoError(f"--out {path} already exists; replace it with --overwrite, or choose another name")
    fitted = read_run(run)
    form, done = "%.6f" if fitted.settings["task"] == "classification" else None, 0
    with atomic_path(path) as draft:
        for frame in read_blocks(file, encoding, _ROWS):
            write_csv(draft, _predictions(fitted, frame, done), form, append=done > 0)
            done += len(frame)
    typer.echo(f"{done:,} rows predicted: {path}")


def _predictions(fitted: "FittedRun", frame: "pd.DataFrame", before: int) -> "pd.DataFrame":
    """A row for each row: its id, the prediction, for classes the probability of each, and what it is tied to.

    So many rows came before this block.
    """
    import pandas as pd

    from latopo.errors import one_line
    from latopo.table.columns import as_texts, read_cells

    X, notes = fitted.preprocessing.transform(frame)
    target, id_column = fitted.settings["target"], fitted.settings["id_column"]
    ignored = set(frame.columns) - {column.name for column in fitted.preprocessing.columns} - {target, id_column}
    if ignored:
        notes.append(f"columns that the fit did not use are ignored: {', '.join(map(repr, sorted(ignored)[:10]))}")
    where = f"from row {before + 1:,} on: " if before else ""
    for note in notes:
        typer.echo(one_line(f"{where}{note}"), err=True)
    estimator = fitted.estimator
    if fitted.settings["task"] == "classification":
        probabilities = estimator.predict_proba(X)
        table = pd.DataFrame(probabilities, columns=[f"probability of {name}" for name in estimator.classes_])
        table.insert(0, f"predicted {target}", estimator.classes_[probabilities.argmax(axis=1)])
    else:
        table = pd.DataFrame({f"predicted {target}": estimator.predict(X)})
    table["tied to"] = _reasons(estimator.attachments(X), fitted.anchor_ids)
    # Ids as they are: they may repeat or be missing in rows that only ask.
    known = id_column in frame.columns
    ids = as_texts(read_cells(frame[id_column])) if known else range(before + 1, before + len(frame) + 1)
    table.insert(0, id_column if known else "row", ids, allow_duplicates=True)
    return table


def _reasons(attachments: Any, ids: list[str]) -> list[str]:
    """For each row its strongest anchors as ``id (weight); …``."""
    reasons = []
    for start, stop in zip(attachments.indptr[:-1], attachments.indptr[1:], strict=True):
        weights, anchors = attachments.data[start:stop], attachments.indices[start:stop]
        strongest = (-weights).argsort(kind="stable")[:_SHOWN]
        reasons.append("; ".join(f"{ids[anchors[at]]} ({weights[at]:.2f})" for at in strongest))
    return reasons
