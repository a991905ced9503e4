"""Fitted estimators on disk: safetensors and JSON, nothing pickled, no training data needed."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from sklearn.utils.validation import check_is_fitted

from latopo._files import recover, write_files
from latopo._stored import checksum, read_json, read_stored
from latopo._version import __version__
from latopo.complex import CellComplex
from latopo.complex.storage import serialise
from latopo.errors import LatopoError
from latopo.estimators.base import DCMEstimator
from latopo.estimators.classifier import DCMClassifier
from latopo.estimators.piecewise import Bins
from latopo.estimators.regressor import DCMRegressor
from latopo.estimators.scaling import Scaling
from latopo.estimators.transformer import DCMTransformer
from latopo.models import load_model
from latopo.models.branch_net import BranchNet
from latopo.models.storage import model_files
from latopo.nn.polygon_rule import PolygonRule
from latopo.nn.topology_inference import FittedTopology

__all__ = ["load_estimator", "save_estimator"]

FORMAT = 2
_CLASSES: dict[str, type[DCMEstimator]] = {cls.__name__: cls for cls in (DCMClassifier, DCMRegressor, DCMTransformer)}
_FILES = ("model.json", "weights.safetensors", "complex.safetensors", "features.safetensors")
_FORM = {
    "format": int, "class": {*_CLASSES}, "parameters": dict, "classes": list | None, "feature_names": list | None,
    "features": int, "target": [int | float], "polygon_rule": dict | None, "checksums": dict.fromkeys(_FILES, str),
}  # fmt: skip


def save_estimator(estimator: DCMEstimator, folder: str | os.PathLike[str]) -> None:
    """Write a fitted estimator into a folder.

    ``estimator.json`` (class, parameters, classes, checksums of the others), ``model.json``, ``weights.safetensors``,
    ``complex.safetensors`` and ``features.safetensors`` (hidden features of the training rows, not the rows). An
    estimator that was saved there before is replaced in the end only, when all is ready.

    Raises:
        LatopoError: the classes are neither numbers nor texts, or the folder holds a predictor of graphs.
        sklearn.exceptions.NotFittedError: it was not fitted.

    Example:
        >>> import tempfile
        >>> X = np.random.RandomState(0).randn(40, 3)
        >>> classifier = DCMClassifier(random_state=0, max_epochs=5).fit(X, X[:, 0] > 0)
        >>> folder = tempfile.mkdtemp()
        >>> save_estimator(classifier, folder)
        >>> bool((load_estimator(folder).predict_proba(X) == classifier.predict_proba(X)).all())
        True
    """
    check_is_fitted(estimator)
    if other := next((name for name in ("predictor.json", "fold.json") if (Path(folder) / name).exists()), None):
        raise LatopoError(f"save_estimator: {folder} holds something else ({other}); choose another folder")
    files = {**model_files(estimator._model), "complex.safetensors": serialise(estimator.complex_._cells)}
    scaling = estimator._scaling
    arrays = {"shift": scaling.shift, "factor": scaling.factor, "anchor_rows": estimator.anchor_rows_}
    if scaling.bins is not None:
        arrays |= {f"bin_{name}": part for name, part in scaling.bins._asdict().items()}
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if (fitted := estimator._fitted) is not None:
        tensors |= {"hidden": fitted.hidden, "x_aux": fitted.topology.x_aux}
    files["features.safetensors"] = to_bytes({name: tensor.contiguous() for name, tensor in tensors.items()})
    checksums = {name: hashlib.sha256(files[name]).hexdigest() for name in _FILES}
    try:
        files["estimator.json"] = json.dumps({**_describe(estimator), "checksums": checksums}, indent=2).encode()
    except TypeError as error:
        raise LatopoError(f"save_estimator: expected numbers and texts as parameters and classes: {error}") from error
    write_files(folder, files)


def load_estimator(folder: str | os.PathLike[str]) -> Any:
    """The estimator that :func:`save_estimator` wrote, without ``history_``, ``best_epoch_`` and ``transduction_``.

    Raises:
        LatopoError: a file is missing, damaged or changed, or written by a newer latopo.
    """
    source = Path(folder)
    recover(source)
    described = read_json(source / "estimator.json", _FORM, version=FORMAT)
    for name, expected in described["checksums"].items():
        if checksum(source / name) != expected:
            raise LatopoError(f"load_estimator: {source / name} was changed or is incomplete; fit again")
    try:
        return _restore(source, described)
    except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise LatopoError(
            f"load_estimator: the files in {source} are damaged or do not belong together: {error}"
        ) from error


def _describe(estimator: DCMEstimator) -> dict[str, Any]:
    classes: NDArray[Any] | None = getattr(estimator, "classes_", None)
    names: NDArray[Any] | None = getattr(estimator, "feature_names_in_", None)
    if classes is not None and classes.dtype.kind not in "biufUO":  # dates would come back as something else
        raise LatopoError(
            f"save_estimator: the classes are of type {classes.dtype}, expected numbers or texts; fit with "
            "y.astype(str)"
        )
    parameters = {name: _plain(value) for name, value in estimator.get_params().items() if name != "random_state"}
    if isinstance(parameters.get("class_weight"), dict):  # JSON would make texts of its keys
        parameters["class_weight"] = [[_plain(key), float(value)] for key, value in parameters["class_weight"].items()]
    return {
        "format": FORMAT,
        "latopo": __version__,
        "class": type(estimator).__name__,
        "parameters": parameters,
        "classes": None if classes is None else classes.tolist(),
        "feature_names": None if names is None else names.tolist(),
        "features": estimator.n_features_in_,
        "target": [estimator.target_mean_, estimator.target_scale_],
        "polygon_rule": None if estimator._fitted is None else asdict(estimator._fitted.topology.rule),
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _restore(source: Path, described: dict[str, Any]) -> DCMEstimator:
    parameters = described["parameters"]
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    estimator = _CLASSES[described["class"]](**parameters)
    model = load_model(source).double()
    tensors = from_bytes(read_stored(source / "features.safetensors"))
    estimator.n_features_in_ = described["features"]
    if described["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(described["feature_names"], dtype=object)
    if described["classes"] is not None:
        estimator.classes_ = _classes(described["classes"])
        if len(estimator.classes_) != model.out_channels:
            raise ValueError(f"{len(estimator.classes_)} classes, but the model has {model.out_channels}")
    estimator.target_mean_, estimator.target_scale_ = described["target"]
    estimator.anchor_rows_ = tensors["anchor_rows"].numpy()
    bins = Bins(*(tensors[f"bin_{name}"].numpy() for name in Bins._fields)) if "bin_low" in tensors else None
    estimator._scaling = Scaling(tensors["shift"].numpy(), tensors["factor"].numpy(), bins)
    _check_numbers(tensors, described, model.in_channels)
    fitted, cells = None, CellComplex.load(source / "complex.safetensors")
    if described["polygon_rule"] is not None:
        if not isinstance(model, BranchNet) or model.latent is None:
            raise ValueError(f"the model is a {type(model).__name__} that infers no complex")
        rule = PolygonRule(**described["polygon_rule"])
        if not cells.num_nodes == len(tensors["hidden"]) == len(tensors["x_aux"]):
            raise ValueError(f"{cells.num_nodes} nodes, but features of {len(tensors['hidden'])} rows")
        fitted = model.latent.fit(tensors["hidden"], FittedTopology(cells, tensors["x_aux"], rule))
    estimator._adopt(model, fitted, cells)
    return estimator


def _classes(names: list[Any]) -> NDArray[Any]:
    if not all(isinstance(name, str | int | float) for name in names) or len(set(names)) < len(names):
        raise ValueError("expected classes that are numbers or texts, each once")
    if max((len(name) for name in names if isinstance(name, str)), default=0) > 10_000:
        raise ValueError("a class has more than 10,000 characters")
    return np.array(names)


def _check_numbers(tensors: dict[str, torch.Tensor], described: dict[str, Any], columns: int) -> None:
    """Raise unless all numbers are finite and the columns are as many as the model's."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} has numbers that are not finite")
    bins = [tensors[f"bin_{name}"] for name in Bins._fields] if "bin_low" in tensors else []
    width = described["features"] + (len(bins[0]) if bins else 0)
    if not len(tensors["shift"]) == len(tensors["factor"]) == width == columns:
        raise ValueError(f"{described['features']} features, but a model of {columns}")
    if len({len(part) for part in bins}) > 1 or any(not 0 <= at < described["features"] for at in bins[:1] and bins[0]):
        raise ValueError("the bins do not belong to the columns")
    if len(described["target"]) != 2:
        raise ValueError("expected the mean and the scale of the target")
