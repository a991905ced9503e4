"""The composition that all our models are: features → topology → branches → head → loss terms."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo.errors import LatopoError
from latopo.models.branches import FittedLatent, LatentBranch, SeparateGivenBranch, SharedGivenBranch, View
from latopo.models.features import FeatureLinear, drop_entries, normalize_rows
from latopo.models.head import Head, WeighedHead
from latopo.models.model import LossTerms, Model, ModelOutput, Targets
from latopo.models.settings import Latent, NetSettings, SeparateGiven, TopK
from latopo.neighbors.search_report import SearchReport
from latopo.nn.checks import check_features, simple_edges
from latopo.nn.topology_inference import LatentTopology
from latopo.nn.topology_loss import TopologyLoss

__all__ = ["BranchNet", "DCMNet", "DGMNet"]


class BranchNet(Model):
    """A linear layer and ReLU, branches by name (``latent``, ``own``, ``given``), a linear head over all of them.

    Which branches there are, and how each works, is in the settings (:class:`~latopo.models.settings.NetSettings`); an
    ablation leaves one out.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form, or None
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> net = BranchNet(4, 3, gain=5.0, own=True)
        >>> net(torch.randn(20, 4)).features.shape
        torch.Size([20, 96])
    """

    default = NetSettings()
    settings: NetSettings

    def __init__(
        self, in_channels: int, out_channels: int, settings: NetSettings | None = None, **changes: Any
    ) -> None:
        super().__init__(in_channels, out_channels, settings, **changes)
        parts, hidden = self.settings, self.settings.hidden_channels
        self.first = FeatureLinear(in_channels, hidden)
        self.given: SharedGivenBranch | SeparateGivenBranch | None = None
        widths = {} if parts.latent is None else {"latent": LatentBranch.channels(hidden, parts.latent)}
        widths |= {} if parts.own is None else {"own": hidden}
        widths |= {} if parts.given is None else {"given": hidden}
        if isinstance(parts.given, SeparateGiven):
            self.given = SeparateGivenBranch(in_channels, hidden, parts.dropout)
        elif parts.given is not None:
            self.given = SharedGivenBranch(hidden)
        self.head = Head(widths, out_channels) if parts.weighing is None else WeighedHead(widths, out_channels)
        self.latent = None if parts.latent is None else LatentBranch(hidden, parts.dropout, parts.latent)

    @property
    def feature_channels(self) -> int:
        """Width of all branches side by side."""
        return self.head.linear.in_features

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Infer the topology, pass messages, predict every node."""
        view = self._view(x, edge_index)
        if self.latent is None:
            return self._read(view, None)
        latent, topology = self.latent(view)
        return self._read(view, latent)._replace(**topology._asdict())

    def fit(self, x: Tensor, edge_index: Tensor | None = None) -> tuple[ModelOutput, FittedLatent | None]:
        """The answer for the training rows, and the latent branch that queries join."""
        output = self(x, edge_index)
        if self.latent is None:
            return output, None
        topology = LatentTopology(output.complex, output.graph, output.polygons)
        return output, self.latent.fit(self._view(x, None).hidden, self.latent.topology.fit(topology))

    def join(self, x: Tensor, fitted: FittedLatent | None) -> ModelOutput:
        """Predict queries; in the given graph they have no edges."""
        view = self._view(x, None)
        if self.latent is None or fitted is None:
            return self._read(view, None)
        latent, cells = self.latent.join(view.hidden, fitted)
        return self._read(view, latent)._replace(query=cells)

    def without_ties(self, x: Tensor, fitted: FittedLatent) -> tuple[Tensor, Tensor, Tensor]:
        """What queries x [Q, in_channels] would be told without one of their ties.

        Returns:
            ptr [Q + 1], the anchors of all queries [D] (those of query i from ``ptr[i]`` to ``ptr[i + 1]``), and the
            predictions without each of them, [D, out].
        """
        view = self._view(x, None)
        if self.latent is None:
            raise LatopoError(f"{type(self).__name__}: it infers no complex, so there are no ties to take away")
        cells = self.latent.join(view.hidden, fitted)[1]
        copies = self._view(x[cells.query], None)
        latent = self.latent.hear(copies.hidden, fitted, cells.without_each())
        return cells.ptr, cells.anchor, self._read(copies, latent).prediction

    def _view(self, x: Tensor, edge_index: Tensor | None) -> View:
        name = type(self).__name__
        check_features(name, x, self.in_channels)
        edges = None if edge_index is None else simple_edges(name, edge_index, x.size(0))
        x = normalize_rows(x) if self.settings.normalize_rows else x
        hidden = self.first(drop_entries(x, self.settings.input_dropout, self.training)).relu()
        return View(x, hidden, self._drop(hidden), edges)

    def _read(self, view: View, latent: Tensor | None) -> ModelOutput:
        """The head's answer; dropout comes once for all branches but one that has its own."""
        separate = isinstance(self.given, SeparateGivenBranch)
        parts = [] if latent is None else [latent]
        parts += [] if self.settings.own is None else [view.hidden]
        parts += [self.given(view)] if self.given is not None and not separate else []
        features = self._drop(torch.cat(parts, dim=1))
        if self.given is not None and separate:
            features = torch.cat([features, self.given(view)], dim=1)
        branches = {name: self.head.alone(features, name) for name in self._alone() if self.training}
        weighed = self.head.weighed(features) if self.training and isinstance(self.head, WeighedHead) else None
        return ModelOutput(self.head(features), features, branches=branches, weighed=weighed)

    def _alone(self) -> list[str]:
        """The branches that training asks to predict alone."""
        own = self.settings.own is not None and self.settings.own.own_loss
        return [*(["own"] if own else []), *(["given"] if isinstance(self.given, SeparateGivenBranch) else [])]

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.settings.dropout, self.training)

    def loss_terms(self, targets: Targets, seed: int) -> LossTerms:
        """The task's loss, those of single branches, of the branches' weights, and the reward of the topology."""
        weighing = self.settings.weighing
        fitted, kept = _apart(targets.train_index, 0.0 if weighing is None else weighing.held_out, seed)
        reward = self._reward(targets, fitted)

        def terms(output: ModelOutput) -> dict[str, Tensor]:
            found = {"task": targets.loss(output.prediction, fitted), **reward(output)}
            found |= {name: targets.loss(alone, fitted) for name, alone in output.branches.items()}
            if output.weighed is not None and kept.numel():
                found["weighing"] = targets.loss(output.weighed, kept)
            return found

        return terms

    def _reward(self, targets: Targets, fitted: Tensor) -> LossTerms:
        if self.settings.edge_form is None:
            return lambda output: {}
        count, device = targets.target.numel(), targets.target.device
        loss = TopologyLoss(count, targets.num_classes, self.settings.edge_form).to(device)
        mask = torch.zeros(count, dtype=torch.bool, device=device)
        mask[fitted] = True

        def terms(output: ModelOutput) -> dict[str, Tensor]:
            parts = loss(output.prediction, targets.target, output.complex, mask, output.graph)
            return {"edge": parts.edges, "polygon": parts.polygons}

        return terms

    @torch.no_grad()
    def facts(self) -> dict[str, float]:
        """α and γ, and the weights of the branches where they are weighed."""
        found = {} if self.latent is None else self.latent.facts()
        if isinstance(self.head, WeighedHead):
            found |= {f"weight_{name}": share for name, share in self.head.branch_weights().items()}
        return found

    def search_report(self) -> SearchReport | None:
        """That of the latent branch's sampler."""
        return None if self.latent is None else self.latent.topology.graph.sampler.search_report()

    def undecayed(self) -> list[nn.Parameter]:
        """The scalars, and the encoder of the graph if its settings say so."""
        latent = self.settings.latent
        if self.latent is None or latent is None or latent.decay_encoder:
            return super().undecayed()
        return super().undecayed() + list(self.latent.topology.graph.encoder.parameters())


