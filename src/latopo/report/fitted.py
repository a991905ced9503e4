"""The points of a fitted table, and the report of a fitted estimator from Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report.report_data import TEST, TRAIN, Column, Points, ReportData
from latopo.table.kept_columns import keep_columns

__all__ = ["describe_fit", "fitted_points"]


def describe_fit(
    estimator: Any,
    y: ArrayLike,
    title: str = "A fitted table",
    *,
    columns: pd.DataFrame | None = None,
    names: Sequence[Any] | None = None,
) -> ReportData:
    """The data of a report on a fitted ``DCMClassifier`` or ``DCMRegressor``, for :func:`~latopo.report.write_report`.

    Args:
        estimator: fitted, and not loaded from a file, which does not hold its predictions.
        y: the targets that it was fitted to.
        title: heading of the page.
        columns: the table as people know it, a row for each entry of ``y``: the page shows the values of a chosen
            point and its neighbours, and what the members of a polygon have in common. Whoever gets the page can then
            read these rows.
        names: what to call the rows; by default the index of ``columns``, or their numbers.

    Example:
        >>> from latopo.estimators import DCMClassifier
        >>> frame = pd.DataFrame({"size": [1.0, 1.1, 1.2, 5.0, 5.1, 5.2] * 3, "age": range(18)})
        >>> classes = ["small"] * 3 + ["large"] * 3
        >>> fitted = DCMClassifier(max_epochs=5, random_state=0).fit(frame, classes * 3)
        >>> describe_fit(fitted, classes * 3, columns=frame).points.columns[0].values[:3]
        (1.0, 1.1, 1.2)
    """
    check_is_fitted(estimator, "transduction_")
    targets, rows = np.asarray(y), estimator.anchor_rows_
    if names is None:
        names = range(len(targets)) if columns is None else columns.index.tolist()
    for what, given in (("y", targets), ("columns", columns), ("names", names)):
        if given is not None and len(given) != len(estimator.transduction_):
            expected = f"{len(estimator.transduction_)} rows were fitted"
            raise LatopoError(f"describe_fit: {what} has {len(given)} entries, but {expected}; give those of the fit")
    kept = [] if columns is None else keep_columns(columns.iloc[rows])
    history = estimator.history_
    return ReportData(
        title=title,
        story=(f"From {len(targets):,} rows, the model learned to predict the target and which rows belong together.",),
        points=fitted_points(
            [
                None if value in (estimator.unlabelled, None) or value != value else value
                for value in targets[rows].tolist()
            ],
            estimator.transduction_[rows].tolist(),
            [str(names[row]) for row in rows],
            hasattr(estimator, "classes_"),
            columns=tuple(Column(name, tuple(values)) for name, values in kept),
        ),
        snapshots=(Snapshot(estimator.complex_, title="Fitted complex"),),
        histories={"fit": {name: [epoch[name] for epoch in history] for name in history[0]}} if history else {},
        settings={name: value for name, value in estimator.get_params().items() if value is not None},
        notes=("No rows were held out, so nothing here tells how good it is on new ones.",),
    )


def fitted_points(
    targets: Sequence[Any],
    predictions: Sequence[Any],
    names: Sequence[str],
    has_classes: bool,
    classes: Sequence[Any] = (),
    hidden: Sequence[Any] | None = None,
    probability: Sequence[float | None] | None = None,
    columns: tuple[Column, ...] = (),
) -> Points:
    """What is known of the rows in a fitted complex.

    Args:
        targets: classes or values, None for none.
        predictions: for each row.
        names: what to call them.
        has_classes: whether targets are classes.
        classes: in order; by default those that occur, sorted.
        hidden: classes that were hidden for a test, None elsewhere.
        probability: of the predicted class.
        columns: of the table.
    """
    if not has_classes:
        values, guesses = np.array(targets, np.float64), np.array(predictions, np.float64)
        known = ~np.isnan(values)
        return Points(values, (), tuple(names), guesses, labelled=None if known.all() else known, columns=columns)
    hidden = [None] * len(targets) if hidden is None else hidden
    classes = classes or sorted({*targets, *predictions, *hidden} - {None})
    code: dict[Any, int] = {None: -1, **{name: number for number, name in enumerate(classes)}}
    labels, guesses, truth = (np.array([code[cell] for cell in cells]) for cells in (targets, predictions, hidden))
    known = labels >= 0
    return Points(
        labels=np.where(known, labels, truth),
        class_names=tuple(map(str, classes)),
        names=tuple(names),
        predictions=guesses,
        confidence=None if probability is None else np.array(probability, np.float64),
        # Rows that were held out are not in the complex, but those whose label was hidden are.
        roles=np.where(known, TRAIN, np.where(truth >= 0, TEST, -1)),
        labelled=None if known.all() else known,
        columns=columns,
    )
