"""Few labels in a table: a rehearsal that hides labels, and what the rows without one brought."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latopo.errors import LatopoError
from latopo.table.target import Target

__all__ = ["hide_labels", "semi_supervised_answers"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

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
            raise LatopoError(
                f"--labels {per_class}: the class {str(label)!r} has only {len(rows)} rows; keep fewer labels"
            )
        kept[random.permutation(rows)[:per_class]] = True
    hidden = np.flatnonzero(target.labelled & ~kept)
    note = f"{kept.sum()} labels are kept, {per_class} per class, and {len(hidden)} hidden: they are the test"
    return target._replace(labelled=kept, notes=[*target.notes, note]), hidden


def semi_supervised_answers(
    alone: Any, X: FloatArray, values: NDArray[Any], labelled: NDArray[np.bool_], X_test: FloatArray
) -> dict[str, FloatArray]:
    """What else there is for few labels, on standardised features: each model's probabilities, [test rows, classes].

    Args:
        alone: an estimator that is to see the labelled rows only.
        X, values, labelled: the training rows, with a class or without.
        X_test: the rows to answer.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    y = np.full(len(values), -1)
    y[labelled] = np.unique(values[labelled], return_inverse=True)[1]
    models = {
        "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=min(7, len(X) - 1), max_iter=100),
    }
    answers = {WITHOUT: alone.fit(X[labelled], values[labelled]).predict_proba(X_test)}
    with np.errstate(invalid="ignore"):
        for name, model in models.items():
            answers[name] = _any_class(make_pipeline(StandardScaler(), model).fit(X, y).predict_proba(X_test))
    return answers


def _any_class(probabilities: FloatArray) -> FloatArray:
    """Rows that no label spread to have 0 / 0 for each class: none is likelier than another."""
    lost = ~np.isfinite(probabilities).all(axis=1, keepdims=True)
    return np.where(lost, 1 / probabilities.shape[1], probabilities)
