"""Curves over the epochs, as plain descriptions for the page's script."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from latopo.report.report_data import History

__all__ = ["describe_charts"]

_Curve = dict[float, float]


class _Chart(NamedTuple):
    """``columns``: column of a history → name of its line."""

    title: str
    explanation: str
    columns: dict[str, str]
    percent: bool = False
    from_zero: bool = False


_CHARTS = (
    _Chart(
        "Loss",
        "What training minimises: the error of the predictions and, for models that have them, the two terms that "
        "reward edges and polygons for correct predictions.",
        {"loss": "total", "task_loss": "predictions", "edge_loss": "edges", "polygon_loss": "polygons"},
    ),
    _Chart(
        "Score",
        "Accuracy (or R²) on the points the model learns from and on those that choose the best epoch, if these are "
        "others.",
        {"train_score": "training points", "selection_score": "selection points", "test_score": "test points"},
        percent=True,
    ),
    _Chart(
        "Edges that agree with the classes",
        "Homophily: the share of edges between training points that join two of the same class.",
        {"train_homophily": "training points"},
        percent=True,
        from_zero=True,
    ),
    _Chart(
        "Polygons kept",
        "Share of the candidate rings that became polygons.",
        {"kept_share": "kept"},
        percent=True,
        from_zero=True,
    ),
    _Chart("Neighbours", "Mean number of edges per point.", {"mean_degree": "mean degree"}, from_zero=True),
    _Chart("Cells", "Size of the complex.", {"num_edges": "edges", "num_polygons": "polygons"}, from_zero=True),
    _Chart(
        "Sparsity α",
        "The exponent of entmax: 1 gives every cell some probability, larger values leave more out.",
        {"alpha": "edges", "polygon_alpha": "polygons"},
    ),
    _Chart(
        "Gain γ of the edges",
        "How strongly similar points are preferred: the larger the gain, the fewer the neighbours.",
        {"gain": "edges"},
    ),
    _Chart(
        "Gain γ of the polygons", "The same for polygons: the larger, the fewer polygons.", {"polygon_gain": "polygons"}
    ),
    _Chart(
        "Weights of the parts",
        "How much of the prediction comes from each part, found out on training points set aside for this.",
        {"weight_own": "own features", "weight_given": "given graph", "weight_latent": "inferred complex"},
        percent=True,
        from_zero=True,
    ),
)


def describe_charts(runs: Sequence[Mapping[str, History]], metric: str = "accuracy") -> list[dict[str, Any]]:
    """One description per chart that has something to show: a line of two epochs at least.

    Each run is a mapping from the name of a fold to its history. With several folds the mean is drawn boldly and each
    fold faintly; a second run is dashed.
    """
    charts = []
    for chart in _CHARTS:
        percent = chart.percent and not (metric == "r2" and "train_score" in chart.columns)
        series = [
            {**line, "color": color, "dash": number > 0}
            for color, (column, name) in enumerate(_columns(chart, runs).items())
            for number, run in enumerate(runs)
            for line in _lines(name if len(runs) == 1 else f"{name}, run {'AB'[number]}", run, column, percent)
        ]
        if any(len(line["x"]) > 1 for line in series):
            about = {"title": chart.title, "explanation": chart.explanation}
            charts.append({**about, "percent": percent, "fromZero": chart.from_zero, "series": series})
    return charts


def _columns(chart: _Chart, runs: Sequence[Mapping[str, History]]) -> dict[str, str]:
    """The chart's columns; where two have the same values everywhere, one line is enough.

    Without a reward the loss is the predictions' error (and what parts of the model add for themselves).
    """
    histories = [history for run in runs for history in run.values()]
    rewarded = any(_measured(history, column) for history in histories for column in ("edge_loss", "polygon_loss"))
    distinct: dict[str, list[_Curve]] = {}
    for column in chart.columns:
        curves = [_measured(history, column) for history in histories]
        if (rewarded or column != "task_loss") and curves not in distinct.values():
            distinct[column] = curves
    return {column: chart.columns[column] for column in distinct}


def _lines(name: str, run: Mapping[str, History], column: str, percent: bool) -> list[dict[str, Any]]:
    curves = {fold: curve for fold, history in run.items() if (curve := _measured(history, column))}
    if len(curves) < 2:
        return [_line(name, curve, percent) for curve in curves.values()]
    folds = [_line(f"{name}, {fold}", curve, percent, faint=True) for fold, curve in curves.items()]
    return [*folds, _line(f"{name}, mean", _mean(list(curves.values())), percent)]


def _line(name: str, curve: _Curve, percent: bool, faint: bool = False) -> dict[str, Any]:
    y = [float(f"{100 * value if percent else value:.5g}") for value in curve.values()]  # the page stays small
    return {"name": name, "x": list(curve), "y": y, "faint": faint}


def _measured(history: History, column: str) -> _Curve:
    pairs = zip(history.get("epoch", ()), history.get(column, ()), strict=False)
    return {epoch: value for epoch, value in pairs if epoch is not None and value is not None and math.isfinite(value)}


def _mean(curves: Sequence[_Curve]) -> _Curve:
    """Mean at the epochs that all of them have: a mean over changing folds would jump."""
    common = set.intersection(*(set(curve) for curve in curves))
    return {epoch: fmean(curve[epoch] for curve in curves) for epoch in sorted(common)}
