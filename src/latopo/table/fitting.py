"""From a table to a fitted run: split, fit, score beside a baseline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.table.edges import read_edges, row_ids
from latopo.table.preprocessing import Preprocessing
from latopo.table.reading import RawTable
from latopo.table.run_folder import FittedRun
from latopo.table.target import Target, read_target

__all__ = ["FitRequest", "FitResult", "fit_table"]

IntArray = NDArray[np.int64]


class FitRequest(NamedTuple):
    """What is to be fitted.

    Attributes:
        target: name of the column to predict.
        task: ``"auto"``, ``"classification"`` or ``"regression"``.
        drop: columns to leave out.
        categorical: columns to take as categories, whatever they look like.
        id_column: column that names the rows.
        graph: file of a given graph.
        encoding: of text files.
        test_fraction: share of the labelled rows that are held out and scored; 0 for none.
        seed: of everything random.
        parameters: of the estimator, as (name, value).
    """

    target: str
    task: str = "auto"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    id_column: str | None = None
    graph: Path | None = None
    encoding: str | None = None
    test_fraction: float = 0.2
    seed: int = 0
    parameters: tuple[tuple[str, Any], ...] = ()


class FitResult(NamedTuple):
    """A fitted run, its scores, and the targets of the rows in its complex: for a picture, and None for unknown."""

    run: FittedRun
    metrics: dict[str, Any]
    targets: NDArray[Any]
    known_targets: list[Any]


def fit_table(table: RawTable, request: FitRequest, say: Callable[[str], None]) -> FitResult:
    """Fit an estimator to a table; what is decided on the way goes to ``say``, one line at a time.

    Raises:
        LatopoError: the table or the request cannot be used.
    """
    _check_columns(table, request)
    ids = row_ids(table, request.id_column)
    target = read_target(table, request.target, request.task)
    edges = None if request.graph is None else read_edges(request.graph, ids, request.encoding)
    train, test = _split(target, request.test_fraction, request.seed)
    left_out = {request.target, *request.drop} | ({request.id_column} if request.id_column else set())
    # All cells are checked before the training; medians and categories of held-out rows would be a look at the test.
    preprocessing = Preprocessing.fit(table, left_out, request.categorical, train)
    _tell(say, table, preprocessing, target)
    X, _ = preprocessing.transform(table.take(train.tolist()))
    X_test, notes = preprocessing.transform(table.take(test.tolist()))
    for note in notes:
        say(f"held-out rows: {note}")
    estimator = _estimator(target, request)
    estimator.fit(X, target.values[train], edge_index=_edges_between(edges, train, len(ids), say))
    metrics = _metrics(
        estimator, target, (X, target.values[train], target.labelled[train]), X_test, target.values[test]
    )
    settings = {"target": request.target, "task": target.task, "id_column": request.id_column, "seed": request.seed}
    rows = train[estimator.anchor_rows_]
    run = FittedRun(settings, preprocessing, estimator, [ids[row] for row in rows])
    values, labelled = target.values[rows].tolist(), target.labelled[rows]
    known = [value if has else None for value, has in zip(values, labelled, strict=True)]
    return FitResult(run, metrics, np.where(target.labelled, target.values, _no_target(target))[rows], known)


def _no_target(target: Target) -> Any:
    """How a picture shows rows without a target: as a class of their own, or by the mean."""
    return "(none)" if target.task == "classification" else np.nanmean(target.values.astype(np.float64))


def _check_columns(table: RawTable, request: FitRequest) -> None:
    for option, names in (("--drop", request.drop), ("--categorical", request.categorical)):
        for name in names:
            if name not in table.names:
                raise LatopoError(f"{option} {name!r}: there is no such column")
    if table.num_rows < 10:
        raise LatopoError(f"the table has {table.num_rows} rows, expected at least 10 to learn from and to test on")
    if not 0 <= request.test_fraction < 0.9:
        raise LatopoError(f"--test-fraction must be at least 0 and below 0.9, got {request.test_fraction}")


def _split(target: Target, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows to fit on (labelled or not) and labelled rows to test on, classes in equal shares."""
    labelled = np.flatnonzero(target.labelled)
    if fraction == 0:
        return np.arange(len(target.labelled)), labelled[:0]
    from sklearn.model_selection import train_test_split

    size = max(round(fraction * len(labelled)), 1)
    groups = None
    if target.task == "classification":
        groups = target.values[labelled]
        size = max(size, len(np.unique(groups)))
    try:
        learned, test = train_test_split(labelled, test_size=size, random_state=seed, stratify=groups)
    except ValueError as error:
        raise LatopoError(
            f"--test-fraction {fraction} holds out {size} of {len(labelled)} labelled rows, and the others are too few "
            f"to learn from ({error}); hold out fewer"
        ) from error
    lost = [] if groups is None else np.setdiff1d(target.values[test], target.values[learned]).tolist()
    if lost:
        raise LatopoError(
            f"--test-fraction {fraction} leaves no row of the class {lost[0]!r} to learn from; hold out fewer"
        )
    return np.setdiff1d(np.arange(len(target.labelled)), test), np.sort(test)


