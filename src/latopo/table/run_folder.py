"""The folder that a fit leaves behind: all that predicting needs, and the complex for a spreadsheet."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from latopo._version import __version__
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.estimators.storage import load_estimator, save_estimator
from latopo.table.preprocessing import Preprocessing
from latopo.table.run_files import check_run_file
from latopo.table.spreadsheet import write_csv

__all__ = ["FittedRun", "new_run_folder", "read_run", "write_points", "write_run"]

FORMAT = 1
_MARK = "run.json"
_OWN = (
    *("run.json", "preprocessing.json", "metrics.json", "anchors.json", "points.json", "history.json"),
    *("model.json", "weights.safetensors", "features.safetensors", "complex.safetensors", "estimator.json"),
    *("edges.csv", "polygons.csv", "complex.png"),
)


class FittedRun:
    """A fitted table model with what it needs to read other tables.

    Attributes:
        settings: what the fit was asked for and decided: target, task, id column, dropped columns.
        preprocessing: from columns to features.
        estimator: a fitted :class:`~latopo.estimators.DCMClassifier` or :class:`~latopo.estimators.DCMRegressor`.
        anchor_ids: the ids of the rows in the complex.
    """

    def __init__(
        self, settings: dict[str, Any], preprocessing: Preprocessing, estimator: Any, anchor_ids: list[str]
    ) -> None:
        self.settings, self.preprocessing, self.estimator = settings, preprocessing, estimator
        self.anchor_ids = anchor_ids


@contextmanager
def new_run_folder(target: Path, overwrite: bool) -> Iterator[Path]:
    """Give a folder to write to whose files become the run ``target`` only if the block ends without an error.

    An existing run is replaced with ``overwrite`` only, and only in the end; other files in its folder stay. Any other
    folder that is not empty is never written to.

    Raises:
        LatopoError: the target exists, or cannot be written.
    """
    check_run_folder(target, overwrite)
    # Within a folder that exists: its files then move within one file system, whatever is mounted there.
    draft = (target if target.is_dir() else target.parent) / f".latopo-{uuid4().hex}"
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise LatopoError(f"--out {target}: the folder cannot be made ({error.strerror})") from error
    try:
        yield draft
        _install(draft, target)
    except OSError as error:
        raise LatopoError(
            f"--out {target} cannot be written ({error.strerror or error}); make room, or choose another folder"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_run_folder(target: Path, overwrite: bool) -> None:
    """Raise unless ``target`` may become a run; called before any work is done."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LatopoError(f"--out {target} exists and is no folder; choose another")
    if target.is_dir() and any(not path.name.startswith(".latopo-") for path in target.iterdir()):
        if not (target / _MARK).is_file():
            raise LatopoError(f"--out {target} exists and holds other files; choose another folder")
        if not overwrite:
            raise LatopoError(f"--out {target} holds a run already; use --overwrite to replace it, or another folder")
    place = target.absolute()
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise LatopoError(f"--out {target}: {existing} cannot be written to; choose another folder")


def _install(draft: Path, target: Path) -> None:
    """Put the new run in place of an old one, of which nothing is left; files that are not a run's own are kept."""
    if not target.exists():
        draft.rename(target)
        return
    # Not one folder for the other: the target may be where the user's shell is. No run.json, no run: it goes first and
    # comes last, so that no reader takes a mixture for a run. A kill between leaves the old one whole in its folder.
    old = target / f".latopo-old-{uuid4().hex}"
    old.mkdir()
    for path in filter(Path.exists, map(target.joinpath, _OWN)):
        path.replace(old / path.name)
    for path in sorted(draft.iterdir(), key=lambda path: path.name == _MARK):
        path.replace(target / path.name)
    shutil.rmtree(old, ignore_errors=True)


def write_run(folder: Path, run: FittedRun, metrics: dict[str, Any]) -> None:
    """Write settings, preprocessing, estimator, metrics and the complex into a folder."""
    save_estimator(run.estimator, folder)
    _write_json(folder / "preprocessing.json", run.preprocessing.to_json())
    _write_json(folder / "metrics.json", metrics)
    _write_json(folder / "anchors.json", run.anchor_ids)
    _write_complex(folder, run.estimator.complex_, run.anchor_ids)
    # Last: a folder without it is no run.
    _write_json(folder / _MARK, {"format": FORMAT, "latopo": __version__, **run.settings})


def write_points(folder: Path, estimator: Any, targets: list[Any]) -> None:
    """Write ``points.json`` and ``history.json`` for a report: targets (None for none), predictions, epochs."""
    predictions = estimator.transduction_[estimator.anchor_rows_].tolist()
    _write_json(folder / "points.json", {"target": targets, "prediction": predictions})
    _write_json(folder / "history.json", estimator.history_)


def read_run(folder: Path) -> FittedRun:
    """The run in a folder.

    Raises:
        LatopoError: the folder is no run, is damaged or changed, or was written by a newer latopo.
    """
    if not (folder / _MARK).is_file():
        raise LatopoError(f"{folder} is no run of latopo fit: it has no {_MARK}")
    settings = _read_json(folder / _MARK)
    if not isinstance(settings, dict) or not isinstance(settings.get("format"), int):
        raise LatopoError(f"{folder / _MARK} is damaged; fit again")
    if settings["format"] != FORMAT:
        raise LatopoError(
            f"{folder} was written by latopo {settings.get('latopo')} in format {settings['format']}, this latopo "
            f"{__version__} reads format {FORMAT}; upgrade latopo, or fit again"
        )
    check_run_file(folder / _MARK, settings)
    preprocessing = Preprocessing.from_json(_read_json(folder / "preprocessing.json"))
    anchor_ids = check_run_file(folder / "anchors.json", _read_json(folder / "anchors.json"))
    estimator = load_estimator(folder)
    features, anchors = len(preprocessing.feature_names), estimator.complex_.num_nodes
    if estimator.n_features_in_ != features or len(anchor_ids) != anchors:
        raise LatopoError(f"the files in {folder} do not belong together; fit again")
    return FittedRun(settings, preprocessing, estimator, [str(name) for name in anchor_ids])


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LatopoError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LatopoError(f"{path} is damaged ({error}); fit again") from error


def _write_complex(folder: Path, complex: CellComplex, ids: list[str]) -> None:
    """``edges.csv`` and ``polygons.csv``, most probable cells first, rows named by their ids."""
    assert complex.edge_prob is not None
    order = complex.edge_prob.argsort(descending=True, stable=True)
    ends, probabilities = complex.edge_index[:, order].t().tolist(), complex.edge_prob[order].tolist()
    rows = [(ids[u], ids[v], f"{p:.6g}") for (u, v), p in zip(ends, probabilities, strict=True)]
    write_csv(folder / "edges.csv", ["from", "to", "probability"], rows)
    probs = [] if complex.polygon_prob is None else complex.polygon_prob.tolist()
    members = [row for part in complex.polygons.values() for row in part.tolist()]
    longest = max(map(len, members), default=3)
    cells = [
        (len(nodes), f"{p:.6g}", *(ids[node] for node in nodes), *[""] * (longest - len(nodes)))
        for p, nodes in sorted(zip(probs, members, strict=True), key=lambda item: -item[0])
    ]
    write_csv(folder / "polygons.csv", ["length", "probability", *(f"node {at + 1}" for at in range(longest))], cells)
