"""The folder that a fit leaves behind: all that predicting needs, and the complex for a spreadsheet."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pandas as pd

from latopo._files import is_draft, recover, replaced_files
from latopo._stored import checksum, read_json
from latopo._version import __version__
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.estimators.storage import load_estimator, save_estimator
from latopo.table.kept_columns import KeptColumn
from latopo.table.preprocessing import Preprocessing
from latopo.table.spreadsheet import write_csv

__all__ = ["FittedRun", "check_run_folder", "new_run_folder", "read_run", "read_run_file", "write_run"]

FORMAT = 1
_MARK = "run.json"
# What these files must hold, for all who read them.
_FORMS: dict[str, Any] = {
    _MARK: {"format": int, "target": str, "task": {"classification", "regression"}, "id_column": str | None},
    "metrics.json": {
        "score": str,
        "training_rows": int,
        "held_out_rows": int,
        "learned_rows": (int, None),
        "left_out_rows": (int, None),
        "weightless_rows": (int, None),
        "labelled_rows": (int, None),
        "labels_hidden": (bool, None),
        "held_out": ({"latopo": int | float, str: int | float}, None),
        "held_out_scores": ({str: {str: int | float}}, None),
        "confusion": ({"classes": [str], "matrix": [[int]]}, None),
        "per_class": (list, None),
    },
    "points.json": {
        "target": [str | int | float | None],
        "prediction": [str | int | float | None],
        "hidden": list | None,
    },
    "columns.json": [{"name": str, "values": [str | int | float | None]}],
    "anchors.json": list,
    "history.json": [{str: int | float | None}],
    "preprocessing.json": {
        "columns": [{"name": str, "kind": {"number", "date", "category"}, "fill": int | float, "values": [str | None]}],
        "notes": [str],
    },
}
_OWN = (
    *(*_FORMS, "estimator.json", "model.json"),
    *("weights.safetensors", "features.safetensors", "complex.safetensors"),
    *("edges.csv", "polygons.csv", "complex.png"),
)


class FittedRun(NamedTuple):
    """A fitted table model with what it needs to read other tables."""

    settings: dict[str, Any]  # target, task, id_column, seed; when read from a folder, format and latopo's version too
    preprocessing: Preprocessing
    estimator: Any  # a fitted DCMClassifier or DCMRegressor
    anchor_ids: list[str]  # of the rows in the complex


@contextmanager
def new_run_folder(target: Path, overwrite: bool) -> Iterator[Path]:
    """Give a folder to write to whose files become the run ``target`` only if the block ends without an error.

    An existing run is replaced with ``overwrite`` only, and only at the end; other files in its folder stay. Any other
    folder that is not empty is never written to.
    """
    check_run_folder(target, overwrite)
    try:
        with replaced_files(target, _OWN) as draft:
            yield draft
    except OSError as error:
        raise LatopoError(
            f"--out {target} cannot be written ({error.strerror or error}); make room, or choose another folder"
        ) from error


def check_run_folder(target: Path, overwrite: bool) -> None:
    """Raise unless ``target`` may become a run; called before any work is done."""
    recover(target)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LatopoError(f"--out {target} exists and is not a folder; choose another")
    if target.is_dir() and not all(map(is_draft, target.iterdir())):
        if not (target / _MARK).is_file():
            raise LatopoError(f"--out {target} holds other files; choose another folder")
        if not overwrite:
            raise LatopoError(f"--out {target} already holds a run; replace it with --overwrite, or choose another")
    place = target.absolute()
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    probe = existing / f".latopo-{uuid4().hex}"
    try:  # rights alone do not tell
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise LatopoError(f"--out {target}: {existing} cannot be written to; choose another folder") from error


def write_run(
    folder: Path,
    run: FittedRun,
    metrics: dict[str, Any],
    targets: list[Any],
    hidden: list[Any] | None = None,
    columns: list[KeptColumn] | None = None,
) -> None:
    """Write a run that was just fitted.

    Args:
        folder: a new one.
        run: what predicting needs.
        metrics: its scores.
        targets: of the rows in the complex, None for none; for the report, as are the others.
        hidden: targets of these rows that were hidden for a test, None elsewhere.
        columns: values of these rows, if they are to be kept.
    """
    estimator = run.estimator
    save_estimator(estimator, folder)
    predictions = estimator.transduction_[estimator.anchor_rows_].tolist()
    contents = {
        "preprocessing.json": asdict(run.preprocessing),
        "metrics.json": metrics,
        "anchors.json": run.anchor_ids,
        "points.json": {"target": targets, "prediction": predictions} | ({} if hidden is None else {"hidden": hidden}),
        **({} if columns is None else {"columns.json": [column._asdict() for column in columns]}),
        "history.json": estimator.history_,
        _MARK: {"format": FORMAT, "latopo": __version__, **run.settings},
    }
    _write_complex(folder, estimator.complex_, run.anchor_ids)
    for name, content in contents.items():
        if name == _MARK:
            content["checksums"] = {path.name: checksum(path) for path in sorted(folder.iterdir())}
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / name).write_text(text, encoding="utf-8")


def read_run(folder: Path) -> FittedRun:
    """The run in a folder.

    Raises:
        LatopoError: the folder is not a run, is damaged or changed, or was written by a newer latopo.
    """
    recover(folder)
    if not (folder / _MARK).is_file():
        raise LatopoError(f"{folder} is not a run of latopo fit: it has no {_MARK}")
    settings, anchor_ids = read_run_file(folder, _MARK), read_run_file(folder, "anchors.json")
    preprocessing = Preprocessing.from_json(read_run_file(folder, "preprocessing.json"))
    check_checksum(folder, "estimator.json")
    estimator = load_estimator(folder)
    features, anchors = len(preprocessing.feature_names), estimator.complex_.num_nodes
    if estimator.n_features_in_ != features or len(anchor_ids) != anchors:
        raise LatopoError(f"the files in {folder} do not belong together; fit again")
    return FittedRun(settings, preprocessing, estimator, [str(name) for name in anchor_ids])


def read_run_file(folder: Path, name: str) -> Any:
    """The content of one of a run's JSON files, checked."""
    if name == _MARK:
        return read_json(folder / name, _FORMS[name], version=FORMAT)
    check_checksum(folder, name)
    return read_json(folder / name, _FORMS[name])


