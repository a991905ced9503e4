"""The report of a folder that ``latopo fit`` wrote (:mod:`latopo.table.fit_folder`)."""

from pathlib import Path
from typing import Any

import numpy as np

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.report.fitted import fitted_points
from latopo.report.report_data import Baseline, Column, History, Points, ReportData, Score
from latopo.table.fit_folder import read_run_file
from latopo.table.scores import SCORE_NAMES

__all__ = ["read_fit_run"]

_BASELINE_WORDS = {
    "logistic regression": "a linear model on the same columns",
    "ridge regression": "a linear model on the same columns",
    "latopo without the unlabelled rows": "the same recipe, from the labelled rows alone",
    "self-training": "a linear model that learns from its own sure guesses",
    "label spreading": "labels that spread over near rows",
    "most frequent class": "always the same answer",
    "mean": "always the mean",
}


def read_fit_run(folder: Path) -> ReportData:
    """Read the folder of a fitted table.

    Three files are optional: ``points.json`` (lists ``target``, ``prediction`` and, for classes, ``probability``, null
    for unknown; ``hidden``, the targets that were hidden for a test), ``columns.json`` (the rows' values) and
    ``history.json`` (one object per epoch).
    """
    settings, metrics, names = (read_run_file(folder, f"{name}.json") for name in ("run", "metrics", "anchors"))
    epochs, points, table = (
        read_run_file(folder, f"{name}.json") if (folder / f"{name}.json").is_file() else None
        for name in ("history", "points", "columns")
    )
    names, has_classes = tuple(map(str, names)), settings["task"] == "classification"
    confusion = metrics.get("confusion") or {"classes": []}
    classes = confusion["classes"]
    known: Points | None = None
    if points is not None:
        known = fitted_points(
            points["target"], points["prediction"], names, has_classes, classes, points.get("hidden"),
            points.get("probability"), tuple(Column(item["name"], tuple(item["values"])) for item in table or ()),
        )  # fmt: skip
    elif has_classes:
        known = Points(np.full(len(names), -1), tuple(map(str, classes)) or ("unknown",), names)
    history: History = {name: [epoch[name] for epoch in epochs] for name in epochs[0]} if epochs else {}
    return ReportData(
        title=f"Predicting {settings['target']}",
        story=_story(settings["target"], metrics),
        score=_score(metrics),
        points=known,
        snapshots=(Snapshot(CellComplex.load(folder / "complex.safetensors"), title="Fitted complex"),),
        histories={"fit": history} if history else {},
        confusion=np.array(confusion["matrix"], np.int64) if classes else None,
        settings={
            name: value for name, value in {**settings, **metrics}.items() if not isinstance(value, dict | list | None)
        },
        notes=_notes(points),
    )


def _notes(points: dict[str, Any] | None) -> tuple[str, ...]:
    if points is None or "hidden" not in points:
        return ()
    return ("The hidden labels are used here to judge the predictions and the structure. The model never saw them.",)


def _story(target: str, metrics: dict[str, Any]) -> tuple[str, ...]:
    rows, held_out = metrics["training_rows"], metrics["held_out_rows"]
    learned = metrics.get("learned_rows") or rows
    source = f"a table with {rows:,} rows" if learned == rows else f"{learned:,} of a table's {rows:,} training rows"
    more = {0: "No rows were", 1: "One more row was"}.get(held_out, f"Another {held_out:,} rows were")
    told = [f"From {source}, the model learned to predict the column {target} and which rows belong together."]
    labelled = metrics.get("labelled_rows") or rows
    if labelled < rows:
        told.append(f"Only {labelled:,} of the rows came with a label: the outlined points below.")
    hidden = metrics.get("labels_hidden", False)
    told.append(
        f"The labels of {held_out:,} rows were hidden, to test it." if hidden else f"{more} held out to test it."
    )
    return tuple(told)


def _score(metrics: dict[str, Any]) -> Score | None:
    scores = metrics.get("held_out")
    if not scores:
        return None
    others = {name: value for name, value in scores.items() if name != "latopo"}
    baselines = tuple(Baseline(name, value, _BASELINE_WORDS.get(name, "")) for name, value in others.items())
    metric = "accuracy" if metrics["score"] == "accuracy" else "r2"
    kind = "rows whose label was hidden" if metrics.get("labels_hidden") else "held-out rows"
    more = {
        model: {SCORE_NAMES.get(name, name): value for name, value in found.items() if name != metrics["score"]}
        for model, found in (metrics.get("held_out_scores") or {}).items()
    }
    return Score(scores["latopo"], metric, f"{metrics['held_out_rows']:,} {kind}", None, baselines, more)
