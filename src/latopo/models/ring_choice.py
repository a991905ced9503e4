"""Which rings of a graph become polygons."""

import torch
from torch import Tensor, nn

from latopo.data.graph_set import GraphBatch
from latopo.entmax import LearnableAlpha, segment_entmax
from latopo.models.graph_layer import Norm
from latopo.models.graph_settings import ChosenRings
from latopo.nn.encoder import AuxiliaryEncoder
from latopo.nn.gain import Gain

__all__ = ["RingChoice"]


class RingChoice(nn.Module):
    r"""The polygon inference of the paper on the rings that many graphs are known to have.

    .. math::
        z_c = -\frac{1}{\binom{k}{2}} \sum_{e < f \in c} \|\mathbf{x}_{1,aux}(e) - \mathbf{x}_{1,aux}(f)\|, \qquad
        \mathbf{p} = \boldsymbol{\alpha}_{ENT}\!\left(\gamma\,\frac{\mathbf{z} - \mu_k}{\sigma_k}\right)

    with one entmax per graph. Mean and deviation are those of the rings of the same length k, so that a hexagon is as
    easily chosen as a triangle. A molecule has too few rings to have statistics of its own: they are the running ones
    of the training batches, as in a batch norm, and no graph depends on the others of its batch in evaluation.

    Args:
        channels: width of the node features.
        settings: the start of γ and α.
        max_length: the most sides of a ring.

    Shapes:
        - **x**: [N, channels], **batch**: its graphs, with R rings
        - **output**: the rings' weights [R]: their probabilities over the largest of their graph; 0 is not chosen
    """

    def __init__(self, channels: int, settings: ChosenRings, max_length: int) -> None:
        super().__init__()
        self.encoder = AuxiliaryEncoder((channels, channels, channels))
        self.norms = nn.ModuleDict({str(length): Norm(1, affine=False) for length in range(3, max_length + 1)})
        self.gain = Gain(settings.ring_gain)
        self.alpha = LearnableAlpha(settings.ring_alpha)

    def forward(self, x: Tensor, batch: GraphBatch) -> Tensor:
        """The weight of every ring."""
        aux = self.encoder(x, batch.edge_index)
        x_edge = aux.index_select(0, batch.edge_index[0]) + aux.index_select(0, batch.edge_index[1])
        score = x.new_zeros(batch.ring_length.numel())
        for length, norm in self.norms.items():
            rings = (batch.ring_length == int(length)).nonzero().flatten()
            if rings.numel():
                sides = batch.side_edge[batch.ring_length[batch.side_ring] == int(length)]
                found = _mean_similarity(x_edge.index_select(0, sides).view(rings.numel(), int(length), -1))
                score = score.index_copy(0, rings, norm(found[:, None]).flatten())
        ptr = torch.searchsorted(batch.ring_graph, torch.arange(batch.num_graphs + 1, device=x.device))
        prob = segment_entmax(self.gain() * score, ptr, self.alpha())
        largest = prob.new_zeros(batch.num_graphs).scatter_reduce(0, batch.ring_graph, prob, "amax")
        return prob / largest.index_select(0, batch.ring_graph)


def _mean_similarity(sides: Tensor) -> Tensor:
    """Minus the mean distance between the sides of rings [C, k, d], [C]."""
    count = sides.size(1)
    return -torch.cdist(sides, sides).sum((1, 2)) / (count * (count - 1))
