"""Latent graph inference: an inferred graph and node convolutions, no edge features, no polygons."""

from typing import Literal

from torch import Tensor, nn

from latopo.complex import CellComplex
from latopo.models.latent_net import LatentNet
from latopo.models.model import ModelOutput
from latopo.neighbors import Euclidean, Hyperbolic, Product, Similarity, Spherical
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.graph_conv import GraphConv
from latopo.nn.relaxation import Relaxation, cell_weights, check_relaxation
from latopo.nn.topology_loss import EdgeForm

__all__ = ["DGMNet", "manifold"]


def manifold(channels: int) -> Product:
    """The space of DGM-M: Euclidean × hyperbolic × spherical, about a third of the coordinates each.

    Example:
        >>> manifold(32).sizes
        [12, 10, 10]
    """
    third = channels // 3
    return Product([Euclidean(), Hyperbolic(), Spherical()], [channels - 2 * third, third, third])


class DGMNet(LatentNet):
    """Discrete graph inference: the DGM with ``sampler="topk"``, the α-DGM on its own with ``sampler="entmax"``.

    Args:
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        hidden_channels: width everywhere between.
        rounds: graph convolutions on the inferred graph (docs/findings.md says why not 3, as in DGM-M).
        sampler: ``"topk"`` (DGM-E, DGM-M) or ``"entmax"``.
        k: neighbours a node, for ``"topk"``.
        space: where distances are measured: ``"euclidean"`` or ``"manifold"`` (:func:`manifold`).
        gain, degree, hold_degree: of the α-DGM, for ``"entmax"``.
        relaxation: how probabilities enter message passing.
        edge_form: form of the topology loss that trains it; None if the relaxation does. With neither, the encoder of
            the graph stays as it was initialised, and the graph follows the features that enter it.
        detach: whether the auxiliary branch is cut from the gradient of the features.
        skip, given_conv, own_loss, hide_latent, decay_graph: see :class:`~latopo.models.latent_net.LatentNet`.
        dropout: before message passing and before the head.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form, or None
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> out = DGMNet(4, 3, k=2)(torch.randn(20, 4))
        >>> out.prediction.shape, out.complex.num_polygons
        (torch.Size([20, 3]), 0)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 32,
        rounds: int = 1,
        sampler: Literal["topk", "entmax"] = "topk",
        k: int = 5,
        space: Literal["euclidean", "manifold"] = "euclidean",
        gain: float = 50.0,
        degree: float | None = None,
        hold_degree: bool = False,
        relaxation: Relaxation = "none",
        edge_form: EdgeForm | None = "score",
        detach: bool = True,
        skip: bool = False,
        given_conv: bool = False,
        own_loss: bool = False,
        hide_latent: float = 0.0,
        decay_graph: bool = True,
        dropout: float = 0.5,
    ) -> None:
        settings = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        check_relaxation("DGMNet", relaxation)
        super().__init__(hidden_channels, skip, given_conv, edge_form, settings)
        self.relaxation = relaxation
        similarity: str | Similarity = manifold(hidden_channels) if space == "manifold" else space
        self.graph = AlphaDGM(
            hidden_channels, hidden_channels, similarity=similarity, sampler=sampler, k=k, gain=gain, degree=degree,
            hold_degree=hold_degree, detach=detach,
        )  # fmt: skip
        self.convs = nn.ModuleList(GraphConv(hidden_channels, hidden_channels) for _ in range(rounds))

    def _latent(self, hidden: Tensor, dropped: Tensor, edge_index: Tensor | None) -> ModelOutput:
        graph = self.graph(hidden, edge_index)
        complex = CellComplex.from_canonical(hidden.size(0), graph.edge_index, None, graph.edge_prob)
        edge_weight, _ = cell_weights(complex, self.relaxation)
        x = dropped
        for at, conv in enumerate(self.convs):
            x = conv(self._drop(x) if at else x, graph.edge_index, edge_weight).relu()
        return ModelOutput(x, complex, graph)
