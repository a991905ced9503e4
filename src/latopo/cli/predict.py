"""``latopo predict``: new rows join a fitted complex."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from latopo.table.fit_folder import FittedRun

_SHOWN = 5  # anchors of a row that are listed
_COLUMNS = 10  # kept columns of the most similar row that are listed
_ROWS = 50_000  # read, predicted and written at a time


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that latopo fit wrote.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV or Parquet file with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="CSV file to write; by default FILE-predictions.csv.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of the text file; by default UTF-8.")] = None,
    effects: Annotated[
        bool, typer.Option(help="Say what each prediction becomes without each of its ties; takes longer.")
    ] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Predict the rows of a table.

    Each row gets a prediction, the probability of each class, and the training rows it was tied to, strongest first,
    with their weights. These are similar rows, not the reason: the row's own columns count as well. How far they agree
    with the prediction stands beside them, and with --effects what it would be without each. After a fit with
    --keep-columns, the values of the most similar row are there, too.
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
    targets, described = _targets(run, fitted), _descriptions(run, fitted)
    form, done = "%.6f" if fitted.settings["task"] == "classification" else None, 0
    with atomic_path(path) as draft, _counter() as count:
        for frame in read_blocks(file, encoding, _ROWS):
            write_csv(draft, _predictions(fitted, targets, described, frame, done, effects), form, append=done > 0)
            done += len(frame)
            count(len(frame))
    typer.echo(f"{done:,} rows predicted: {path}")


@contextmanager
def _counter() -> Iterator[Callable[[int], None]]:
    """Give what to tell how many more rows are done; a terminal shows their number and the time."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.completed:,.0f} rows predicted"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda rows: progress.advance(task, rows)


def _targets(run: Path, fitted: "FittedRun") -> list[Any]:
    """The targets of the rows in the complex, None where there is none; nothing from a run that has no points."""
    from latopo.errors import LatopoError
    from latopo.table.fit_folder import read_run_file

    if not (run / "points.json").is_file():
        return []
    targets = list(read_run_file(run, "points.json")["target"])
    is_text = fitted.settings["task"] == "regression" and any(isinstance(value, str) for value in targets)
    if is_text or len(targets) != len(fitted.anchor_ids):
        raise LatopoError(f"{run}: points.json does not belong to this run, or is damaged; fit again")
    return targets


def _descriptions(run: Path, fitted: "FittedRun") -> list[str]:
    """The kept columns of the rows in the complex as ``name = value, …``; nothing from a run that keeps none."""
    from latopo.errors import LatopoError
    from latopo.table.fit_folder import read_run_file

    if not (run / "columns.json").is_file():
        return []
    columns = read_run_file(run, "columns.json")
    if any(len(column["values"]) != len(fitted.anchor_ids) for column in columns):
        raise LatopoError(f"{run}: columns.json does not belong to this run, or is damaged; fit again")
    names = [column["name"] for column in columns[:_COLUMNS]]
    rest = ", …" if len(columns) > _COLUMNS else ""
    rows = zip(*(column["values"] for column in columns[:_COLUMNS]), strict=True)
    return [", ".join(map("{} = {}".format, names, map(_cell, row))) + rest for row in rows]


def _cell(value: str | float | None) -> str:
    return "missing" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _predictions(
    fitted: "FittedRun", targets: list[Any], described: list[str], frame: "pd.DataFrame", before: int, effects: bool
) -> "pd.DataFrame":
    """A row for each row: its id, the prediction, for classes the probability of each, and what it is tied to.

    So many rows came before this block.
    """
    import pandas as pd

    from latopo.errors import one_line
    from latopo.table.columns import as_texts, read_cells

    X, notes = fitted.preprocessing.transform(frame, before)
    target, id_column = fitted.settings["target"], fitted.settings["id_column"]
    ignored = set(frame.columns) - {column.name for column in fitted.preprocessing.columns} - {target, id_column}
    if ignored and not before:  # the same in every block
        notes.append(f"columns that the fit did not use are ignored: {', '.join(map(repr, sorted(ignored)[:10]))}")
    where = f"from row {before + 1:,} on: " if before else ""
    for note in notes:
        print(one_line(f"{where}{note}"), file=sys.stderr)  # typer.echo would write into the line of a live counter
    estimator = fitted.estimator
    if fitted.settings["task"] == "classification":
        probabilities, ties = estimator.predict_with_ties(X)
        table = pd.DataFrame(probabilities, columns=[f"probability of {name}" for name in estimator.classes_])
        table.insert(0, f"predicted {target}", estimator.classes_[probabilities.argmax(axis=1)])
    else:
        values, ties = estimator.predict_with_ties(X)
        table = pd.DataFrame({f"predicted {target}": values})
    table["similar rows"] = _similar(ties, fitted.anchor_ids)
    if targets:
        guesses = table[f"predicted {target}"].tolist()
        has_classes = fitted.settings["task"] == "classification"
        table["similar rows that agree" if has_classes else "mean of similar rows"] = _agreement(
            ties, targets, guesses if has_classes else None
        )
    if described:
        nearest = [_strongest(ties, row)[:1] for row in range(len(table))]
        table["most similar row"] = [described[found[0][0]] if found else "" for found in nearest]
    if effects:
        table["without each of them"] = _effects(estimator, X, ties, fitted.anchor_ids)
    # Ids as they are: they may repeat or be missing in rows that only ask.
    known = id_column in frame.columns
    ids = as_texts(read_cells(frame[id_column])) if known else range(before + 1, before + len(frame) + 1)
    table.insert(0, id_column if known else "row", ids, allow_duplicates=True)
    return table


def _anchors(ties: Any, row: int) -> list[tuple[int, float]]:
    """Anchors of a row with their weights."""
    span = slice(ties.indptr[row], ties.indptr[row + 1])
    return list(zip(ties.indices[span].tolist(), ties.data[span].tolist(), strict=True))


def _strongest(ties: Any, row: int) -> list[tuple[int, float]]:
    return sorted(_anchors(ties, row), key=lambda pair: -pair[1])[:_SHOWN]


def _similar(ties: Any, ids: list[str]) -> list[str]:
    """For each row its strongest anchors as ``id (weight); …``."""
    rows = range(ties.shape[0])
    return ["; ".join(f"{ids[at]} ({weight:.2f})" for at, weight in _strongest(ties, row)) for row in rows]


def _agreement(ties: Any, targets: list[Any], guesses: list[Any] | None) -> list[float | None]:
    """Of the ties of a row to rows with a target: the share of weight at the predicted class, or the mean target."""
    found: list[float | None] = []
    for row in range(ties.shape[0]):
        known = [(targets[at], weight) for at, weight in _anchors(ties, row) if targets[at] is not None]
        total = sum(weight for _, weight in known)
        values = [(value if guesses is None else str(value) == str(guesses[row])) * weight for value, weight in known]
        found.append(sum(values) / total if total else None)
    return found


def _effects(estimator: Any, X: Any, ties: Any, ids: list[str]) -> list[str]:
    """For each row what it becomes without each strongest anchor: ``id: class (probability)`` or ``id: value``."""
    classes = getattr(estimator, "classes_", None)
    texts = []
    for row, without in enumerate(estimator.tie_effects(X)):
        parts = []
        for at, _ in _strongest(ties, row):
            value = without[at]
            told = f"{value:.6g}" if classes is None else f"{classes[value.argmax()]} ({value.max():.2f})"
            parts.append(f"{ids[at]}: {told}")
        texts.append("; ".join(parts))
    return texts
