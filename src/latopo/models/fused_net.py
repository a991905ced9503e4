"""Branches trained apart, fused late: the α-DGM of the input beside own features and a given graph."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.models.committee import Share, shares
from latopo.models.fused_features import InputFeatures, Seen, see
from latopo.models.fused_settings import GRAPH_BRANCHES, FusedSettings
from latopo.models.gcn import GCN
from latopo.models.late_fusion import Fusion, fit_fusion
from latopo.models.mlp import MLP
from latopo.models.model import Model, ModelOutput, Targets, TrainPart
from latopo.nn.checks import check_features
from latopo.nn.polygon_inference import LatentPolygons
from latopo.nn.query_neighborhoods import QueryCells
from latopo.semi.storage import metric_tensors, read_metric, read_space, space_tensors

__all__ = ["FusedNet"]

_SPACE = "H"


class _Fitted(NamedTuple):
    """What a fit leaves besides the branches' layers."""

    features: InputFeatures
    fusion: Fusion
    answer: Tensor  # of the fitted rows, [n, out]


class FusedNet(Model):
    """Two layers on each of several views of a node, trained and stopped apart, fused where they can be judged.

    Trained together, a branch that memorises the training nodes leaves the others without a gradient; trained apart,
    none does. Which views there are is in the settings (:class:`~latopo.models.fused_settings.FusedSettings`).

    New rows have no edges in a given graph: the branches that hear it, and ``cells``, say nothing about them, and the
    others' weights grow in proportion.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, unscaled, **edge_index**: [2, E] in any form, or None
        - **output**: :class:`~latopo.models.ModelOutput` with log-probabilities [N, out_channels], or values [N, 1]

    Example:
        >>> from latopo.training import train
        >>> x = torch.cat([torch.randn(60, 2) - 2, torch.randn(60, 2) + 2])
        >>> y, some = torch.arange(120) // 60, torch.arange(0, 120, 3)
        >>> model = FusedNet(2, 2, branches=("own", "latent"), members=2, branch_epochs=30)
        >>> result = train(model, x, y, None, some, some, num_classes=2)
        >>> int((result.best_output.prediction.argmax(1) == y).sum()) > 110
        True
    """

    default = FusedSettings()
    settings: FusedSettings
    solves = True

    def __init__(
        self, in_channels: int, out_channels: int, settings: FusedSettings | None = None, **changes: Any
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        self.heads = nn.ModuleList()  # of each branch its members
        self._fitted: _Fitted | None = None
        self._complex: CellComplex | None = None
        self._polygons: LatentPolygons | None = None

    @property
    def feature_channels(self) -> int:
        """Width of the answer: there is nothing behind it."""
        return self.out_channels

    def solve(
        self, x: Tensor, edge_index: Tensor | None, targets: Targets, held_out: Tensor | None, train_part: TrainPart
    ) -> float:
        """Train the branches, judge and fuse them; the task's loss on the training rows."""
        check_features("FusedNet", x, self.in_channels)
        if edge_index is None and (deaf := GRAPH_BRANCHES.intersection(self.settings.branches)):
            raise LatopoError(f"FusedNet: the branches {', '.join(sorted(deaf))} need a graph; give one, or drop them")
        names, settings = self.settings.branches, self.settings
        seen = see(x, edge_index, tuple(dict.fromkeys(names)), settings.degree, settings.polygons)
        parts = shares(targets, held_out, settings.members, settings.enough)
        trained = [self._branch(number, seen, edge_index, parts, train_part) for number in range(len(names))]
        self.heads = nn.ModuleList([nn.ModuleList(members) for members in trained])
        said = [self._say(name, seen.branches[name], edge_index, number) for number, name in enumerate(names)]
        index, answers = _judged(said, parts, held_out)
        fusion = fit_fusion(answers, targets.target[index], targets.num_classes, settings.pull)
        fused = fusion(torch.stack([members.mean(dim=0) for members in said]))
        self._fitted = _Fitted(seen.fitted, fusion, fused.to(x.dtype))
        self._complex, self._polygons = seen.complex, seen.polygons
        return targets.loss(fused, targets.train_index).item()

    def _branch(
        self, number: int, seen: Seen, edges: Tensor | None, parts: list[Share], train_part: TrainPart
    ) -> list[Model]:
        """The members of a branch, each with the best of the weight decays."""
        name, settings = self.settings.branches[number], self.settings
        x = seen.branches[name].float()
        graph = edges if name == "convolved" else None
        members = []
        for place, part in enumerate(parts):
            trained = train_part(
                lambda: self._head(name, x.size(1)), x, graph,
                None if graph is not None else torch.cat([part.train, part.selection]), part.train, part.selection,
                settings.seeds()[number] * settings.members + place, weight_decays=settings.weight_decays,
                first_rung=settings.first_rung, epochs=settings.branch_epochs, lr=settings.branch_lr,
                patience=settings.branch_patience,
            )  # fmt: skip
            members.append(trained.model)
        return members

    def _head(self, branch: str, in_channels: int) -> Model:
        kind = GCN if branch == "convolved" else MLP
        chosen = {name: getattr(self.settings, name) for name in ("hidden_channels", "dropout")}
        return kind(in_channels, self.out_channels, **chosen)

    @torch.no_grad()
    def _say(self, branch: str, x: Tensor, edges: Tensor | None, number: int, joins: bool = False) -> Tensor:
        """What each member of a branch answers, log-probabilities or values, [members, n, out]."""
        found = []
        for member in self.heads[number]:  # type: ignore[attr-defined]
            seen = x.to(next(member.parameters()).dtype)
            output = member.join(seen, None) if joins else member(seen, edges if branch == "convolved" else None)
            found.append(output.prediction)
        answers = torch.stack(found)
        return answers if self.out_channels == 1 else answers.log_softmax(dim=2)

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """The answer for the rows that it was fitted on, whose number x must have; :meth:`join` is for others."""
        answer = self._known().answer
        if x.size(0) != len(answer):
            raise LatopoError(f"FusedNet: fitted on {len(answer)} rows, got {x.size(0)}; new rows go to join(x, None)")
        prediction = answer.to(x.device, x.dtype)
        return ModelOutput(prediction, prediction, self._complex, None, self._polygons)

    @torch.no_grad()
    def join(self, x: Tensor, fitted: Any) -> ModelOutput:
        """Predict new rows [Q, in_channels], each on its own; the fitted state is the model's."""
        check_features("FusedNet", x, self.in_channels)
        features, fusion, _ = self._known()
        names = self.settings.branches
        speaking = [number for number, name in enumerate(names) if name not in (*GRAPH_BRANCHES, "cells")]
        if not speaking:
            raise LatopoError("FusedNet: every branch hears a graph, and new rows have no edges; add the branch own")
        seen, chosen = features.join(x, tuple(names[number] for number in speaking))
        said = [self._say(names[number], seen[names[number]], None, number, joins=True) for number in speaking]
        weight = fusion.weight[speaking]
        answer = Fusion(weight / weight.sum(), fusion.temperature)(torch.stack([part.mean(dim=0) for part in said]))
        return ModelOutput(answer.to(x.dtype), answer.to(x.dtype), query=None if chosen is None else _query(chosen))

    def facts(self) -> dict[str, float]:
        """The weights of the branches; equal before the fit."""
        names = _numbered(self.settings.branches)
        weights = [1 / len(names)] * len(names) if self._fitted is None else self._fitted.fusion.weight.tolist()
        return {f"weight_{name}": weight for name, weight in zip(names, weights, strict=True)}

    def _known(self) -> _Fitted:
        if self._fitted is None:
            raise LatopoError("FusedNet: not fitted; call latopo.training.train first")
        return self._fitted

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The layers of all branches and what new rows need, as tensors; nothing before the fit."""
        if self._fitted is None:
            return {}
        features, fusion, answer = self._fitted
        found = {f"heads.{name}": tensor for name, tensor in self.heads.state_dict().items()}
        found |= metric_tensors(features.metric)
        found |= {} if features.space is None else space_tensors(_SPACE, features.space)
        found |= {f"factor.{name}": torch.tensor(value, dtype=torch.float64) for name, value in features.factor.items()}
        temperature = torch.tensor(fusion.temperature, dtype=torch.float64)
        size = torch.tensor(features.size, dtype=torch.float64)
        return found | {"size": size, "weight": fusion.weight, "temperature": temperature, "answer": answer}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take over a fitted model."""
        if not state_dict:
            self._fitted, self.heads = None, nn.ModuleList()
            return
        metric = read_metric(state_dict)
        space = read_space(_SPACE, metric, state_dict) if f"space.{_SPACE}.gain" in state_dict else None
        factor = {name.removeprefix("factor."): float(state_dict[name]) for name in _under("factor.", state_dict)}
        fusion = Fusion(state_dict["weight"], float(state_dict["temperature"]))
        size = tuple(state_dict["size"].tolist()) if "size" in factor else (0.0, 0.0, 0.0)
        self._fitted = _Fitted(InputFeatures(metric, space, factor, size), fusion, state_dict["answer"])
        self._load_heads({name.removeprefix("heads."): state_dict[name] for name in _under("heads.", state_dict)})

    def _load_heads(self, tensors: dict[str, Tensor]) -> None:
        """Heads of the widths that their weights have; no random number is drawn for weights that are known."""
        self.heads = nn.ModuleList()
        with torch.device("meta"):
            for number, branch in enumerate(self.settings.branches):
                members = sum(name.startswith(f"{number}.") and name.endswith(".first.weight") for name in tensors)
                widths = [tensors[f"{number}.{place}.first.weight"].size(1) for place in range(members)]
                self.heads.append(nn.ModuleList([self._head(branch, width) for width in widths]))
        self.heads.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()}, assign=True)
        self.heads.eval()


def _judged(said: list[Tensor], parts: list[Share], held_out: Tensor | None) -> tuple[Tensor, Tensor]:
    """The nodes where branches can be judged, and what each says there without having learned from them, [B, m, k].

    Held-out nodes are answered by all members, training nodes by the one that left them out.
    """
    index = [part.left for part in parts]
    answers = [torch.stack([members[place, part.left] for members in said]) for place, part in enumerate(parts)]
    if held_out is not None:
        index.append(held_out)
        answers.append(torch.stack([members[:, held_out].mean(dim=0) for members in said]))
    return torch.cat(index), torch.cat(answers, dim=1)


def _query(chosen: Any) -> QueryCells:
    chosen.sort_indices()
    ptr, anchor = (torch.from_numpy(part.astype(np.int64)) for part in (chosen.indptr, chosen.indices))
    prob = torch.from_numpy(chosen.data)
    return QueryCells(ptr, anchor, prob, prob, [])


def _numbered(names: tuple[str, ...]) -> list[str]:
    """Each name once: one that comes again has its number behind it."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def _under(prefix: str, tensors: Mapping[str, Any]) -> list[str]:
    return [name for name in tensors if name.startswith(prefix)]
