"""Our recipe without the inferred topology: what of its score the rest of it would get alone."""

from torch import Tensor

from latopo.models.latent_net import LatentNet
from latopo.models.model import ModelOutput

__all__ = ["SkipGCN"]


class SkipGCN(LatentNet):
    """A linear layer, a convolution over the given graph with a skip beside it, a linear head.

    It is :class:`~latopo.models.DCMNet` with ``skip`` and ``given_conv`` and nothing inferred, so the difference
    between the two is what the complex adds.

    Args:
        in_channels: width of x.
        out_channels: classes, or 1 for regression.
        hidden_channels: width everywhere between.
        own_loss, judges: see :class:`~latopo.models.latent_net.LatentNet`.
        dropout: before the convolution and before the head.

    Shapes:
        - **x**: [N, in_channels], dense or sparse CSR, **edge_index**: [2, E] in any form
        - **output**: :class:`~latopo.models.ModelOutput` with prediction [N, out_channels]

    Example:
        >>> import torch
        >>> SkipGCN(4, 3)(torch.ones(5, 4), torch.tensor([[0], [1]])).prediction.shape
        torch.Size([5, 3])
    """

    needs_graph = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 32,
        own_loss: bool = False,
        judges: float = 0.0,
        dropout: float = 0.5,
    ) -> None:
        settings = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        super().__init__(0, True, True, None, settings)

    def _latent(self, hidden: Tensor, dropped: Tensor, edge_index: Tensor | None) -> ModelOutput:
        return ModelOutput(hidden[:, :0])
