"""From features to edges: the α-Differentiable Graph Module."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from latopo._arguments import Chance, Count, Size, checked
from latopo._compile import refuse_script, uncompiled
from latopo._modes import unwatched
from latopo.complex.canonical import edge_keys
from latopo.complex.distinct_edges import distinct_edges
from latopo.complex.graphs import graph_numbers
from latopo.neighbors import NeighborRows, Similarity, get_similarity
from latopo.nn.checks import check_features, simple_edges
from latopo.nn.duplicates import group_duplicates
from latopo.nn.encoder import AuxiliaryEncoder
from latopo.nn.reset import reset
from latopo.nn.samplers import EdgeSampler, EntmaxSampler

__all__ = ["AlphaDGM", "LatentGraph"]


class LatentGraph(NamedTuple):
    """An inferred graph.

    Attributes:
        x_aux: auxiliary features [N, d].
        edge_index: undirected edges [2, E], u < v, sorted.
        edge_prob: p_e = (p_i(j) + p_j(i)) / 2, [E].
        row: the directed choices behind the edges: node i, [D], ascending.
        col: and its chosen neighbour j, [D].
        prob: p_i(j), [D].
        score: the standardised similarity (z_ij − μ_i) / σ_i (for top-k: the log-score), [D].
    """

    x_aux: Tensor
    edge_index: Tensor
    edge_prob: Tensor
    row: Tensor
    col: Tensor
    prob: Tensor
    score: Tensor


class AlphaDGM(nn.Module):
    r"""Infers an undirected graph: node i chooses its neighbours by α-entmax of its similarities to all others.

    .. math::
        \mathbf{X}_{aux} = \nu_0(\mathbf{X}), \qquad
        \mathbf{p}_i = \boldsymbol{\alpha}_{ENT}\!\left(\gamma\,\frac{\mathbf{z}_i - \mu_i}{\sigma_i}\right), \qquad
        (i, j) \in \mathcal{E} \iff p_i(j) > 0 \text{ or } p_j(i) > 0

    (section 3.1 of the paper, with the layer norm as in :func:`latopo.entmax_neighbors`). An edge has the probability
    :math:`p_e = (p_i(j) + p_j(i)) / 2`.

    Args:
        in_channels: width of x.
        hidden_channels: width of the auxiliary features and of the encoder's layers.
        num_layers: layers of the default encoder.
        sampler: how nodes choose: :class:`~latopo.nn.EntmaxSampler` (the default),
            :class:`~latopo.nn.TopKSampler` (the DGM's) or :class:`~latopo.nn.BudgetSampler`.
        encoder: any module ``encoder(x, edge_index_or_None) → [N, d]`` in place of the default one
            (:class:`~latopo.nn.AuxiliaryEncoder`: an MLP without a graph, a GCN with one). It gets each undirected edge
            once, u < v; a convolution of PyG wants ``to_undirected(edge_index)``.
        similarity: by name or a module, see :func:`latopo.entmax_neighbors`.
        merge_duplicates: rows with bit-identical auxiliary features are inferred once, and each copy is tied to the
            first by an edge of probability 1. Without it equal points form cliques whatever the gain; top-k has no such
            cliques and never merges. (Matrix products may round equal rows in two or three ways; those then count as so
            many points.)
        detach: whether x enters the encoder without gradient.
        dropout: before each layer of the default encoder; the graph then jumps from step to step.

    Shapes:
        - **x**: [N, in_channels], **edge_index**: [2, E'] any form, or None, **ptr**: [G + 1], where each of several
          graphs starts and ends, or None
        - **output**: :class:`LatentGraph`

    Example:
        >>> x = torch.randn(100, 8, generator=torch.Generator().manual_seed(0))
        >>> graph = AlphaDGM(8, sampler=EntmaxSampler(gain=20.0))(x)
        >>> bool((graph.edge_index[0] < graph.edge_index[1]).all())
        True
    """

    @checked
    def __init__(
        self,
        in_channels: Size,
        hidden_channels: Size = 32,
        num_layers: Count = 3,
        *,
        sampler: EdgeSampler | None = None,
        encoder: nn.Module | None = None,
        similarity: str | Similarity = "euclidean",
        merge_duplicates: bool = True,
        detach: bool = False,
        dropout: Chance = 0.0,
    ) -> None:
        super().__init__()
        self.in_channels, self.detach = in_channels, detach
        self.sampler = EntmaxSampler() if sampler is None else sampler
        self.merge_duplicates = merge_duplicates and self.sampler.merges_duplicates
        self.similarity = get_similarity(similarity)
        self.sampler.check_similarity(self.similarity)
        if encoder is None:
            widths = (in_channels, *[hidden_channels] * num_layers)
            encoder = AuxiliaryEncoder(widths, last_bias=not self.similarity.shift_free, dropout=dropout)
        self.encoder = encoder

    __prepare_scriptable__ = refuse_script

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        reset(self.encoder, self.similarity, self.sampler)

    @uncompiled
    def forward(self, x: Tensor, edge_index: Tensor | None = None, ptr: Tensor | None = None) -> LatentGraph:
        """Infer the graph of x, with the help of a given graph if there is one; of many graphs, each for itself."""
        check_features("AlphaDGM", x, self.in_channels)
        if edge_index is not None:
            edge_index = simple_edges("AlphaDGM", edge_index, x.size(0))
        x_aux = self.encoder(x.detach() if self.detach else x, edge_index)
        return self._thin(self._choose(x_aux, ptr), ptr)

    def _choose(self, x_aux: Tensor, ptr: Tensor | None) -> LatentGraph:
        if self.merge_duplicates:
            batch = None if ptr is None else graph_numbers(ptr, x_aux.size(0))
            representatives, group = group_duplicates(x_aux, batch)
            if representatives.numel() < x_aux.size(0):
                distinct = None if ptr is None else torch.searchsorted(representatives, ptr)
                rows = self._sample(x_aux[representatives], distinct)
                return _undirected(x_aux, rows, representatives, group)
        return _undirected(x_aux, self._sample(x_aux, ptr))

    def _sample(self, x_aux: Tensor, ptr: Tensor | None) -> NeighborRows:
        if ptr is None:
            return self.sampler(x_aux, self.similarity)
        return self.sampler.grouped(x_aux, ptr, self.similarity)

    def join(self, x: Tensor, anchors: Tensor) -> tuple[Tensor, NeighborRows]:
        """Auxiliary features of queries x [Q, in_channels], and their choice among anchors' auxiliary features."""
        check_features("AlphaDGM", x, self.in_channels)
        x_aux = self.encoder(x, None)
        return x_aux, self.sampler.join(x_aux, anchors, self.similarity)

    def _thin(self, graph: LatentGraph, ptr: Tensor | None) -> LatentGraph:
        if type(self.sampler).thin is EdgeSampler.thin:
            return graph
        # Edges stand graph by graph.
        sizes = None if ptr is None else torch.searchsorted(graph.edge_index[0].contiguous(), ptr).diff().tolist()
        parts = [graph.edge_prob] if sizes is None else graph.edge_prob.split(sizes)
        masks = [self.sampler.thin(part) for part in parts]
        if all(mask is None for mask in masks):
            return graph
        every = [torch.ones_like(part, dtype=torch.bool) for part in parts]
        keep = torch.cat([full if mask is None else mask for mask, full in zip(masks, every, strict=True)])
        kept = edge_keys(graph.edge_index[:, keep], graph.x_aux.size(0))
        chosen = torch.isin(edge_keys(torch.stack([graph.row, graph.col]), graph.x_aux.size(0)), kept)
        directed = (part[chosen] for part in (graph.row, graph.col, graph.prob, graph.score))
        return LatentGraph(graph.x_aux, graph.edge_index[:, keep], graph.edge_prob[keep], *directed)

    def extra_repr(self) -> str:
        """What differs from module to module."""
        return f"in_channels={self.in_channels}, merge_duplicates={self.merge_duplicates}, detach={self.detach}"


@unwatched
def _undirected(
    x_aux: Tensor, rows: NeighborRows, representatives: Tensor | None = None, group: Tensor | None = None
) -> LatentGraph:
    """Merge the two directions of each choice; with duplicates the rows are those of the representatives."""
    count = x_aux.size(0)
    row, col = torch.repeat_interleave(rows.ptr.diff(), output_size=rows.col.numel()), rows.col
    pairs, half = torch.stack([row, col]), rows.prob / 2
    if representatives is not None:
        pairs = representatives[pairs]
        row, col = pairs
        first = representatives[group]
        copy = (first != torch.arange(count, device=first.device)).nonzero().flatten()
        pairs = torch.cat([pairs, torch.stack([first[copy], copy])], dim=1)
        half = torch.cat([half, half.new_ones(copy.numel())])
    edges, number = distinct_edges(pairs, count)
    edge_prob = half.new_zeros(edges.size(1)).index_add(0, number, half)
    return LatentGraph(x_aux, edges, edge_prob, row, col, rows.prob, rows.score)
