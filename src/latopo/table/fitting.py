"""From a table to a fitted run: split, fit, score beside baselines."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.table.columns import parse_cells, read_cells
from latopo.table.few_labels import WITHOUT, hide_labels, semi_supervised_answers
from latopo.table.fit_folder import FittedRun
from latopo.table.kept_columns import KeptColumn, check_size, keep_columns
from latopo.table.preprocessing import Preprocessing
from latopo.table.reading import read_edges, read_ids
from latopo.table.scores import measure_fit
from latopo.table.target import Target, read_target

__all__ = ["FitRequest", "FitResult", "fit_table"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class FitRequest:
    """What is to be fitted, and how."""

    target: str  # column to predict
    task: str = "auto"  # or "classification", "regression"
    drop: tuple[str, ...] = ()  # columns to leave out
    categorical: tuple[str, ...] = ()  # columns to take as categories, whatever they look like
    id_column: str | None = None  # names the rows
    graph: Path | None = None  # file of a given graph
    encoding: str | None = None  # of text files
    test_fraction: float = 0.2  # of the labelled rows, held out and scored
    seed: int = 0
    labels: int | None = None  # so many per class are kept, and the others hidden and scored
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the estimator
    weight_column: str | None = None  # how much each training row counts
    class_weight: str | None = None  # or "balanced"
    keep_columns: bool = False  # whether the run holds the values of its rows


class FitResult(NamedTuple):
    """A fitted run, its scores, and what is known of the rows in its complex."""

    run: FittedRun
    metrics: dict[str, Any]
    targets: list[Any]  # None where there is none
    hidden: list[Any] | None = None  # targets that were hidden for a test, None elsewhere
    columns: list[KeptColumn] | None = None  # if they are to be kept


def fit_table(frame: pd.DataFrame, request: FitRequest, say: Callable[[str], None]) -> FitResult:
    """Fit an estimator to a table; what is decided on the way goes to ``say``, one line at a time.

    Raises:
        LatopoError: the table or the request cannot be used.
    """
    _check(frame, request)
    ids = read_ids(frame, request.id_column)
    target = read_target(frame[request.target], request.task)
    edges = None if request.graph is None else read_edges(request.graph, ids, request.encoding)
    truth = target.values
    if request.labels is None:
        train, test = _split(target, request.test_fraction, request.seed)
    else:
        target, test = hide_labels(target, request.labels, request.seed)
        train = np.arange(len(frame))
    # All cells are checked before the training; medians and categories of held-out rows would be a look at the test.
    others = {request.target, request.id_column, request.weight_column, *request.drop} - {None}
    features = frame.drop(columns=others)
    if request.keep_columns:
        check_size(features)
    weights = _weights(frame, request.weight_column)
    preprocessing = Preprocessing.fit(features, request.categorical, train)
    for line in _summary(len(frame), preprocessing, target):
        say(line)
    X, _ = preprocessing.transform(frame.iloc[train])
    X_test, notes = preprocessing.transform(frame.iloc[test])
    for note in notes:
        say(f"held-out rows: {note}")
    estimator = _estimator(target, request)
    labelled = target.labelled[train]
    seen = np.where(labelled, target.values[train], "" if target.task == "classification" else np.nan)
    given = _edges_between(edges, train, say)
    estimator.fit(X, seen, given, None if weights is None else weights[train])
    answers = {}
    if len(test) and target.task == "classification" and not labelled.all():
        alone = clone(estimator).set_params(unlabelled=None, model="alpha-diffusion", verbose=0)
        answers = semi_supervised_answers(alone, X, seen, labelled, X_test)
        if request.labels is not None:  # the test rows are part of the complex
            answers["latopo"] = estimator.label_distributions_[test]
    metrics = measure_fit(estimator, len(train), (X[labelled], seen[labelled]), (X_test, truth[test]), answers)
    metrics |= {"labelled_rows": int(labelled.sum()), "labels_hidden": request.labels is not None}
    if answers:
        say(_brought(metrics["held_out"], int((~labelled).sum())))
    settings = {"target": request.target, "task": target.task, "id_column": request.id_column, "seed": request.seed}
    rows = train[estimator.anchor_rows_]
    known = pd.Series(target.values, dtype=object).where(target.labelled, None)
    hidden = (
        None if request.labels is None else pd.Series(truth, dtype=object).where(np.isin(range(len(truth)), test), None)
    )
    return FitResult(
        FittedRun(settings, preprocessing, estimator, [ids[row] for row in rows]),
        metrics,
        known[rows].tolist(),
        None if hidden is None else hidden[rows].tolist(),
        keep_columns(features.iloc[rows]) if request.keep_columns else None,
    )


def _brought(scores: Mapping[str, float], unlabelled: int) -> str:
    """What the unlabelled rows were good for, in a line."""
    points = 100 * (scores["latopo"] - scores[WITHOUT])
    return (
        f"the {unlabelled:,} rows without a label brought {points:+.1f} points: {scores['latopo']:.3f} with them, "
        f"{scores[WITHOUT]:.3f} without".replace("-", "−", 1 if points < 0 else 0)
    )


def _check(frame: pd.DataFrame, request: FitRequest) -> None:
    named: dict[str, Iterable[str]] = {
        "--target": [request.target],
        "--drop": request.drop,
        "--categorical": request.categorical,
        "--id": [] if request.id_column is None else [request.id_column],
        "--weight": [] if request.weight_column is None else [request.weight_column],
    }
    for option, names in named.items():
        for name in names:
            if name not in frame.columns:
                known = ", ".join(map(repr, frame.columns[:20]))
                raise LatopoError(f"{option} {name!r}: there is no such column; the table has {known}")
            if name == request.target and option != "--target":
                raise LatopoError(f"{option} {name!r}: this column is the target; name another, or none")
    if len(frame) < 10:
        raise LatopoError(f"the table has {len(frame)} rows, expected at least 10 to learn from and to test on")
    if not 0 <= request.test_fraction < 0.9:
        raise LatopoError(f"--test-fraction must be at least 0 and below 0.9, got {request.test_fraction}")


def _split(target: Target, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows to fit on (labelled or not) and labelled rows to test on, classes in equal shares."""
    labelled = np.flatnonzero(target.labelled)
    if fraction == 0:
        return np.arange(len(target.labelled)), labelled[:0]
    from sklearn.model_selection import train_test_split

    groups = target.values[labelled] if target.task == "classification" else None
    size = max(round(fraction * len(labelled)), 1 if groups is None else len(np.unique(groups)))
    try:
        learned, test = train_test_split(labelled, test_size=size, random_state=seed, stratify=groups)
    except ValueError as error:
        raise LatopoError(
            f"--test-fraction {fraction} holds out {size} of {len(labelled)} labelled rows, which leaves too few to "
            f"learn from ({error}); hold out fewer"
        ) from error
    lost = [] if groups is None else np.setdiff1d(target.values[test], target.values[learned]).tolist()
    if lost:
        raise LatopoError(
            f"--test-fraction {fraction} leaves no row of the class {lost[0]!r} to learn from; hold out fewer"
        )
    return np.setdiff1d(np.arange(len(target.labelled)), test), np.sort(test)


