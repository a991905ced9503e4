"""Models on disk: weights in safetensors, settings in JSON, nothing pickled."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from latopo._files import recover, write_files
from latopo._plain_torch import plain_torch
from latopo._stored import read_json, read_stored
from latopo._version import __version__
from latopo.errors import LatopoError
from latopo.models.alpha_diffusion import AlphaDiffusion
from latopo.models.branch_net import BranchNet, DCMNet, DGMNet
from latopo.models.fused_net import FusedNet
from latopo.models.gcn import GCN
from latopo.models.graph_net import GraphNet
from latopo.models.mlp import MLP
from latopo.models.model import Model
from latopo.settings import from_plain, to_plain

__all__ = ["load_model", "model_files", "save_model"]

FORMAT = 2
_CLASSES: dict[str, type[Model]] = {
    cls.__name__: cls for cls in (MLP, GCN, BranchNet, DGMNet, DCMNet, AlphaDiffusion, FusedNet, GraphNet)
}
_FORM = {
    "format": int, "class": {*_CLASSES}, "in_channels": int, "out_channels": int, "edge_channels": (int, None),
    "settings": object,
}  # fmt: skip
_SIZES = ("in_channels", "out_channels", "edge_channels")


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
        **({"edge_channels": model.edge_channels} if isinstance(model, GraphNet) else {}),
        "settings": to_plain(model.settings),
    }
    return {"weights.safetensors": to_bytes(weights), "model.json": json.dumps(described, indent=2).encode()}


@plain_torch()
def load_model(folder: str | os.PathLike[str]) -> Model:
    """The model that :func:`save_model` wrote, in evaluation mode, on the CPU in single precision.

    Raises:
        LatopoError: a file is missing, broken, changed, or written by a newer latopo.
    """
    source = Path(folder)
    recover(source)
    described = read_json(source / "model.json", _FORM, version=FORMAT, remedy="save the model again")
    content = read_stored(source / "weights.safetensors")
    try:
        weights = from_bytes(content)
        _check_numbers(weights)
        cls = _CLASSES[described["class"]]
        settings = from_plain(type(cls.default), described["settings"])
        sizes = {name: described[name] for name in _SIZES if described.get(name) is not None}
        _check_sizes(cls, sizes, settings, weights)
        model = cls(**sizes, settings=settings)
        model.load_state_dict(weights)
    except (TypeError, RuntimeError, KeyError, SafetensorError, LatopoError) as error:
        raise LatopoError(f"load_model: the files in {source} are broken or do not belong together: {error}") from error
    return model.eval()


def _check_numbers(weights: dict[str, Tensor]) -> None:
    for name, tensor in weights.items():
        if not bool(tensor.isfinite().all()):
            raise LatopoError(f"{name} has numbers that are not finite")


def _check_sizes(cls: type[Model], sizes: dict[str, int], settings: Any, weights: dict[str, Tensor]) -> None:
    """Raise unless the weights are those of such layers: sizes are mere words, the file is as large as it is."""
    room, hidden = sum(tensor.numel() for tensor in weights.values()), getattr(settings, "hidden_channels", 1)
    least = min(sizes["in_channels"], sizes["out_channels"], sizes.get("edge_channels", 0) + 1)
    if least < 1 or max(sizes.values()) * hidden > room:
        told = ", ".join(f"{name}={size}" for name, size in sizes.items())
        raise LatopoError(f"{told} and {hidden} hidden do not fit into {room:,} weights")
    if cls.solves:
        return  # its layers are made from the weights
    with torch.device("meta"):  # shapes alone, which take no memory
        expected = {name: tensor.shape for name, tensor in cls(**sizes, settings=settings).state_dict().items()}
    found = {name: tensor.shape for name, tensor in weights.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise LatopoError(f"{name} must have {_words(expected.get(name))}, got {_words(found.get(name))}")


def _words(shape: torch.Size | None) -> str:
    return "no weights" if shape is None else f"shape {list(shape)}"
