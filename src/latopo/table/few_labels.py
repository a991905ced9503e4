"""Few labels in a table: a rehearsal that hides labels, and what the rows without one brought."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.target import Target

__all__ = ["hide_labels", "semi_supervised_scores"]

IntArray = NDArray[np.int64]

WITHOUT = "latopo without the unlabelled rows"


def hide_labels(target: Target, per_class: int, seed: int) -> tuple[Target, IntArray]:
    """The target with ``per_class`` labels of each class, and the numbers of the rows whose label was hidden.

    Raises:
        LatopoError: it has no classes, or a class has no label to hide.
    """
    if target.task != "classification":
        raise LatopoError("--labels counts labels per class, and a regression has none; empty some cells of the target")
    random, kept = np.random.RandomState(seed), np.zeros(len(target.labelled), bool)
    for label in np.unique(target.values[target.labelled]):
        rows = np.flatnonzero(target.labelled & (target.values == label))
        if len(rows) <= per_class:
            raise LatopoError(f"--labels {per_class}: the class {label!r} has only {len(rows)} rows; keep fewer labels")
        kept[random.permutation(rows)[:per_class]] = True
    hidden = np.flatnonzero(target.labelled & ~kept)
    note = f"{kept.sum()} labels are kept, {per_class} per class, and {len(hidden)} hidden: they are the test"
    return target._replace(labelled=kept, notes=[*target.notes, note]), hidden


def semi_supervised_scores(
    alone: Any, X: NDArray[np.float64], values: NDArray[Any], labelled: NDArray[np.bool_], test: tuple[Any, Any]
) -> dict[str, float]:
    """Accuracy on test rows of what else there is for few labels, on standardised features.

    Args:
        alone: an estimator that is to see the labelled rows only.
        X, values, labelled: the training rows, with a class or without.
        test: rows and their classes.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    classes, numbers = np.unique(values[labelled], return_inverse=True)
    y = np.full(len(values), -1)
    y[labelled] = numbers
    X_test, y_test = test[0], np.searchsorted(classes, test[1])
    models: dict[str, Callable[[], Any]] = {
        "self-training": lambda: SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
        "label spreading": lambda: LabelSpreading(kernel="knn", n_neighbors=min(7, len(X) - 1), max_iter=100),
    }
    scores = {WITHOUT: float(alone.fit(X[labelled], values[labelled]).score(*test))}
    for name, make in models.items():
        scores[name] = float(make_pipeline(StandardScaler(), make()).fit(X, y).score(X_test, y_test))
    return scores