def _summary(num_rows: int, preprocessing: Preprocessing, target: Target) -> Iterable[str]:
    columns = preprocessing.columns
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(column.kind for column in columns).items())
    yield f"{num_rows:,} rows; columns: {kinds}; {len(preprocessing.feature_names):,} features"
    for column in columns[:20]:
        name = column.name if column.name.isprintable() else repr(column.name)  # no control codes to a terminal
        values = ", ".join("missing" if value is None else repr(value) for value in column.values[:5])
        yield f"  {name}: {column.kind}" + (f" ({values})" if values else "")
    if len(columns) > 20:
        yield f"  … and {len(columns) - 20} more columns"
    yield from [*preprocessing.notes, *target.notes]


def _edges_between(edges: IntArray | None, rows: IntArray, say: Callable[[str], None]) -> IntArray | None:
    """The given edges between training rows, renumbered; edges at held-out rows are not used."""
    if edges is None:
        return None
    inside = np.isin(edges, rows).all(axis=0)
    if not inside.all():
        say(f"{(~inside).sum()} given edges end at held-out rows and are not used")
    return np.searchsorted(rows, edges[:, inside])


def _weights(frame: pd.DataFrame, name: str | None) -> NDArray[np.float64] | None:
    if name is None:
        return None
    weights = parse_cells(name, "number", read_cells(frame[name]))
    bad = ~(weights >= 0)  # NaN, too
    if bad.any():
        raise LatopoError(f"--weight {name!r}: row {bad.argmax() + 1} has no weight of at least 0")
    return weights


def _estimator(target: Target, request: FitRequest) -> Any:
    kind, no_label = (DCMClassifier, "") if target.task == "classification" else (DCMRegressor, "nan")
    unlabelled = None if target.labelled.all() else no_label
    balance: dict[str, Any] = {}
    if request.class_weight is not None:
        if target.task != "classification" or request.class_weight != "balanced":
            raise LatopoError("--class-weight must be balanced, and is for classes; --weight names a column of weights")
        balance = {"class_weight": "balanced"}
    return kind(unlabelled=unlabelled, random_state=request.seed, **balance, **request.parameters)
