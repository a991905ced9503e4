"""Models on disk: weights in safetensors, settings in JSON, nothing pickled."""

import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from latopo._files import recover, write_files
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
_FORM = {"format": int, "class": {*_CLASSES}, "in_channels": int, "out_channels": int, "settings": object}


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


def load_model(folder: str | os.PathLike[str]) -> Model:
    """The model that :func:`save_model` wrote, in evaluation mode.

    Raises:
        LatopoError: a file is missing, broken, changed, or written by a newer latopo.
    """
    source = Path(folder)
    recover(source)
    described = read_json(source / "model.json", _FORM, version=FORMAT, remedy="save the model again")
    weights = read_stored(source / "weights.safetensors")
    try:
        cls = _CLASSES[described["class"]]
        settings = from_plain(type(cls.default), described["settings"])
        _check_sizes(described["in_channels"], described["out_channels"], settings, from_bytes(weights))
        more = {name: described[name] for name in ("edge_channels",) if name in described}
        model = cls(described["in_channels"], described["out_channels"], settings, **more)
        model.load_state_dict(from_bytes(weights))
    except (TypeError, RuntimeError, KeyError, SafetensorError, LatopoError) as error:
        raise LatopoError(f"load_model: the files in {source} are broken or do not belong together: {error}") from error
    return model.eval()


def _check_sizes(in_channels: int, out_channels: int, settings: Any, weights: dict[str, Tensor]) -> None:
    """Raise unless the weights have room for such layers: sizes are mere words, the file is as large as it is."""
    room, hidden = sum(tensor.numel() for tensor in weights.values()), getattr(settings, "hidden_channels", 1)
    if min(in_channels, out_channels) < 1 or max(in_channels, out_channels) * hidden > room:
        raise LatopoError(
            f"{in_channels} columns in, {hidden} hidden and {out_channels} out do not fit into {room:,} weights"
        )
