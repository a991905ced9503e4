"""Which classes are taken for which."""

from typing import Any, NamedTuple

import numpy as np

from latopo.report.report_data import TEST, TRAIN, IntArray, Points, ReportData

__all__ = ["Confusion", "confusion_matrix", "find_confusion"]

_MOST_CLASSES = 30


class Confusion(NamedTuple):
    """A confusion matrix and what to say about it."""

    matrix: IntArray  # [classes, classes], true by predicted; the most frequent classes if there are many
    names: tuple[str, ...]  # of these classes
    correct: int  # points, over all classes
    total: int
    kind: str  # the points it counts: "test", "training" or neither

    def recall(self, code: int) -> float | None:
        """Share of the points of a class that were predicted as such; None if there are none."""
        return _share(self.matrix[code, code], self.matrix[code].sum())

    def precision(self, code: int) -> float | None:
        """Share of the points predicted as a class that belong to it; None if there are none."""
        return _share(self.matrix[code, code], self.matrix[:, code].sum())


def _share(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


def confusion_matrix(points: Points) -> IntArray | None:
    """True class by predicted class, [classes, classes]: of the test points, or of all if none is a test point."""
    if points.is_quantity or points.predictions is None:
        return None
    chosen = (points.labels >= 0) & (points.predictions >= 0)
    if points.roles is not None and (points.roles == TEST).any():
        chosen &= points.roles == TEST
    size = len(points.class_names)
    pairs = points.labels[chosen] * size + points.predictions[chosen]
    return np.bincount(pairs, minlength=size * size).reshape(size, size).astype(np.int64)


def find_confusion(data: ReportData) -> Confusion | None:
    """The confusion matrix of a run; None if there are no predicted classes."""
    points = data.points
    if points is None:
        return None
    matrix = data.confusion if data.confusion is not None else confusion_matrix(points)
    if matrix is None or not matrix.any():
        return None
    correct, total, names = int(matrix.trace()), int(matrix.sum()), data.class_names
    if len(names) > _MOST_CLASSES:
        order = np.argsort(-matrix.sum(axis=1), kind="stable")[:_MOST_CLASSES]
        matrix, names = matrix[np.ix_(order, order)], tuple(names[code] for code in order)
    return Confusion(matrix, names, correct, total, _kind(data, points))


def _kind(data: ReportData, points: Points) -> str:
    if data.confusion is not None or (points.roles is not None and (points.roles == TEST).any()):
        return "test"
    if points.roles is not None and (points.roles[points.labels >= 0] == TRAIN).all():
        return "training"
    return ""
