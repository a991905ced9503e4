"""The report of a folder that ``latopo fit`` wrote (:mod:`latopo.table.fit_folder`)."""

from pathlib import Path
from typing import Any

import numpy as np

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.report.data import Baseline, History, Points, ReportData, Score
from latopo.report.run_files import read_json

__all__ = ["from_fit_run"]

_BASELINE_WORDS = {
    "logistic regression": "a linear model on the same columns",
    "ridge regression": "a linear model on the same columns",
    "most frequent class": "always the same answer",
    "mean": "always the mean",
}


def from_fit_run(folder: Path) -> ReportData:
    """Read the folder of a fitted table.

    What the rows are and what was predicted for them (``points.json``: lists ``target``, ``prediction`` and, for
    classes, ``probability``, null for unknown) and the epochs (``history.json``: a list of rows) are shown if they are
    there.
    """
    settings, metrics = read_json(folder / "run.json"), read_json(folder / "metrics.json")
    names = tuple(map(str, read_json(folder / "anchors.json")))
    return ReportData(
        title=f"Predicting {settings['target']}",
        story=_story(settings, metrics),
        score=_score(metrics),
        points=_points(folder / "points.json", names, settings["task"] == "classification"),
        snapshots=(Snapshot(CellComplex.load(folder / "complex.safetensors"), title="Fitted complex"),),
        histories=_histories(folder / "history.json"),
        settings={**settings, **{name: value for name, value in metrics.items() if not isinstance(value, dict)}},
    )


def _histories(path: Path) -> dict[str, History]:
    rows = read_json(path) if path.is_file() else []
    return {"fit": {name: [row[name] for row in rows] for name in rows[0]}} if rows else {}


def _points(path: Path, names: tuple[str, ...], has_classes: bool) -> Points | None:
    if not path.is_file():
        return Points(np.full(len(names), -1), ("unknown",), names) if has_classes else None
    content = read_json(path)
    if not has_classes:
        values, guesses = (np.array(content[name], np.float64) for name in ("target", "prediction"))
        return Points(values, names=names, predictions=guesses)
    classes = sorted({*content["target"], *content["prediction"]} - {None})
    code = {None: -1, **{name: number for number, name in enumerate(classes)}}
    labels, guesses = (np.array([code[cell] for cell in content[name]]) for name in ("target", "prediction"))
    confidence = np.array(content["probability"], np.float64) if "probability" in content else None
    roles = np.where(labels < 0, -1, 0)  # training rows all: those that were held out are not in the complex
    return Points(labels, tuple(map(str, classes)), names, guesses, confidence, roles)


def _story(settings: dict[str, Any], metrics: dict[str, Any]) -> tuple[str, ...]:
    held_out = metrics["held_out_rows"]
    kept = f"{held_out:,} other rows were held out to test it." if held_out else "No rows were held out to test it."
    if held_out == 1:
        kept = "One other row was held out."
    rows = metrics["training_rows"]
    learned = metrics.get("learned_rows", rows)
    source = f"a table with {rows:,} rows" if learned == rows else f"{learned:,} of a table's {rows:,} training rows"
    return (
        f"From {source}, the model learned to predict the column {settings['target']}, and which rows belong together.",
        kept,
    )


def _score(metrics: dict[str, Any]) -> Score | None:
    scores = metrics.get("held_out")
    if not scores:
        return None
    others = tuple(
        Baseline(name, value, _BASELINE_WORDS.get(name, "")) for name, value in scores.items() if name != "latopo"
    )
    metric = "accuracy" if metrics["score"] == "accuracy" else "r2"
    return Score(scores["latopo"], metric, f"{metrics['held_out_rows']:,} held-out rows", baselines=others)
