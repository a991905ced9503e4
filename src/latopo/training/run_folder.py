"""A run on disk: settings, metrics, complexes, weights and predictions, fold by fold.

.. code-block:: text

    RUN/
      settings.json         what was run: dataset, title, model, graph, protocol, seed, epochs, settings (what departs
                            from the defaults), resolved (all that decides the numbers), snapshot_epochs, versions
      input.safetensors     complex of the given graph, all induced cycles as polygons (none if over 50,000);
                            only if the data set has a graph, also when the model does not get it
      summary.json          score (mean, std, folds), metric, and one entry per finished fold: that fold's fold.json
      metrics.csv           the folds' metrics.csv one under another
      predictions.csv       the folds' predictions.csv one under another
      tensorboard/fold-K/   event files, if asked for
      fold-K/               a finished fold; appears in one step
        fold.json           test_score, validation_score, best_epoch, weight_decay, search, homophily, mean_degree,
                            num_polygons, kept_share, budget_sampled, num_train, num_test, num_parameters, seconds,
                            neighbors (how they were found);
                            of sets of graphs also drawn (test graphs in best.safetensors), sizes and labels (of nodes)
                            and, under protocol paper, curve (test score after every epoch)
        metrics.csv         fold, epoch, loss and its terms, scores, size of the complex, learned scalars: one line per
                            epoch of the chosen training; empty fields where an epoch was not evaluated
        predictions.csv     fold, node, part (train, validation, test), target, prediction, probability (of the
                            predicted class; empty for regression), one line per node, or per graph
        model.json, weights.safetensors      the best epoch's model (latopo.models.load_model)
        predictor.json                       of sets of graphs: with it the fold predicts new ones
                                             (latopo.training.GraphPredictor)
        complexes/best.safetensors           the complex of the best epoch, if the model infers one;
                                             of sets of graphs, that of a few test graphs side by side
        complexes/epoch-0040.safetensors     and of the chosen epochs (CellComplex.load)

A fold that is there is never trained again; a run that was stopped goes on with the missing ones. Every file is written
whole or not at all.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd
from torch_geometric.data import Data

from latopo._files import atomic_path, is_draft, new_folder, write_files
from latopo._parallel import one_thread
from latopo._stored import read_json, read_stored
from latopo._version import __version__
from latopo.data.graph_set import GraphSet
from latopo.engine import Backend, run_jobs
from latopo.errors import LatopoError
from latopo.models import save_model
from latopo.training.graph_protocol import GraphFoldResult, best_mean_epoch
from latopo.training.input_complex import input_complex
from latopo.training.loop import Row
from latopo.training.protocol import FoldResult, predictions, run_fold
from latopo.training.run import Run

__all__ = ["RunFolder", "train_folds"]

FORMAT = 2
_TABLES = ("metrics.csv", "predictions.csv")
_FOLD = {"test_score": float | int, "curve": ([float | int], None)}
_REMEDY = "delete the folder of this fold, and it is trained again"


class RunFolder:
    """The folder of one run; the module's text says what is in it.

    Args:
        path: the folder; made if it is missing, continued if it holds the same run.
        run: what is trained in it.
        snapshot_epochs: epochs after which the complex is kept.

    Raises:
        LatopoError: the folder holds something else, or a run with other settings.

    Example:
        >>> from tempfile import mkdtemp
        >>> folder = RunFolder(mkdtemp() + "/run", Run("iris", "mlp"))
        >>> folder.finished()
        []
    """

    def __init__(self, path: str | os.PathLike[str], run: Run, snapshot_epochs: Iterable[int] = ()) -> None:
        self.path, self.run = Path(path), run
        self.snapshot_epochs = tuple(sorted(set(snapshot_epochs)))
        settings = _describe(run, self.snapshot_epochs)
        if (self.path / "settings.json").is_file():
            _check_same(self.path, settings)
        elif self.path.exists() and (not self.path.is_dir() or not all(map(is_draft, self.path.iterdir()))):
            raise LatopoError(f"{self.path} exists and is not a run of latopo; give another folder with --out")
        else:
            _make(self.path)
            _write_json(self.path / "settings.json", settings)

    def finished(self) -> list[int]:
        """The folds that are done, ascending."""
        folds = (re.fullmatch(r"fold-(\d+)", item.name) for item in self.path.iterdir() if item.is_dir())
        return sorted(int(fold[1]) for fold in folds if fold)

    def save_fold(self, data: Data | GraphSet, result: FoldResult) -> None:
        """Keep a finished fold, then bring the tables and the summary of the whole run up to date."""
        target = self.path / f"fold-{result.fold}"
        if not target.exists():  # another process may have trained it meanwhile
            with new_folder(target) as draft:
                _write_fold(draft, data, result)
        self.summarize()

    def save_input(self, data: Data | GraphSet) -> None:
        """Keep the complex of the given graph, if there is one."""
        target = self.path / "input.safetensors"
        if isinstance(data, Data) and data.edge_index is not None and not target.exists():
            input_complex(data.edge_index, data.num_nodes).save(target)

    def summarize(self) -> dict[str, Any]:
        """Write ``summary.json`` and the tables of all finished folds; returns the summary."""
        folders = [self.path / f"fold-{fold}" for fold in self.finished()]
        folds = [read_json(folder / "fold.json", _FOLD, remedy=_REMEDY) for folder in folders]
        try:
            folds, score = _score(folds)
        except (ValueError, ArithmeticError) as error:
            raise LatopoError(f"{self.path}: the score of a fold is damaged ({error}); {_REMEDY}") from error
        metric = "accuracy" if self.run.entry.task == "classification" else "r2"
        summary = {"metric": metric, "score": score, "folds": folds}
        for name in _TABLES:
            with atomic_path(self.path / name) as draft:
                draft.write_text(_join([_read_table(folder / name) for folder in folders]))
        _write_json(self.path / "summary.json", summary)
        return summary


def train_folds(
    folder: RunFolder,
    data: Data | GraphSet,
    folds: Sequence[int],
    jobs: int = 1,
    backend: Backend = "loky",
    cluster: str | None = None,
    *,
    on_start: Callable[[int], Callable[[Row], None] | None] | None = None,
    on_finished: Callable[[FoldResult], None] | None = None,
) -> dict[str, Any]:
    """Train the folds that are missing, keep each as soon as it is done, and return the summary.

    Args:
        folder: where they are kept.
        data: the data set.
        folds: 0 to 9.
        jobs, backend, cluster: which processes train, see :func:`latopo.engine.run_jobs`; this one alone writes.
        on_start: called with the number of a fold that begins in this process; may return a function for its epochs.
        on_finished: called with each new result.
    """
    folder.save_input(data)
    done = folder.finished()
    todo = [fold for fold in folds if fold not in done]
    if jobs == 1 and backend == "loky":

        def work(fold: int) -> FoldResult:
            on_epoch = None if on_start is None else on_start(fold)
            return run_fold(data, folder.run, fold, snapshot_epochs=folder.snapshot_epochs, on_epoch=on_epoch)
    else:
        work = partial(_elsewhere, data, folder.run, folder.snapshot_epochs)
    for _, result in run_jobs(work, todo, jobs, backend, cluster):
        folder.save_fold(data, result)
        if on_finished is not None:
            on_finished(result)
    return folder.summarize()


def _elsewhere(data: Data | GraphSet, run: Run, snapshot_epochs: tuple[int, ...], fold: int) -> FoldResult:
    """A fold in a worker, which has one thread."""
    with one_thread():
        return run_fold(data, run, fold, snapshot_epochs=snapshot_epochs)


def _describe(run: Run, snapshot_epochs: tuple[int, ...]) -> dict[str, Any]:
    """Everything that decides the numbers; which folds are trained does not."""
    return {
        "format": FORMAT,
        "latopo": __version__,
        "dataset": run.entry.name,
        "title": run.entry.title,
        "model": run.model,
        "graph": run.graph,
        "protocol": run.protocol,
        "seed": run.seed,
        "epochs": run.training().epochs,
        "settings": run.settings,
        "resolved": run.resolved(),
        "snapshot_epochs": list(snapshot_epochs),
    }


def _check_same(path: Path, wanted: dict[str, Any]) -> None:
    found = read_json(path / "settings.json", dict, remedy="give another folder with --out")
    if differing := [name for name in wanted if found.get(name) != wanted[name]]:
        named = [name for name in differing if name != "resolved"]  # which repeats the others at length
        changes = ", ".join(f"{name} {found.get(name)!r} (now {wanted[name]!r})" for name in named)
        changes = changes or "other defaults of its model than today's"
        raise LatopoError(f"{path} holds a run with {changes}; continue it as it was, or give another --out")


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LatopoError(f"{path} cannot be made ({error.strerror}); give another folder with --out") from error


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with atomic_path(path) as draft:
        draft.write_text(json.dumps(content, indent=2) + "\n")


def _neighbors(result: FoldResult) -> dict[str, str]:
    report = result.model.search_report()
    return {} if report is None else {"neighbors": str(report)}


def _write_fold(folder: Path, data: Data | GraphSet, result: FoldResult) -> None:
    (folder / "complexes").mkdir(parents=True)
    search = {str(decay): score for decay, score in result.search.items()}
    _write_json(
        folder / "fold.json",
        {"fold": result.fold, **result.summary(), **result.details(), "search": search, **_neighbors(result)},
    )
    metrics = pd.DataFrame(result.training.history, dtype=object)
    for name, table in (("metrics.csv", metrics), ("predictions.csv", _predictions(data, result))):
        table.insert(0, "fold", result.fold)
        with atomic_path(folder / name) as draft:
            table.to_csv(draft, index=False, lineterminator="\n")
    if isinstance(result, GraphFoldResult) and result.predictor is not None:
        write_files(folder, result.predictor.files())  # the model with it
    else:
        save_model(result.model, folder)
    for epoch, complex in result.training.snapshots.items():
        complex.save(folder / "complexes" / f"epoch-{epoch:04d}.safetensors")
    if (best := result.training.best_output.complex) is not None:
        best.save(folder / "complexes" / "best.safetensors")


def _predictions(data: Data | GraphSet, result: FoldResult) -> pd.DataFrame:
    values, probability = predictions(data, result)
    split, parts = result.split, [""] * len(data.y)
    for name, index in (("train", split.train), ("validation", split.val), ("test", split.test)):
        for node in [] if index is None else index.tolist():
            parts[node] = name
    columns = {"part": parts, "target": data.y.tolist(), "prediction": values.tolist()}
    return pd.DataFrame({"node": range(len(data.y)), **columns, "probability": probability.tolist()})


def _score(folds: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The folds, their epoch chosen together where that was left to the end, and their mean score."""
    if folds and all(fold.get("curve") for fold in folds):
        epoch = best_mean_epoch([fold["curve"] for fold in folds])
        folds = [fold | {"best_epoch": epoch + 1, "test_score": fold["curve"][epoch]} for fold in folds]
    scores = [fold["test_score"] for fold in folds]
    return folds, {
        "mean": fmean(scores) if scores else None,
        "std": stdev(scores) if len(scores) > 1 else None,
        "num_folds": len(scores),
    }


def _read_table(path: Path) -> str:
    try:
        return read_stored(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise LatopoError(f"{path} is damaged ({error}); {_REMEDY}") from error


def _join(tables: Sequence[str]) -> str:
    """Tables with one header, one under another."""
    if not tables:
        return ""
    header = tables[0].partition("\n")[0] + "\n"
    return header + "".join(table.partition("\n")[2] for table in tables)
