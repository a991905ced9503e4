"""The report of a folder that ``latopo train`` wrote (:mod:`latopo.training.run_folder`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report.baselines import find_baselines, system_words
from latopo.report.confusion import confusion_matrix
from latopo.report.read_files import read_columns, read_json
from latopo.report.report_data import ROLES, Baseline, History, Points, ReportData, Score

__all__ = ["read_train_run"]

_MOST_CODES = 5000  # classes, or labels of nodes
# Entries of a fold that are no numbers.
_LISTS = ("fold", "search", "drawn", "sizes", "labels", "curve")
_SETTINGS: dict[str, Any] = {
    "model": str,
    "title": str,
    "dataset": str,
    "graph": bool,
    "protocol": str,
    "settings": dict,
    "epochs": int,
    "snapshot_epochs": [int],
}
_FOLD: dict[str, Any] = {"fold": int, "best_epoch": int, "test_score": int | float}
_GRAPHS = {"drawn": ([int], None), "sizes": ([int], None), "labels": ([int], None)}
_SUMMARY: dict[str, Any] = {"metric": {"accuracy", "r2"}, "score": {"mean": int | float, "std": (int | float, None)}}


def read_train_run(folder: Path, fold: int | None = None, baselines: Sequence[Path] | None = None) -> ReportData:
    """Read a run folder, as :func:`~latopo.report.read_run`; one fold is drawn, score and curves are of all."""
    settings = read_json(folder / "settings.json", _SETTINGS)
    if not (folder / "summary.json").is_file() or not read_json(folder / "summary.json", dict).get("folds"):
        raise LatopoError(f"report: no fold of {folder} is finished; let latopo train finish one first")
    summary = read_json(folder / "summary.json", {**_SUMMARY, "folds": [_FOLD | _GRAPHS]})
    results = {entry["fold"]: entry for entry in summary["folds"]}
    drawn = min(results) if fold is None else fold
    if drawn not in results:
        raise LatopoError(f"report: fold {drawn} is not in {folder}; it has {', '.join(map(str, sorted(results)))}")
    points = _points({number: folder / f"fold-{number}" for number in results}, summary["metric"] == "accuracy")
    histories = {number: read_columns(folder / f"fold-{number}" / "metrics.csv") for number in results}
    snapshots, shown = _snapshots(folder, settings, results[drawn], histories[drawn])
    matrices = [matrix for item in points.values() if (matrix := confusion_matrix(item)) is not None]
    return ReportData(
        title=f"{settings['model']} on {settings['title']}",
        story=_story(settings, points[drawn], len(results), _of_graphs(results[drawn])),
        score=_score(summary, find_baselines(folder, settings, points, baselines)),
        points=_drawn_nodes(results[drawn]) if _of_graphs(results[drawn]) else points[drawn],
        snapshots=snapshots,
        shown=shown,
        histories={f"fold {number}": history for number, history in histories.items()},
        confusion=np.sum(matrices, axis=0) if matrices else None,
        settings=_flat_settings(settings, results[drawn]),
        notes=_notes(settings, results, drawn, bool(snapshots)),
        predicted_classes=points[drawn].class_names,
    )


def _of_graphs(result: Mapping[str, Any]) -> bool:
    """Whether the run predicts graphs: the complex is then that of a few of them."""
    return "drawn" in result


def _drawn_nodes(result: Mapping[str, Any]) -> Points:
    """The nodes of the graphs that are drawn, by their labels."""
    labels = np.array(result["labels"], np.int64)
    if sum(result["sizes"]) != labels.size:
        raise ValueError(f"the graphs have {sum(result['sizes'])} nodes and {labels.size} labels")
    counts = zip(result["drawn"], result["sizes"], strict=True)
    names = tuple(f"graph {graph}, node {node}" for graph, count in counts for node in range(count))
    return Points(labels, _code_names("label", labels.max()), names, targets=False)


def _code_names(word: str, highest: float) -> tuple[str, ...]:
    """A name for every code from 0 on; a table of all of them must fit into memory."""
    if not 0 <= highest < _MOST_CODES:
        raise ValueError(f"expected a {word} between 0 and {_MOST_CODES:,}, got {highest}")
    return tuple(f"{word} {code}" for code in range(int(highest) + 1))


def _points(folds: Mapping[int, Path], has_classes: bool) -> dict[int, Points]:
    """Fold → roles, targets and predictions of all points."""
    found = {fold: read_columns(path / "predictions.csv") for fold, path in folds.items()}
    names: tuple[str, ...] = ()
    if has_classes:
        highest = max(max(*columns["target"], *columns["prediction"]) for columns in found.values())
        names = _code_names("class", highest)
    return {
        fold: Points(
            np.array(columns["target"], np.int64 if has_classes else np.float64),
            names,
            predictions=np.array(columns["prediction"], np.int64 if has_classes else np.float64),
            confidence=np.array(columns["probability"], np.float64),
            roles=np.array([ROLES.index(part) if part else -1 for part in columns["part"]]),
        )
        for fold, columns in found.items()
    }


def _score(summary: Mapping[str, Any], baselines: tuple[Baseline, ...]) -> Score:
    score, folds = summary["score"], len(summary["folds"])
    tested = "test graphs" if _of_graphs(summary["folds"][0]) else "test points"
    where = tested if folds == 1 else f"{tested} of {folds} folds"
    return Score(float(score["mean"]), summary["metric"], where, score["std"], baselines)


def _snapshots(
    folder: Path, settings: Mapping[str, Any], result: Mapping[str, Any], history: History
) -> tuple[tuple[Snapshot, ...], int]:
    """The given graph, then the saved epochs, the best one among them; and the index of the best."""
    complexes, best = folder / f"fold-{result['fold']}" / "complexes", result["best_epoch"]
    if not (complexes / "best.safetensors").is_file():
        return (), -1
    shares = dict(zip(history["epoch"], history.get("kept_share", [None] * len(history["epoch"])), strict=True))
    files = {epoch: complexes / f"epoch-{epoch:04d}.safetensors" for epoch in settings["snapshot_epochs"]}
    files = {epoch: path for epoch, path in files.items() if path.is_file()} | {best: complexes / "best.safetensors"}
    saved = [
        Snapshot(CellComplex.load(path), epoch, f"Epoch {epoch} (best)" if epoch == best else None, shares.get(epoch))
        for epoch, path in sorted(files.items())
    ]
    if (folder / "input.safetensors").is_file():
        title = "Given graph" if settings["graph"] else "Given graph (not used)"
        saved.insert(0, Snapshot(CellComplex.load(folder / "input.safetensors"), title=title))
    return tuple(saved), [snapshot.epoch for snapshot in saved].index(best)


def _story(settings: Mapping[str, Any], points: Points, folds: int, of_graphs: bool) -> tuple[str, ...]:
    model, title = settings["model"], settings["title"]
    if of_graphs:
        return _graphs_story(settings, points, folds)
    kind = "each with a value" if points.is_quantity else f"each in one of {len(points.class_names)} classes"
    many = "one fold was trained" if folds == 1 else f"{folds} folds were trained, each tested on different points"
    return (
        f"{model}, {system_words(model)}, learned to predict {title}: {len(points.labels):,} points, {kind}.",
        "It was given a graph that joins the points." if settings["graph"] else "It was given no graph.",
        f"A tenth of the points is held out for testing; {many}.",
    )


def _graphs_story(settings: Mapping[str, Any], points: Points, folds: int) -> tuple[str, ...]:
    model, title = settings["model"], settings["title"]
    kind = "each with a value" if points.is_quantity else f"each in one of {len(points.class_names)} classes"
    many = "one fold was trained" if folds == 1 else f"{folds} folds were trained, each tested on different graphs"
    return (
        f"{model}, {system_words(model)}, learned to predict {title}: {len(points.labels):,} graphs, {kind}.",
        "It was given their edges." if settings["graph"] else "It was given where the nodes are, and no edges.",
        f"A tenth of the graphs is held out for testing; {many}. Some of the test graphs are drawn side by side, with "
        "the polygons that the network sees.",
    )


def _flat_settings(settings: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in settings.items() if name not in ("settings", "format")}
    measured = {name: value for name, value in result.items() if name not in _LISTS}
    of_fold = {f"{name} (fold {result['fold']})": value for name, value in measured.items()}
    return {**named, **settings["settings"], **of_fold}


def _notes(
    settings: Mapping[str, Any], results: Mapping[int, Mapping[str, Any]], drawn: int, has_complex: bool
) -> tuple[str, ...]:
    notes = []
    if settings["protocol"] == "paper":
        notes.append(
            "Protocol paper: the epoch with the best test score is reported, as in the paper's experiments. Such a "
            "number is optimistic; the honest protocol chooses the epoch without looking at the test points."
        )
    if has_complex and len(results) > 1:
        notes.append(f"The complex, its statistics and the predictions of single points are those of fold {drawn}.")
    if results[drawn].get("budget_sampled"):
        notes.append("There were more rings of edges than the budget allows, so a random sample was considered.")
    if not has_complex:
        notes.append(f"{settings['model']} infers no complex, so there is nothing to draw.")
    return tuple(notes)