class DCMNet(BranchNet):
    """The paper's model (tables 11 and 12): 0/1 cells trained by the topology loss, the auxiliary branch detached.

    Example:
        >>> DCMNet(4, 3, gain=5.0)(torch.randn(20, 4)).prediction.shape
        torch.Size([20, 3])
    """

    default: ClassVar[NetSettings] = NetSettings(edge_form="undirected")


class DGMNet(BranchNet):
    """Latent graph inference, the DGM: k neighbours per node and node convolutions, no edge features, no polygons.

    Example:
        >>> out = DGMNet(4, 3, k=2)(torch.randn(20, 4))
        >>> out.prediction.shape, out.complex.num_polygons
        (torch.Size([20, 3]), 0)
    """

    default: ClassVar[NetSettings] = NetSettings(
        latent=Latent(sampler=TopK(), polygons=None, edge_features=False), edge_form="score"
    )


def _apart(nodes: Tensor, share: float, seed: int) -> tuple[Tensor, Tensor]:
    """Nodes to fit and nodes to weigh the branches by, at least one of each if there are two."""
    if not share:
        return nodes, nodes[:0]
    count = min(max(1, int(share * nodes.numel())), nodes.numel() - 1)
    order = torch.randperm(nodes.numel(), generator=torch.Generator().manual_seed(seed)).to(nodes.device)
    return nodes[order[count:]], nodes[order[:count]]
