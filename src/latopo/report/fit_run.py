"""The report of a folder that ``latopo fit`` wrote (:mod:`latopo.table.fit_folder`)."""

from pathlib import Path
from typing import Any

import numpy as np

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.report.report_data import TRAIN, Baseline, History, Points, ReportData, Score
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

    Two files are optional: ``points.json`` (lists ``target``, ``prediction`` and, for classes, ``probability``, null
    for unknown) and ``history.json`` (one object per epoch).
    """
    settings, metrics, names = (read_run_file(folder, f"{name}.json") for name in ("run", "metrics", "anchors"))
    epochs, points = (
        read_run_file(folder, name) if (folder / name).is_file() else None for name in ("history.json", "points.json")
    )
    confusion = metrics.get("confusion") or {"classes": []}
    classes = confusion["classes"]
    history: History = {name: [epoch[name] for epoch in epochs] for name in epochs[0]} if epochs else {}
    return ReportData(
        title=f"Predicting {settings['target']}",
        story=_story(settings["target"], metrics),
        score=_score(metrics),
        points=_points(points, tuple(map(str, names)), settings["task"] == "classification", classes),
        snapshots=(Snapshot(CellComplex.load(folder / "complex.safetensors"), title="Fitted complex"),),
        histories={"fit": history} if history else {},
        confusion=np.array(confusion["matrix"], np.int64) if classes else None,
        settings={**settings, **{name: value for name, value in metrics.items() if not isinstance(value, dict)}},
    )


def _points(
    content: dict[str, Any] | None, names: tuple[str, ...], has_classes: bool, classes: list[str]
) -> Points | None:
    if content is None:
        return Points(np.full(len(names), -1), tuple(classes) or ("unknown",), names) if has_classes else None
    if not has_classes:
        values, guesses = (np.array(content[name], np.float64) for name in ("target", "prediction"))
        return Points(values, names=names, predictions=guesses)
    classes = classes or sorted({*content["target"], *content["prediction"]} - {None})
    code: dict[str | None, int] = {None: -1, **{name: number for number, name in enumerate(classes)}}
    labels, guesses = (np.array([code[cell] for cell in content[name]]) for name in ("target", "prediction"))
    confidence = np.array(content["probability"], np.float64) if "probability" in content else None
    roles = np.where(labels < 0, -1, TRAIN)  # rows that were held out are not in the complex
    return Points(labels, tuple(map(str, classes)), names, guesses, confidence, roles)


def _story(target: str, metrics: dict[str, Any]) -> tuple[str, ...]:
    rows, held_out = metrics["training_rows"], metrics["held_out_rows"]
    learned = metrics.get("learned_rows") or rows
    source = f"a table with {rows:,} rows" if learned == rows else f"{learned:,} of a table's {rows:,} training rows"
    more = {0: "No rows were", 1: "One more row was"}.get(held_out, f"Another {held_out:,} rows were")
    told = [f"From {source}, the model learned to predict the column {target} and which rows belong together."]
    labelled = metrics.get("labelled_rows") or rows
    if labelled < rows:
        told.append(f"Only {labelled:,} of the rows came with a label: the coloured points below.")
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
