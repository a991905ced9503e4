"""Scores on held-out rows: of the fitted model, and of two baselines on the same features."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo.estimators import DCMClassifier
from latopo.estimators.regressor import target_unit

__all__ = ["SCORE_NAMES", "measure_fit", "score_lines"]

# Names in metrics.json → in words; the first of a task is the score.
SCORE_NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "R2": "R2",
    "mean_absolute_error": "mean absolute error",
    "root_mean_squared_error": "root mean squared error",
}
_MOST_CLASSES = 10


class Rows(NamedTuple):
    """Features and targets."""

    x: Any
    y: Any


def measure_fit(
    estimator: Any,
    training_rows: int,
    train: Sequence[Any],
    test: Sequence[Any],
    answers: Mapping[str, NDArray[np.float64]] | None = None,
) -> dict[str, Any]:
    """What ``metrics.json`` holds: scores on held-out rows, beside two baselines, and the size of the complex.

    Args:
        estimator: fitted on the training rows.
        training_rows: how many these were, with those without a target.
        train: features and targets of the training rows that have one; the baselines learn from them, all alike.
        test: those of the held-out rows. Without any, or with one row for R2, there are no scores.
        answers: other models' probabilities for these rows, scored as well; those of ``"latopo"`` take the place of the
            estimator's answers to rows that join its complex.
    """
    has_classes, cx, held_out = isinstance(estimator, DCMClassifier), estimator.complex_, Rows(*test)
    metrics: dict[str, Any] = {
        "score": "accuracy" if has_classes else "R2",
        "training_rows": training_rows,
        "learned_rows": cx.num_nodes,  # fewer with max_anchors, and where rows are equal
        **estimator._left_out,
        "held_out_rows": len(held_out.y),
        "edges": cx.num_edges,
        "polygons": cx.num_polygons,
        "best_epoch": estimator.best_epoch_,
        "max_anchors": estimator.max_anchors,
        "neighbors": None if (found := estimator._model.search_report()) is None else str(found),
    }
    if len(held_out.y) <= (0 if has_classes else 1):
        return metrics
    if has_classes:
        found = _all_answers(estimator, train, held_out.x, answers or {})
        metrics |= _confusion(found["latopo"], held_out.y, estimator.classes_)
        scores = {name: _class_scores(guesses, held_out.y, estimator.classes_) for name, guesses in found.items()}
    else:
        scores = _value_scores(estimator, train, held_out)
    metrics["held_out"] = {name: values[metrics["score"]] for name, values in scores.items()}
    return {**metrics, "held_out_scores": scores}


def _all_answers(
    estimator: Any, train: Sequence[Any], x: NDArray[np.float64], answers: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Probabilities of the rows x by the estimator, the models that have answered, and the baselines."""
    baselines = _baselines(has_classes=True).items()
    own = answers["latopo"] if "latopo" in answers else estimator.predict_proba(x)
    learned = {name: model.fit(_bounded(train[0]), train[1]).predict_proba(_bounded(x)) for name, model in baselines}
    return {"latopo": own, **{name: found for name, found in answers.items() if name != "latopo"}, **learned}


def _class_scores(probabilities: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> dict[str, float]:
    """Scores of the probabilities [N, classes] that rows of the classes y [N] were given."""
    from sklearn.metrics import log_loss, recall_score

    guess = classes[probabilities.argmax(axis=1)]
    # Not balanced_accuracy_score: it warns if a class is predicted that no held-out row has.
    recall = recall_score(y, guess, labels=np.unique(y), average="macro", zero_division=0)
    return {
        "accuracy": float((guess == y).mean()),
        "balanced_accuracy": float(recall),
        "log_loss": float(log_loss(y, probabilities, labels=classes)),
    }


def _value_scores(estimator: Any, train: Sequence[Any], test: Rows) -> dict[str, dict[str, float]]:
    """Measured in units in which the squares of the target stay within float64."""
    from sklearn.metrics import r2_score

    unit = target_unit(np.concatenate([train[1], test.y]))
    guesses = {"latopo": estimator.predict(test.x) / unit}
    for name, model in _baselines(has_classes=False).items():
        guesses[name] = model.fit(_bounded(train[0]), train[1] / unit).predict(_bounded(test.x))
    scores = {}
    for name, guess in guesses.items():
        guess = _bounded(guess)  # a line through training rows goes far, where a held-out row is far off
        error = guess - test.y / unit
        scores[name] = {
            "R2": float(r2_score(test.y / unit, guess)),
            "mean_absolute_error": _in_units(np.abs(error).mean(), unit),
            "root_mean_squared_error": _in_units(np.sqrt(np.square(error).mean()), unit),
        }
    return scores


def _in_units(error: float, unit: float) -> float:
    """An error in the target's units; at most the largest number."""
    return float(error * unit) if error < sys.float_info.max / max(unit, 1.0) else sys.float_info.max


def _confusion(probabilities: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Which classes are taken for which, and how well each is found."""
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    guess = classes[probabilities.argmax(axis=1)]
    columns = precision_recall_fscore_support(y, guess, labels=classes, zero_division=0)
    named = zip(classes.tolist(), *(column.tolist() for column in columns), strict=True)
    return {
        "confusion": {
            "classes": classes.tolist(),
            "matrix": confusion_matrix(y, guess, labels=classes).tolist(),  # true by predicted
        },
        "per_class": [
            {"class": name, "precision": precision, "recall": recall, "f1": f1, "rows": count}
            for name, precision, recall, f1, count in named
        ],
    }


def _bounded(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers whose squares and their sums stay within float64, as scikit-learn needs."""
    return np.clip(x, -1e140, 1e140)


def _baselines(has_classes: bool) -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if has_classes:
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        return {"logistic regression": linear, "most frequent class": DummyClassifier(strategy="prior")}
    return {"ridge regression": make_pipeline(StandardScaler(), RidgeCV()), "mean": DummyRegressor()}


def score_lines(metrics: dict[str, Any]) -> list[str]:
    """The scores beside the first, and each class, as lines for a terminal.

    Example:
        >>> score_lines({"score": "R2", "held_out_scores": {"latopo": {"R2": 0.5, "mean_absolute_error": 2.0}}})
        ['  mean absolute error: latopo 2']
    """
    scores = metrics.get("held_out_scores", {})
    names = [name for name in scores.get("latopo", ()) if name != metrics["score"]]
    lines = []
    for name in names:
        values = " · ".join(f"{model} {found[name]:.4g}" for model, found in scores.items())
        lines.append(f"  {SCORE_NAMES[name]}: {values}")
    classes = metrics.get("per_class", [])
    for item in classes[:_MOST_CLASSES]:
        label = item["class"] if str(item["class"]).isprintable() else repr(item["class"])
        lines.append(
            f"  class {label} ({item['rows']:,} rows): recall {item['recall']:.3f}, precision {item['precision']:.3f}"
        )
    left = len(classes) - _MOST_CLASSES
    return [*lines, *([f"  … and {left} more classes (metrics.json)"] if left > 0 else [])]
