"""Curves over the epochs, as plain descriptions that the page's script gives to plotly."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeGuard

from latopo.report.data import History

__all__ = ["describe_charts"]

_Curve = dict[float, float]
_REWARDS = ("edge_loss", "polygon_loss")


@dataclass(frozen=True)
class _Chart:
    title: str
    explanation: str
    columns: dict[str, str]
    percent: bool = False
    from_zero: bool = False


@dataclass(frozen=True)
class _Look:
    name: str
    color: int
    dash: bool
    percent: bool

    @property
    def scale(self) -> float:
        return 100.0 if self.percent else 1.0

    def line(self, points: _Curve, fold: str = "", mean: bool = False) -> dict[str, Any]:
        name = ", ".join(filter(None, [self.name, fold, "mean" if mean else ""]))
        y = [float(f"{value:.5g}") for value in points.values()]
        return {"name": name, "x": list(points), "y": y, "color": self.color, "faint": bool(fold), "dash": self.dash}


_CHARTS = (
    _Chart(
        "Loss",
        "What the training makes small: the error of the predictions, and where there are any, the two parts that "
        "reward edges and polygons for right predictions.",
        {"loss": "whole", "task_loss": "predictions", "edge_loss": "edges", "polygon_loss": "polygons"},
    ),
    _Chart(
        "Score",
        "Accuracy (or R²) on the points it learns from, and on those that choose the best epoch.",
        {"train_score": "training points", "selection_score": "selection points", "test_score": "test points"},
        percent=True,
    ),
    _Chart(
        "Edges that agree with the classes",
        "Homophily: the share of edges between two training points of one class.",
        {"train_homophily": "training points"},
        percent=True,
        from_zero=True,
    ),
    _Chart(
        "Polygons kept",
        "Share of the candidate cycles that became polygons.",
        {"kept_share": "kept"},
        percent=True,
        from_zero=True,
    ),
    _Chart("Neighbours", "Mean number of edges at a point.", {"mean_degree": "mean degree"}, from_zero=True),
    _Chart("Cells", "Size of the complex.", {"num_edges": "edges", "num_polygons": "polygons"}, from_zero=True),
    _Chart(
        "Sparsity α",
        "Entmax's exponent: 1 gives everything some probability, larger values leave more out.",
        {"alpha": "edges", "polygon_alpha": "polygons"},
    ),
    _Chart(
        "Gain γ of the edges",
        "How sharply similar points are preferred: the larger, the fewer neighbours.",
        {"gain": "edges"},
    ),
    _Chart(
        "Gain γ of the polygons",
        "The same for polygons: the larger, the fewer polygons.",
        {"polygon_gain": "polygons"},
    ),
    _Chart(
        "Trust",
        "How much of the prediction comes from each part, by the judgement of training points kept for that.",
        {"trust_own": "own features", "trust_given": "given graph", "trust_complex": "inferred complex"},
        percent=True,
        from_zero=True,
    ),
)


def describe_charts(runs: Sequence[Mapping[str, History]], metric: str = "accuracy") -> list[dict[str, Any]]:
    """One description per chart that has something to show.

    Each run is a mapping from the name of a fold to its history. Of several folds the mean is drawn boldly and each
    one faintly; a second run is dashed.

    Example:
        >>> [chart] = describe_charts([{"fold 0": {"epoch": [1, 2], "loss": [0.5, None]}}])
        >>> chart["series"]
        [{'name': 'whole', 'x': [1], 'y': [0.5], 'color': 0, 'faint': False, 'dash': False}]
    """
    charts = []
    for chart in _CHARTS:
        percent = chart.percent and not (metric == "r2" and "train_score" in chart.columns)
        series = [
            line
            for color, (column, name) in enumerate(_columns(chart, runs).items())
            for number, run in enumerate(runs)
            for line in _lines(run, column, _Look(_series_name(name, number, len(runs)), color, number > 0, percent))
        ]
        if series:
            about = {"title": chart.title, "explanation": chart.explanation}
            charts.append({**about, "percent": percent, "fromZero": chart.from_zero, "series": series})
    return charts


def _columns(chart: _Chart, runs: Sequence[Mapping[str, History]]) -> dict[str, str]:
    """The chart's columns; without a reward the loss is the predictions' error alone, and one line is enough."""
    histories = [history for run in runs for history in run.values()]
    if any(_measured(history, column, 1.0) for history in histories for column in _REWARDS):
        return chart.columns
    return {column: name for column, name in chart.columns.items() if column != "task_loss"}


def _series_name(name: str, run: int, runs: int) -> str:
    return name if runs == 1 else f"{name}, run {'AB'[run]}"


def _lines(run: Mapping[str, History], column: str, look: _Look) -> Iterable[dict[str, Any]]:
    curves = {fold: points for fold, history in run.items() if (points := _measured(history, column, look.scale))}
    if len(curves) > 1:
        yield from (look.line(points, fold) for fold, points in curves.items())
    if curves:
        yield look.line(_mean(list(curves.values())), mean=len(curves) > 1)


def _measured(history: History, column: str, scale: float) -> _Curve:
    pairs = zip(history.get("epoch", ()), history.get(column, ()), strict=False)
    return {epoch: scale * value for epoch, value in pairs if epoch is not None and _is_number(value)}


def _is_number(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _mean(curves: Sequence[_Curve]) -> _Curve:
    """Mean at the epochs that all of them have: a mean over changing folds would jump."""
    common = set.intersection(*(set(curve) for curve in curves))
    return {epoch: fmean(curve[epoch] for curve in curves) for epoch in sorted(common)}
