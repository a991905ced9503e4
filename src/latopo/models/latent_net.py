"""The frame that all models with an inferred topology share, and the one that shows what is left without it."""

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from latopo.errors import LatopoError
from latopo.models.features import FeatureLinear
from latopo.models.model import Model, ModelOutput
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.checks import check_features, simple_edges
from latopo.nn.graph_conv import GraphConv, graph_product
from latopo.nn.topology_loss import EdgeForm

__all__ = ["LatentNet"]

# Adam moves a parameter by about its rate in a step; weights of parts may have to change by far more in 100 epochs.
_PACE = 10.0


class LatentNet(Model):
    """Linear layer and ReLU, message passing on an inferred topology, linear head (table 11 of the paper).

    The topology is inferred from the hidden features *before* dropout: with dropout the graph would jump from step to
    step. Subclasses say how (:meth:`_latent`).

    Args:
        latent_channels: width that :meth:`_latent` gives.
        skip: whether the head also sees the node's own hidden features.
        given_conv: whether the head also sees a convolution of them over the given graph; that graph is then needed.
        edge_form: form of the topology loss that trains the model, or None.
        settings: the arguments of the subclass. Used here: ``in_channels, out_channels, hidden_channels, dropout``;
            ``own_loss``, whether training also asks the skip alone to predict, so that an inferred graph that fits the
            training nodes too well does not leave the node's own features untrained; ``hide_latent``, the probability
            with which a step hides all that a node got from the topology from the head, so that the head does not
            come to rely on it alone (0 by default); ``decay_graph``, whether weight decay acts on the encoder of
            the graph (by default it does). The graph does not see the encoder's scale, so there a decay only makes
            its steps larger; and ``judges``, the share of the training nodes that is kept to weigh the parts of the
            head's input against each other (0 by default, then nothing is weighed). On the nodes that it learns from
            every part looks perfect, so how far each is to be trusted can only be seen on others. The given graph is
            then heard by a GCN with a first layer of its own, which has to predict alone, like the skip.
    """

    def __init__(
        self, latent_channels: int, skip: bool, given_conv: bool, edge_form: EdgeForm | None, settings: dict[str, Any]
    ) -> None:
        super().__init__(**settings)
        hidden = settings["hidden_channels"]
        self.in_channels, self.dropout, self.skip = settings["in_channels"], settings["dropout"], skip
        self.edge_form = edge_form
        self.own_loss, self.hide_latent = settings["own_loss"], settings.get("hide_latent", 0.0)
        self.decay_graph = settings.get("decay_graph", True)
        name = type(self).__name__
        if (self.own_loss or self.hide_latent) and not skip:
            raise LatopoError(f"{name}: own_loss and hide_latent need skip=True, the node's own features in the head")
        if not 0 <= self.hide_latent < 1:
            raise LatopoError(f"{name}: hide_latent must be in [0, 1), got {self.hide_latent}")
        self.judges = settings.get("judges", 0.0)
        if not 0 <= self.judges < 1:
            raise LatopoError(f"{name}: judges must be in [0, 1), got {self.judges}")
        if self.judges and not (skip and given_conv):
            raise LatopoError(f"{name}: judges weigh own features and given graph, so skip and given_conv must be True")
        self.first = FeatureLinear(self.in_channels, hidden)
        self.given_conv = GraphConv(hidden, hidden) if given_conv and not self.judges else None
        self.given_first = FeatureLinear(self.in_channels, hidden) if self.judges else None
        self.trust = nn.Parameter(torch.zeros(3 if latent_channels else 2)) if self.judges else None
        width = latent_channels + hidden * (skip + given_conv)
        self.head = nn.Linear(width, settings["out_channels"])

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> ModelOutput:
        """Infer the topology, pass messages, predict every node."""
        name = type(self).__name__
        check_features(name, x, self.in_channels)
        edges = None if edge_index is None else simple_edges(name, edge_index, x.size(0))
        hidden = self.first(x).relu()
        dropped = self._drop(hidden)
        latent = self._latent(hidden, dropped, edges)
        parts = [self._hide(latent.prediction)]
        if self.skip:
            parts.append(hidden)  # dropout comes once, before the head
        if self.given_conv is not None:
            # Without a graph at hand the convolution is the linear layer that it is on isolated nodes.
            parts.append(self.given_conv(dropped, edges).relu())
        joined = self._drop(torch.cat(parts, dim=1))
        if self.given_first is not None:
            heard = self._drop(_smooth(self.given_first(x), edges).relu())
            parts.append(_smooth(heard, edges))
            joined = torch.cat([joined, parts[-1]], dim=1)
        return self._read(latent, joined, [part.size(1) for part in parts])

    def _hide(self, latent: Tensor) -> Tensor:
        """Whole rows dropped, in training."""
        if not (self.hide_latent and self.training):
            return latent
        return latent * functional.dropout(latent.new_ones(latent.size(0), 1), self.hide_latent)

    def _read(self, latent: ModelOutput, joined: Tensor, widths: list[int]) -> ModelOutput:
        """Predictions of the head, those of single parts, and in training what the judges see."""
        ends = list(accumulate(widths))
        parts = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
        weight, bias = self.head.weight, self.head.bias
        own = [parts[1]] if self.own_loss else []
        given = [parts[2]] if self.judges else []
        alone = [functional.linear(joined[:, at], weight[:, at], bias) for at in own + given if self.training]
        if self.trust is None:
            return latent._replace(prediction=self.head(joined), alone=tuple(alone))
        scores = torch.stack([functional.linear(joined[:, at], weight[:, at]) for at in parts if at.stop > at.start])
        trust = len(scores) * _shares(self.trust)[:, None, None]
        prediction = (trust.detach() * scores).sum(dim=0) + bias
        judged = (trust * scores.detach()).sum(dim=0) + bias.detach() if self.training else None
        return latent._replace(prediction=prediction, alone=tuple(alone), judged=judged)

    @torch.no_grad()
    def trusted(self) -> dict[str, float]:
        """Shares of the inferred complex, the node's own features and the given graph, if they are judged."""
        if self.trust is None:
            return {}
        names = ("complex", "own", "given")[-len(self.trust) :]
        return dict(zip(names, _shares(self.trust).tolist(), strict=True))

    def undecayed(self) -> list[nn.Parameter]:
        """The scalars, and without ``decay_graph`` the encoder of the graph."""
        encoders = [module.encoder for module in self.modules() if isinstance(module, AlphaDGM)]
        weights = [] if self.decay_graph else [item for encoder in encoders for item in encoder.parameters()]
        return super().undecayed() + weights

    def reset_parameters(self) -> None:
        """Initialise everything anew; all parts are trusted alike."""
        super().reset_parameters()
        if self.trust is not None:
            nn.init.zeros_(self.trust)

    def _latent(self, hidden: Tensor, dropped: Tensor, edge_index: Tensor | None) -> ModelOutput:
        """Features from the inferred topology in place of the prediction, and that topology."""
        raise NotImplementedError

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training)


def _shares(trust: Tensor) -> Tensor:
    return functional.softmax(_PACE * trust, dim=0)


def _smooth(x: Tensor, edges: Tensor | None) -> Tensor:
    """One convolution without weights; on isolated nodes it changes nothing."""
    return x if edges is None else graph_product(x, edges)