def _tell(say: Callable[[str], None], table: RawTable, preprocessing: Preprocessing, target: Target) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in preprocessing.kinds().items())
    say(f"{table.num_rows:,} rows; columns: {kinds}; {len(preprocessing.feature_names):,} features")
    for column in preprocessing.columns[:20]:
        shown = (
            f" ({', '.join('missing' if value is None else repr(value) for value in column.values[:5])})"
            if column.kind == "category"
            else ""
        )
        name = column.name if column.name.isprintable() else repr(column.name)  # no control codes to a terminal
        say(f"  {name}: {column.kind}{shown}")
    if len(preprocessing.columns) > 20:
        say(f"  … and {len(preprocessing.columns) - 20} more columns")
    for note in [*preprocessing.notes, *target.notes]:
        say(note)


def _edges_between(edges: IntArray | None, rows: IntArray, count: int, say: Callable[[str], None]) -> IntArray | None:
    """The given edges between training rows, renumbered; edges at held-out rows are not used."""
    if edges is None:
        return None
    number = np.full(count, -1)
    number[rows] = np.arange(len(rows))
    kept = number[edges][:, (number[edges] >= 0).all(axis=0)]
    if kept.shape[1] < edges.shape[1]:
        say(f"{edges.shape[1] - kept.shape[1]} given edges end at held-out rows and are not used")
    return kept


def _estimator(target: Target, request: FitRequest) -> Any:
    options = {"random_state": request.seed, **dict(request.parameters)}
    if target.task == "classification":
        return DCMClassifier(unlabelled=None if target.labelled.all() else "", **options)
    return DCMRegressor(unlabelled=None if target.labelled.all() else "nan", **options)


def _metrics(
    estimator: Any,
    target: Target,
    train: tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]],
    X_test: NDArray[np.float64],
    y_test: NDArray[Any],
) -> dict[str, Any]:
    """Held-out scores of the estimator and of two baselines on the same features, and the size of the complex."""
    complex, classes = estimator.complex_, target.task == "classification"
    metrics: dict[str, Any] = {
        "score": "accuracy" if classes else "R2",
        "training_rows": len(train[0]),
        "learned_rows": complex.num_nodes,  # fewer with max_anchors
        "held_out_rows": len(y_test),
        "edges": complex.num_edges,
        "polygons": complex.num_polygons,
        "best_epoch": estimator.best_epoch_,
    }
    if len(y_test) > (0 if classes else 1):
        metrics["held_out"] = {"latopo": float(estimator.score(X_test, y_test))}
        for name, baseline in _baselines(classes).items():
            baseline.fit(train[0][train[2]], train[1][train[2]])
            metrics["held_out"][name] = float(baseline.score(X_test, y_test))
    return metrics


def _baselines(classes: bool) -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if classes:
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        return {"logistic regression": linear, "most frequent class": DummyClassifier()}
    return {"ridge regression": make_pipeline(StandardScaler(), RidgeCV()), "mean": DummyRegressor()}
