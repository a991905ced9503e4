"""The report of a folder that ``latopo train`` wrote (:mod:`latopo.training.run_folder`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from latopo.complex import CellComplex
from latopo.data.catalogue import find_dataset
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report.baselines import MODEL_WORDS, find_baselines
from latopo.report.data import IntArray, Points, ReportData, Score
from latopo.report.facts import confusion_matrix
from latopo.report.run_files import FoldAnswer, read_answer, read_history, read_json

__all__ = ["from_train_run"]


def from_train_run(folder: Path, fold: int | None = None, baselines: Sequence[Path] | None = None) -> ReportData:
    """Read a run folder; the drawing shows one fold, the score and the curves are of all.

    Args:
        folder: the run.
        fold: the fold to draw; the first finished one by default.
        baselines: other runs on the same data and folds to set the score beside; by default runs of an MLP or a GCN
            under the same protocol in the same parent folder.
    """
    settings = read_json(folder / "settings.json")
    if not (folder / "summary.json").is_file() or not (summary := read_json(folder / "summary.json"))["folds"]:
        raise LatopoError(f"report: no fold of {folder} is finished; let latopo train go on first")
    folds = {entry["fold"]: entry for entry in summary["folds"]}
    drawn = min(folds) if fold is None else fold
    if drawn not in folds:
        raise LatopoError(f"report: fold {drawn} is not in {folder}; it has {', '.join(map(str, sorted(folds)))}")
    metric = summary["metric"]
    answers = {number: read_answer(folder / f"fold-{number}" / "predictions.csv", metric == "r2") for number in folds}
    names = _class_names(answers) if metric == "accuracy" else ()
    snapshots, shown = _snapshots(folder, drawn, folds[drawn]["best_epoch"], settings["graph"])
    return ReportData(
        title=f"{settings['model']} on {find_dataset(settings['dataset']).title}",
        story=_story(settings, len(answers[drawn].targets), len(names), len(folds)),
        score=_score(folds, summary, find_baselines(folder, settings, metric, answers, baselines)),
        points=_points(answers[drawn], names),
        snapshots=snapshots,
        shown=shown,
        histories={f"fold {number}": read_history(folder / f"fold-{number}" / "metrics.csv") for number in folds},
        confusion=_pooled_confusion(answers, names) if names else None,
        settings=_flat_settings(settings, folds[drawn]),
        notes=_notes(settings, folds, drawn, bool(snapshots)),
    )


def _class_names(answers: Mapping[int, FoldAnswer]) -> tuple[str, ...]:
    highest = max(max(answer.targets.max(), answer.predictions.max()) for answer in answers.values())
    return tuple(f"class {code}" for code in range(int(highest) + 1))


def _points(answer: FoldAnswer, class_names: tuple[str, ...]) -> Points:
    roles, targets, predictions, confidence = answer
    return Points(targets, class_names, predictions=predictions, confidence=confidence, roles=roles)


def _pooled_confusion(answers: Mapping[int, FoldAnswer], class_names: tuple[str, ...]) -> IntArray:
    """The test points of all folds together."""
    matrices = [confusion_matrix(_points(answer, class_names)) for answer in answers.values()]
    return np.sum([matrix for matrix in matrices if matrix is not None], axis=0)


def _score(folds: Mapping[int, Any], summary: Mapping[str, Any], baselines: Any) -> Score:
    scores = [float(folds[number]["test_score"]) for number in sorted(folds)]
    where = "test points" if len(scores) == 1 else f"test points of {len(scores)} folds"
    return Score(fmean(scores), summary["metric"], where, summary["score"]["std"], tuple(scores), baselines)


def _snapshots(folder: Path, fold: int, best_epoch: int, graph: bool) -> tuple[tuple[Snapshot, ...], int]:
    """The given graph, then the kept epochs with the best one among them; and the best one's place."""
    complexes = folder / f"fold-{fold}" / "complexes"
    if not (complexes / "best.safetensors").is_file():
        return (), -1
    history = read_history(folder / f"fold-{fold}" / "metrics.csv")
    shares = dict(zip(history["epoch"], history["kept_share"], strict=True))
    stored = {int(path.stem.removeprefix("epoch-")): path for path in complexes.glob("epoch-*.safetensors")}
    stored[best_epoch] = complexes / "best.safetensors"
    titles = {best_epoch: f"Epoch {best_epoch} (best)"}
    kept = [
        Snapshot(CellComplex.load(path), epoch, titles.get(epoch), shares.get(epoch))
        for epoch, path in sorted(stored.items())
    ]
    if (folder / "input.safetensors").is_file():
        title = "Given graph" if graph else "Given graph (not used)"
        kept.insert(0, Snapshot(CellComplex.load(folder / "input.safetensors"), title=title))
    return tuple(kept), [snapshot.epoch for snapshot in kept].index(best_epoch)


def _story(settings: Mapping[str, Any], points: int, classes: int, folds: int) -> tuple[str, ...]:
    words = MODEL_WORDS.get(settings["model"], "a model of this library")
    title = find_dataset(settings["dataset"]).title
    kind = f"each in one of {classes} classes" if classes else "each with a value"
    many = "one fold was trained" if folds == 1 else f"{folds} folds were trained, each testing on other points"
    return (
        f"{settings['model']}, {words}, learned to predict {title}: {points:,} points, {kind}.",
        "It was given a graph between the points." if settings["graph"] else "It was given no graph.",
        f"A tenth of the points is kept for the test; {many}.",
    )


def _flat_settings(settings: Mapping[str, Any], fold: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in settings.items() if name not in ("settings", "format")}
    measured = {name: value for name, value in fold.items() if name not in ("fold", "search")}
    of_fold = {f"{name} (fold {fold['fold']})": value for name, value in measured.items()}
    return {**named, **settings["settings"], **of_fold}


def _notes(
    settings: Mapping[str, Any], folds: Mapping[int, Mapping[str, Any]], drawn: int, has_complex: bool
) -> tuple[str, ...]:
    notes = []
    if settings["protocol"] == "paper":
        notes.append(
            "Protocol paper: the epoch with the best test score is reported, as in the paper's experiments. Such a "
            "number is optimistic; the protocol honest chooses the epoch without the test points."
        )
    if has_complex and len(folds) > 1:
        notes.append(f"The complex, its statistics and the predictions of single points are those of fold {drawn}.")
    if folds[drawn].get("budget_sampled"):
        notes.append("There were more rings of edges than the budget allows: a random part of them was considered.")
    if not has_complex:
        notes.append(f"{settings['model']} infers no complex, so there is nothing to draw.")
    return tuple(notes)
