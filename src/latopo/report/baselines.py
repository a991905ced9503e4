"""What a run's score stands beside: the commonest class, other runs on the same folds, the paper's number."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from latopo.errors import LatopoError
from latopo.report.data import ROLES, Baseline
from latopo.report.run_files import FoldAnswer, read_json

__all__ = ["MODEL_WORDS", "find_baselines"]

MODEL_WORDS = {
    "mlp": "a plain neural network that looks at each point alone",
    "gcn": "a network that averages over the given graph",
    "dgm-e": "a network that infers edges by a random choice of near points",
    "dgm-m": "a network that infers edges by a random choice of near points, in curved space",
    "dcm": "the paper's model, which infers edges and polygons",
    "dcm-all": "the paper's model with every ring of edges taken as a polygon",
    "topk-dcm": "the paper's model with a fixed number of edges per point",
    "topk-dcm-all": "the paper's model with a fixed number of edges per point and all polygons",
    "dcm-plus": "this library's model, which infers edges and polygons and weighs them by their probabilities",
    "dcm-plus-edges": "this library's model without polygons",
    "alpha-dgm": "this library's model with edges alone, and messages between points only",
    "gcn-plus": "this library's model with nothing inferred: each point alone, and the given graph",
    "dcm-judged": "this library's model, which first weighs how far a given graph is to be trusted",
    "gcn-judged": "the same with nothing inferred: each point alone, and the given graph, weighed",
}
_BASELINE_MODELS = ("mlp", "gcn")


def find_baselines(
    folder: Path,
    settings: Mapping[str, Any],
    metric: str,
    answers: Mapping[int, FoldAnswer],
    given: Sequence[Path] | None = None,
) -> tuple[Baseline, ...]:
    """The baselines of a run of ``latopo train``.

    Args:
        folder: the run.
        settings: its settings.
        metric: ``accuracy`` or ``r2``.
        answers: fold → what was predicted there.
        given: other runs; by default those of an MLP or a GCN that lie beside the run.
    """
    simple = _mean_guess() if metric == "r2" else _commonest_class(list(answers.values()))
    return (simple, *_other_runs(folder, settings, list(answers), given), *_paper_number(settings))


def _mean_guess() -> Baseline:
    return Baseline("mean", 0.0, "always the training points' mean")


def _commonest_class(answers: Sequence[FoldAnswer]) -> Baseline:
    shares = []
    for answer in answers:
        common = np.bincount(answer.targets[answer.roles == ROLES.index("train")]).argmax()
        shares.append(float((answer.targets[answer.roles == ROLES.index("test")] == common).mean()))
    return Baseline("commonest class", fmean(shares), "always the same answer")


def _other_runs(
    folder: Path, settings: Mapping[str, Any], folds: Sequence[int], given: Sequence[Path] | None
) -> list[Baseline]:
    if given is not None:
        return [_scored(other, settings, folds) for other in given]
    found: dict[str, Baseline] = {}
    for path in sorted(folder.resolve().parent.glob("*/summary.json")):
        other = path.parent
        if other != folder.resolve() and _is_baseline(other, settings, folds):
            baseline = _scored(other, settings, folds)
            found.setdefault(baseline.name, baseline)
    return list(found.values())


def _is_baseline(other: Path, ours: Mapping[str, Any], folds: Sequence[int]) -> bool:
    """Whether a run beside ours is an MLP or a GCN, trained as long and with no settings that ours has not."""
    try:
        settings = read_json(other / "settings.json")
        model, named = settings["model"], settings["settings"]
        alike = settings["epochs"] == ours["epochs"] and all(
            ours["settings"].get(name) == value for name, value in named.items()
        )
        return model in _BASELINE_MODELS and model != ours["model"] and alike and _is_comparable(other, ours, folds)
    except (LatopoError, LookupError, TypeError, ValueError, AttributeError):
        return False


def _is_comparable(other: Path, ours: Mapping[str, Any], folds: Sequence[int]) -> bool:
    settings = read_json(other / "settings.json")
    same = all(settings.get(name) == ours[name] for name in ("dataset", "protocol"))
    return same and set(folds) <= set(_fold_scores(other))


def _fold_scores(folder: Path) -> dict[int, float]:
    return {entry["fold"]: float(entry["test_score"]) for entry in read_json(folder / "summary.json")["folds"]}


def _scored(other: Path, ours: Mapping[str, Any], folds: Sequence[int]) -> Baseline:
    """The other run's mean score on our folds."""
    if not (other / "summary.json").is_file() or not _is_comparable(other, ours, folds):
        raise LatopoError(f"report: {other} is no baseline for this run; it needs the same data, protocol and folds")
    model, scores = read_json(other / "settings.json")["model"], _fold_scores(other)
    return Baseline(model, fmean(scores[fold] for fold in folds), MODEL_WORDS.get(model, "another model"))


def _paper_number(settings: Mapping[str, Any]) -> list[Baseline]:
    from latopo.reproduce.paper import paper_number

    for table in ("table1", "table2"):
        number = paper_number(table, settings["dataset"], settings["graph"], settings["model"])
        if number is not None:
            return [Baseline("paper", number.mean / 100, "the number printed there for this model")]
    return []
