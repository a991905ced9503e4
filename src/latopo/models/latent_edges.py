"""Edges that a network adds to those of each graph, and the rings that they close."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from latopo.data.graph_set import GraphBatch, find_rings
from latopo.errors import LatopoError
from latopo.models.graph_settings import LatentEdges
from latopo.nn.alpha_dgm import AlphaDGM
from latopo.nn.samplers import EntmaxSampler

__all__ = ["EdgeInference", "InferredEdges"]


class InferredEdges(NamedTuple):
    """The cells of many graphs with inferred edges.

    Attributes:
        batch: the same graphs with all edges, and the rings of all.
        weight: 1 for a given edge, its probability for an inferred one, [E].
    """

    batch: GraphBatch
    weight: Tensor


class EdgeInference(nn.Module):
    """The α-DGM within each graph, in one pass over all; given edges stay with weight 1 if the settings keep them.

    Features of edges get a last column that says whether an edge was given. Without given edges their only feature is
    the distance between the coordinates of their ends, as in :func:`latopo.data.as_clouds`.

    Args:
        channels: width of the node features.
        settings: see :class:`~latopo.models.graph_settings.LatentEdges`.
        max_length: the most sides of a ring.

    Shapes:
        - **x**: [N, channels], **batch**: the graphs
        - **output**: :class:`InferredEdges`
    """

    def __init__(self, channels: int, settings: LatentEdges, max_length: int) -> None:
        super().__init__()
        self.keep_given, self.max_length = settings.keep_given, max_length
        sampler = EntmaxSampler(degree=settings.degree, hold_degree=True)
        self.graph = AlphaDGM(channels, channels, 2, sampler=sampler)

    def forward(self, x: Tensor, batch: GraphBatch) -> InferredEdges:
        """The graphs with inferred edges."""
        ptr = torch.searchsorted(batch.node_graph, torch.arange(batch.num_graphs + 1, device=x.device))
        found = self.graph(x, batch.edge_index if self.keep_given else None, ptr)
        given = batch.edge_index if self.keep_given else batch.edge_index[:, :0]
        count = x.size(0)
        keys = torch.cat([given, found.edge_index], dim=1)
        every, place = torch.unique(keys[0] * count + keys[1], return_inverse=True)
        at_given, at_found = place.split([given.size(1), found.edge_index.size(1)])
        weight = found.edge_prob.new_zeros(every.numel()).index_copy(0, at_found, found.edge_prob)
        weight = weight.index_fill(0, at_given, 1.0)
        edges = torch.stack([every // count, every % count])
        features = self._features(batch, edges, at_given)
        length, graph, side_edge = find_rings(edges, batch.node_graph, self.max_length)
        cells = batch._replace(
            edge_index=edges, edge_attr=features, ring_length=length, ring_graph=graph, side_edge=side_edge,
            side_ring=torch.repeat_interleave(length),
        )  # fmt: skip
        return InferredEdges(cells, weight)

    def _features(self, batch: GraphBatch, edges: Tensor, at_given: Tensor) -> Tensor:
        if not self.keep_given:
            if batch.position is None:
                raise LatopoError("EdgeInference: without given edges the graphs need coordinates, and have none")
            ends = batch.position[edges]
            return (ends[0] - ends[1]).norm(dim=1, keepdim=True)
        known = torch.cat([batch.edge_attr, batch.edge_attr.new_ones(batch.edge_index.size(1), 1)], dim=1)
        return known.new_zeros(edges.size(1), known.size(1)).index_copy(0, at_given, known)