def check_checksum(folder: Path, name: str) -> None:
    """Raise if a file is not the one that the fit wrote; runs of earlier versions have no checksums."""
    expected = read_run_file(folder, _MARK).get("checksums") if (folder / _MARK).is_file() else None
    if isinstance(expected, dict) and expected.get(name, "none") not in ("none", checksum(folder / name)):
        raise LatopoError(f"{folder / name} was changed or is incomplete; fit again")


def _write_complex(folder: Path, cx: CellComplex, ids: list[str]) -> None:
    """``edges.csv`` and ``polygons.csv``, most probable cells first, rows named by their ids.

    Probabilities of polygons sum to 1 over all of them, which says nothing to a reader: their strength is p / max p.
    """
    edges = pd.DataFrame(np.array(ids, object)[cx.edge_index.t().numpy()], columns=["from", "to"])
    members = [nodes for part in cx.polygons.values() for nodes in part.tolist()]
    corners = [f"node {at + 1}" for at in range(max(map(len, members), default=3))]
    polygons = pd.DataFrame([[ids[node] for node in nodes] for nodes in members], columns=corners, dtype=object)
    polygons.insert(0, "length", list(map(len, members)))
    edges.insert(2, "probability", [] if cx.edge_prob is None else cx.edge_prob.tolist())
    prob = np.zeros(0) if cx.polygon_prob is None else cx.polygon_prob.numpy()
    polygons.insert(1, "strength", prob / prob.max() if prob.any() else prob)
    for name, frame, column in (("edges", edges, "probability"), ("polygons", polygons, "strength")):
        write_csv(folder / f"{name}.csv", frame.sort_values(column, ascending=False, kind="stable"), "%.6g")
