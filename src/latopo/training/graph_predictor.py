"""A trained network that predicts new graphs, also after it was saved."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from latopo._files import check_folder, recover, write_files
from latopo._stored import checksum, read_json
from latopo._version import __version__
from latopo.data.graph_input import GraphInput
from latopo.data.graph_loading import as_clouds, new_graphs
from latopo.errors import LatopoError, TooManyCellsError
from latopo.models.graph_net import GraphNet
from latopo.models.storage import load_model, model_files
from latopo.training.graph_trainer import predict_graphs
from latopo.training.seeding import plain_torch

__all__ = ["GraphPredictor"]

FORMAT = 1
_FILES = ("model.json", "weights.safetensors")
_NUMBER = float | int
_INPUT = {
    "features": int, "edge_features": int, "has_edges": bool, "shift": [_NUMBER], "scale": [_NUMBER],
    "in_features": bool, "unit": (_NUMBER, None), "dimensions": int,
}  # fmt: skip
_FORM = {
    "format": int, "classes": int, "target": [_NUMBER], "input": _INPUT, "checksums": dict.fromkeys(_FILES, str),
}  # fmt: skip
_REMEDY = "train again"
_OTHERS = ("estimator.json", "fold.json", "settings.json", "run.json", "records.jsonl")  # what else a folder may hold


@dataclass(frozen=True, eq=False)
class GraphPredictor:
    """Predicts graphs that need no target, one by one: no answer depends on the other graphs of the list.

    It comes from :func:`~latopo.training.fit_graphs`, from the results of :func:`~latopo.training.cross_validate` on
    graphs (``results[0].predictor``), or from a folder: that of :meth:`save`, or a fold of ``latopo train``.

    Attributes:
        model: the network, with the weights of the chosen epoch.
        form: how graphs have to come, and what is done to their features.
        num_classes: 0 for regression.
        target_mean, target_scale: a value in the units of training is ``target_mean + target_scale * prediction``.

    Example:
        >>> import tempfile
        >>> known = GraphPredictor(GraphNet(1, 2).eval(), GraphInput(features=0), num_classes=2)
        >>> triangle = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), num_nodes=3)
        >>> folder = tempfile.mkdtemp()
        >>> known.save(folder)
        >>> torch.equal(GraphPredictor.load(folder).predict_proba([triangle]), known.predict_proba([triangle]))
        True
    """

    model: GraphNet
    form: GraphInput
    num_classes: int
    target_mean: float = 0.0
    target_scale: float = 1.0

    def predict(self, graphs: Sequence[Data]) -> Tensor:
        """The class of each graph, int64 [G], or its value, float32 [G].

        Args:
            graphs: PyG ``Data`` with the parts and columns of those in training, ``y`` apart. Of point clouds
                (``graph=False``) only ``pos`` is looked at.
        """
        found = self._scores(graphs)
        if self.num_classes:
            return found.argmax(dim=1)
        return self.target_mean + self.target_scale * found.flatten()

    def predict_proba(self, graphs: Sequence[Data]) -> Tensor:
        """The probability of each class, float32 [G, classes]."""
        if not self.num_classes:
            raise LatopoError("predict_proba: values have no probabilities; use predict")
        return self._scores(graphs).softmax(dim=1)

    @plain_torch()
    def _scores(self, graphs: Sequence[Data]) -> Tensor:
        if isinstance(graphs, Data | str | Mapping) or not isinstance(graphs, Iterable) or not (graphs := list(graphs)):
            raise LatopoError(f"predict: expected a list of at least one PyG Data, got {type(graphs).__name__}")
        if next(self.model.parameters()).dtype != torch.float32:
            raise LatopoError("predict: the network is not in float32 any more; use predictor.model.float()")
        if not self.form.has_edges:
            graphs = [Data(pos=graph.pos) if isinstance(graph, Data) else graph for graph in graphs]
        scores = self._answers(graphs)
        wrong = (~scores.isfinite().all(dim=1)).nonzero().flatten().tolist()
        if wrong:
            raise LatopoError(f"predict: graph {wrong[0]} has no finite answer; are its features those of training?")
        return scores

    def _answers(self, graphs: Sequence[Data]) -> Tensor:
        try:
            found = new_graphs("predict", graphs, self.form, rings=self.model.settings.rings is not None)
        except TooManyCellsError:
            if len(graphs) == 1:
                raise
            half = len(graphs) // 2  # the limit is on what is searched at once
            return torch.cat([self._answers(graphs[:half]), self._answers(graphs[half:])])
        found = (found if self.form.has_edges else as_clouds(found)).to(next(self.model.parameters()).device)
        return predict_graphs(self.model, found, torch.arange(len(found), device=found.y.device)).cpu()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``predictor.json``, ``model.json`` and ``weights.safetensors`` into a folder, all or none.

        A predictor that was saved there before is replaced.

        Raises:
            LatopoError: there can be no such folder, or it holds a run, an estimator or another model.
        """
        check_folder(folder, "GraphPredictor.save:")
        there = [name for name in _OTHERS if (Path(folder) / name).exists()]
        if (Path(folder) / "model.json").exists() and not (Path(folder) / "predictor.json").exists():
            there.append("model.json")
        if there:
            raise LatopoError(f"GraphPredictor.save: {folder} holds something else ({there[0]}); choose another folder")
        write_files(folder, self.files())

    def files(self) -> dict[str, bytes]:
        """What :meth:`save` writes."""
        if not self._fits():
            raise LatopoError("GraphPredictor: the network, the form of graphs and the target do not belong together")
        files = model_files(self.model)
        described = {
            "format": FORMAT,
            "latopo": __version__,
            "classes": self.num_classes,
            "target": [self.target_mean, self.target_scale],
            "input": asdict(self.form),
            "checksums": {name: hashlib.sha256(files[name]).hexdigest() for name in _FILES},
        }
        return files | {"predictor.json": json.dumps(described, indent=2, allow_nan=False).encode()}

    @classmethod
    @plain_torch()
    def load(cls, folder: str | os.PathLike[str]) -> "GraphPredictor":
        """What :meth:`save` wrote.

        Raises:
            LatopoError: a file is missing, damaged or changed, or written by a newer latopo.
        """
        source = Path(folder)
        recover(source)
        described = read_json(source / "predictor.json", _FORM, version=FORMAT, remedy=_REMEDY)
        for name in _FILES:
            if checksum(source / name) != described["checksums"][name]:
                raise LatopoError(f"GraphPredictor: {source / name} was changed or is incomplete; {_REMEDY}")
        target = [_number(value) for value in described["target"]]
        found = cls(_network(source), _form(described["input"]), described["classes"], *target[:2])
        if not found._fits() or len(target) != 2:
            raise LatopoError(f"GraphPredictor: the files in {source} do not belong together; {_REMEDY}")
        return found

    def _fits(self) -> bool:
        """Whether the network has the widths that graphs of this form have, and answers can be made of its outputs."""
        form, clouds = self.form, not self.form.has_edges
        if not form.is_sound() or (clouds and form.unit is None) or self.num_classes < 0 or self.num_classes == 1:
            return False
        if not (abs(self.target_mean) < 1e38 and 0 < self.target_scale < 1e38):
            return False
        # A cloud has coordinates, and edges their length; without x every node has the feature 1.
        widths = (form.dimensions, 1) if clouds else (form.features or 1, form.edge_features)
        return (self.model.in_channels, self.model.edge_channels) == widths and self.model.out_channels == (
            self.num_classes or 1
        )


def _network(source: Path) -> GraphNet:
    model = load_model(source)
    if not isinstance(model, GraphNet):
        raise LatopoError(f"GraphPredictor: {source} holds a {type(model).__name__}, which does not predict graphs")
    return model


def _form(described: dict[str, Any]) -> GraphInput:
    values = {name: described[name] for name in _INPUT}
    lists = {name: tuple(map(_number, values[name])) for name in ("shift", "scale")}
    return GraphInput(**values | lists | {"unit": None if values["unit"] is None else _number(values["unit"])})


def _number(value: float) -> float:
    """A number from a file: JSON has whole numbers of any size."""
    return float(value) if abs(value) < 1e300 else math.inf
