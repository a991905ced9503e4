"""What a run's score is compared with: the commonest class, other runs on the same folds, the paper's number."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from latopo.errors import LatopoError
from latopo.models import GRAPH_SYSTEMS, SYSTEMS
from latopo.report.read_files import read_json
from latopo.report.report_data import TEST, TRAIN, Baseline, Points
from latopo.reproduce.paper import paper_number

__all__ = ["find_baselines", "system_words"]


def system_words(model: str) -> str:
    """A line of words about a model, for people who do not know its name."""
    known = SYSTEMS | GRAPH_SYSTEMS
    return known[model].words if model in known else "a custom model"


def find_baselines(
    folder: Path, settings: Mapping[str, Any], folds: Mapping[int, Points], given: Sequence[Path] | None = None
) -> tuple[Baseline, ...]:
    """The baselines of a run of ``latopo train``.

    Args:
        folder: the run.
        settings: its settings.
        folds: fold → its points with their roles.
        given: other runs; by default those of a baseline model that lie next to the run.
    """
    if given is None:
        runs = _runs_nearby(folder.resolve(), settings, folds)
    else:
        runs = [_baseline(other, settings, folds)[0] for other in given]
    return (_simplest(list(folds.values())), *runs, *_paper_number(settings))


def _simplest(folds: Sequence[Points]) -> Baseline:
    """Always the same answer: the training points' mean, or their commonest class."""
    if folds[0].is_quantity:
        return Baseline("mean", 0.0, "always the training points' mean")
    shares = []
    for points in folds:
        commonest = np.bincount(points.labels[points.roles == TRAIN]).argmax()
        shares.append(float((points.labels[points.roles == TEST] == commonest).mean()))
    return Baseline("commonest class", fmean(shares), "always the same answer")


def _runs_nearby(folder: Path, ours: Mapping[str, Any], folds: Mapping[int, Points]) -> list[Baseline]:
    """Runs of baseline models next to ours, one per model, trained as long and with no setting that ours lacks."""
    found: dict[str, Baseline] = {}
    for path in sorted(folder.parent.glob("*/summary.json")):
        try:
            baseline, settings = _baseline(path.parent, ours, folds)
            alike = settings["epochs"] == ours["epochs"] and settings["settings"].items() <= ours["settings"].items()
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            continue  # another data set, someone else's folder, or a damaged one
        system = (SYSTEMS | GRAPH_SYSTEMS).get(baseline.name)
        if system is not None and system.role == "baseline" and baseline.name != ours["model"] and alike:
            found.setdefault(baseline.name, baseline)
    return list(found.values())


def _baseline(other: Path, ours: Mapping[str, Any], folds: Mapping[int, Points]) -> tuple[Baseline, Mapping[str, Any]]:
    """The other run's mean score on our folds, and its settings."""
    settings, summary = read_json(other / "settings.json"), read_json(other / "summary.json")
    scores = {entry["fold"]: float(entry["test_score"]) for entry in summary["folds"]}
    if any(settings[name] != ours[name] for name in ("dataset", "protocol")) or not folds.keys() <= scores.keys():
        raise LatopoError(
            f"report: {other} cannot be a baseline for this run; it needs the same data set, protocol and folds"
        )
    model = settings["model"]
    return Baseline(model, fmean(scores[fold] for fold in folds), system_words(model)), settings


def _paper_number(settings: Mapping[str, Any]) -> list[Baseline]:
    for table in ("table1", "table2"):
        number = paper_number(table, settings["dataset"], settings["graph"], settings["model"])
        if number is not None:
            return [Baseline("paper", number.mean / 100, "the number printed for this model")]
    return []
