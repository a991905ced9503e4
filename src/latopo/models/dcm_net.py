"""Latent topology inference: the paper's model, its variants, and our own recipe."""

from typing import Literal

from torch import Tensor

from latopo.models.latent_net import LatentNet
from latopo.models.model import ModelOutput
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.dcm import DCM
from latopo.nn.polygon_inference import PolygonInference
from latopo.nn.relaxation import Relaxation
from latopo.nn.topology_loss import EdgeForm

__all__ = ["DCMNet"]


class DCMNet(LatentNet):
    """A linear layer, a :class:`~latopo.nn.DCM`, a linear head (tables 11 and 12 of the paper).

    The defaults are the paper's: 0/1 cells trained by the topology loss, the auxiliary branch detached.

    Args:
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        hidden_channels: width everywhere between.
        rounds: message passing rounds on nodes, and again on edges; 0 for none, see :class:`~latopo.nn.DCM`.
        max_length: longest polygon; below 3 there are none.
        gain: start of the α-DGM's gain γ.
        degree: set γ at the first step for this many neighbours a node, from the features alone.
        hold_degree: keep γ at that during training.
        sampler: of the edges: ``"entmax"`` or ``"topk"`` with ``k`` neighbours a node.
        polygons: of the polygons: ``"entmax"``, ``"all"`` or ``"topk"``.
        polygon_share: share of the candidate cycles that become polygons, see :class:`~latopo.nn.PolygonInference`.
        polygon_score: ``"sum"`` of the similarities in a cycle, the paper's, or their ``"mean"``; by the sum longer
            cycles score so low that hardly any is chosen.
        relaxation: how probabilities enter message passing.
        edge_form: form of the topology loss that trains it; None if the relaxation does.
        detach: whether the auxiliary branch is cut from the gradient of the features.
        skip, given_conv, own_loss, hide_latent, decay_graph, judges: see :class:`~latopo.models.latent_net.LatentNet`.
        dropout: before message passing, between rounds and before the head.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form, or None
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> DCMNet(4, 3, gain=5.0)(torch.randn(20, 4)).prediction.shape
        torch.Size([20, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 32,
        rounds: int = 1,
        max_length: int = 4,
        gain: float = 50.0,
        degree: float | None = None,
        hold_degree: bool = False,
        sampler: Literal["entmax", "topk"] = "entmax",
        k: int = 5,
        polygons: Literal["entmax", "all", "topk"] = "entmax",
        polygon_share: float | None = None,
        polygon_score: Literal["sum", "mean"] = "sum",
        relaxation: Relaxation = "none",
        edge_form: EdgeForm | None = "undirected",
        detach: bool = True,
        skip: bool = False,
        given_conv: bool = False,
        own_loss: bool = False,
        hide_latent: float = 0.0,
        decay_graph: bool = True,
        judges: float = 0.0,
        dropout: float = 0.5,
    ) -> None:
        settings = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        super().__init__(2 * hidden_channels, skip, given_conv, edge_form, settings)
        self.dcm = DCM(
            hidden_channels,
            hidden_channels,
            relaxation=relaxation,
            rounds=rounds,
            dropout=dropout,
            graph=AlphaDGM(
                hidden_channels,
                hidden_channels,
                gain=gain,
                degree=degree,
                hold_degree=hold_degree,
                sampler=sampler,
                k=k,
                detach=detach,
            ),
            polygons=PolygonInference(max_length, sampler=polygons, polygon_share=polygon_share, score=polygon_score),
        )

    def _latent(self, hidden: Tensor, dropped: Tensor, edge_index: Tensor | None) -> ModelOutput:
        topology = self.dcm.infer(hidden, edge_index)
        x = self.dcm.propagate(dropped, topology.complex)
        return ModelOutput(x, topology.complex, topology.graph, topology.polygons)
