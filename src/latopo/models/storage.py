"""Models on disk: weights in safetensors, settings in JSON, nothing pickled."""

import json
import os
from pathlib import Path

from safetensors.torch import load_file
from safetensors.torch import save as to_bytes

from latopo._files import write_files
from latopo._version import __version__
from latopo.errors import LatopoError
from latopo.models.branch_net import BranchNet, DCMNet, DGMNet
from latopo.models.gcn import GCN
from latopo.models.mlp import MLP
from latopo.models.model import Model
from latopo.settings import from_plain, to_plain

__all__ = ["load_model", "model_files", "save_model"]

FORMAT = 2
_CLASSES: dict[str, type[Model]] = {cls.__name__: cls for cls in (MLP, GCN, BranchNet, DGMNet, DCMNet)}


def save_model(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write ``model.json`` (class and settings) and ``weights.safetensors`` into a folder, both or none."""
    write_files(folder, model_files(model))


def model_files(model: Model) -> dict[str, bytes]:
    """Name and content of the files of a model."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    described = {
        "format": FORMAT,
        "latopo": __version__,
        "class": type(model).__name__,
        "in_channels": model.in_channels,
        "out_channels": model.out_channels,
        "settings": to_plain(model.settings),
    }
    return {"weights.safetensors": to_bytes(weights), "model.json": json.dumps(described, indent=2).encode()}


def load_model(folder: str | os.PathLike[str]) -> Model:
    """The model that :func:`save_model` wrote, in evaluation mode.

    Raises:
        LatopoError: a file is missing, broken, changed, or written by a newer latopo.
    """
    source = Path(folder)
    try:
        described = json.loads((source / "model.json").read_text())
        weights = load_file(source / "weights.safetensors")
    except OSError as error:
        raise LatopoError(
            f"load_model: {error.filename or source} cannot be read; is {source} a saved model?"
        ) from error
    except Exception as error:
        raise LatopoError(f"load_model: {source} is broken ({error}); save the model again") from error
    if not isinstance(described, dict):
        described = {}
    if described.get("format") != FORMAT or described.get("class") not in _CLASSES:
        raise LatopoError(
            f"load_model: {source / 'model.json'} has format {described.get('format')} and class "
            f"{described.get('class')}, expected format {FORMAT}; it may be of a newer latopo than {__version__}"
        )
    try:
        cls = _CLASSES[described["class"]]
        settings = from_plain(type(cls.default), described["settings"])
        model = cls(described["in_channels"], described["out_channels"], settings)
        model.load_state_dict(weights)
    except (TypeError, RuntimeError, KeyError, LatopoError) as error:
        raise LatopoError(
            f"load_model: the settings and weights in {source} do not belong together: {error}"
        ) from error
    return model.eval()
