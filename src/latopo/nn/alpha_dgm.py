"""From features to edges: the α-Differentiable Graph Module."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from latopo.complex.canonical import edge_keys
from latopo.entmax import LearnableAlpha
from latopo.errors import LatopoError
from latopo.neighbors import (
    NeighborRows,
    Similarity,
    gain_for_degree,
    get_similarity,
    neighbor_rows,
    temperature_for_spread,
    topk_neighbors,
)
from latopo.neighbors.similarity import check_distance
from latopo.nn.checks import check_alpha, check_features, simple_edges
from latopo.nn.duplicates import group_duplicates
from latopo.nn.encoder import AuxiliaryEncoder
from latopo.nn.gain import Gain
from latopo.nn.reset import reset
from latopo.nn.sampling import sample_budget

__all__ = ["AlphaDGM", "LatentGraph"]

# Spread of the log-scores of top-k at the start; far below 1 the Gumbel noise would drown them.
_SPREAD = 100.0

# Each training step γ makes up for this power of the degree's departure.
_HOLD_RATE = 0.2


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
        encoder: any module ``encoder(x, edge_index_or_None) → [N, d]`` in place of the default one
            (:class:`~latopo.nn.AuxiliaryEncoder`: an MLP without a graph, a GCN with one). It gets each undirected edge
            once, u < v; a convolution of PyG wants ``to_undirected(edge_index)``.
        similarity: by name or a module, see :func:`latopo.entmax_neighbors`.
        gain: start of γ; larger means sparser.
        degree: if given, γ is set at the first call so that a node chooses this many neighbours on average, from the
            features alone; ``gain`` then only matters until that call (one with more than ``degree`` points).
        hold_degree: whether γ follows during training so that this stays so: as classes draw together in the auxiliary
            space their points become equally near, and under a fixed γ each would choose its whole class. γ is then not
            a parameter.
        alpha: α of the entmax, or its start.
        learn_gain, learn_alpha: whether γ and α are parameters. A learned α stays in [1.1, 4].
        sampler: ``"entmax"``; ``"topk"``, the DGM's: ``k`` neighbours a node by the Gumbel top-k trick with
            :math:`p_{ij} = \exp(-t d_{ij}^2)`, t learned from a start that the first call sets by the scale of the
            points (they are not normalised and mostly near 0: as weights of messages they mute the edges, so
            ``relaxation="none"`` goes with them); or ``"budget"``: of the entmax edges a random set of expected
            size ``budget``, an edge being included with probability :math:`\min(1, \lambda p_e)`.
        k: neighbours a node, for ``"topk"``.
        budget: expected number of undirected edges, for ``"budget"``.
        sample_at_eval: whether ``"topk"`` and ``"budget"`` stay random in evaluation mode; by default the k nearest and
            the most probable are taken there.
        merge_duplicates: rows with bit-identical auxiliary features are inferred once, and each copy is tied to the
            first by an edge of probability 1. Without it equal points form cliques whatever the gain. ``"topk"`` has no
            such cliques and never merges. (Matrix products
            may round equal rows in two or three ways; those then count as so many points.)
        detach: whether x enters the encoder without gradient.
        max_edges: limit for the number of directed edges, see :func:`latopo.entmax_neighbors`; ``"topk"`` has k a node.

    Shapes:
        - **x**: [N, in_channels], **edge_index**: [2, E'] any form, or None
        - **output**: :class:`LatentGraph`

    Example:
        >>> x = torch.randn(100, 8, generator=torch.Generator().manual_seed(0))
        >>> graph = AlphaDGM(8, gain=20.0)(x)
        >>> bool((graph.edge_index[0] < graph.edge_index[1]).all())
        True
    """

    calibrated: Tensor

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 32,
        num_layers: int = 3,
        *,
        encoder: nn.Module | None = None,
        similarity: str | Similarity = "euclidean",
        gain: float = 50.0,
        degree: float | None = None,
        hold_degree: bool = False,
        alpha: float = 1.5,
        learn_gain: bool = True,
        learn_alpha: bool = True,
        sampler: Literal["entmax", "topk", "budget"] = "entmax",
        k: int = 5,
        budget: float | None = None,
        sample_at_eval: bool = False,
        merge_duplicates: bool = True,
        detach: bool = False,
        max_edges: int | None = None,
    ) -> None:
        super().__init__()
        if sampler not in ("entmax", "topk", "budget"):
            raise LatopoError(f"AlphaDGM: sampler must be entmax, topk or budget, got {sampler!r}")
        if (sampler == "budget") != (budget is not None):
            raise LatopoError(f"AlphaDGM: budget belongs to sampler='budget', got {sampler!r} and budget={budget}")
        if degree is not None and not degree > 0:
            raise LatopoError(f"AlphaDGM: degree must be > 0, got {degree}")
        if budget is not None and not budget > 0:
            raise LatopoError(f"AlphaDGM: budget must be > 0, got {budget}")
        check_alpha("AlphaDGM", alpha)
        if hold_degree and (degree is None or sampler == "topk"):
            raise LatopoError("AlphaDGM: hold_degree needs the degree to hold, and a sampler other than topk")
        if sampler == "topk" and (k < 1 or degree is not None):
            raise LatopoError(
                f"AlphaDGM: sampler='topk' takes k ≥ 1 neighbours and no degree, got k={k}, degree={degree}"
            )
        self.hold_degree = hold_degree
        self.in_channels, self.sampler, self.k, self.budget, self.degree = in_channels, sampler, k, budget, degree
        self.sample_at_eval, self.detach = sample_at_eval, detach
        self.merge_duplicates = merge_duplicates and sampler != "topk"
        self.max_edges = max_edges
        self.similarity = get_similarity(similarity)
        if sampler == "topk":
            check_distance("AlphaDGM with sampler='topk'", self.similarity)
        widths = (in_channels, *[hidden_channels] * num_layers)
        if encoder is None:
            encoder = AuxiliaryEncoder(widths, last_bias=not self.similarity.shift_free)
        self.encoder = encoder
        # Top-k has a temperature in place of the gain, and no α.
        self.gain = Gain(gain, learn_gain and not hold_degree, relative=sampler == "topk")
        self.alpha = LearnableAlpha(alpha) if learn_alpha and sampler != "topk" else alpha
        self.register_buffer("calibrated", torch.tensor(not self._starts_from_points()))

    def reset_parameters(self) -> None:
        """Initialise everything anew."""
        reset(self.encoder, self.similarity, self.gain, self.alpha)
        self.calibrated.fill_(not self._starts_from_points())

    def forward(self, x: Tensor, edge_index: Tensor | None = None) -> LatentGraph:
        """Infer the graph of x, with the help of a given graph if there is one."""
        check_features("AlphaDGM", x, self.in_channels)
        if edge_index is not None:
            edge_index = simple_edges("AlphaDGM", edge_index, x.size(0))
        x_aux = self.encoder(x.detach() if self.detach else x, edge_index)
        if self.merge_duplicates:
            representatives, group = group_duplicates(x_aux)
            if representatives.numel() < x_aux.size(0):
                rows = self._choose(x_aux[representatives])
                return self._sample(self._undirected(x_aux, rows, representatives, group))
        return self._sample(self._undirected(x_aux, self._choose(x_aux)))

    def alpha_value(self) -> float | Tensor:
        """The present α."""
        return self.alpha() if isinstance(self.alpha, LearnableAlpha) else self.alpha

    def _starts_from_points(self) -> bool:
        return self.degree is not None or self.sampler == "topk"

    @torch.no_grad()
    def _calibrate(self, x: Tensor) -> None:
        """Set the start of γ, or of the temperature, by the points of the first call, be it in training or not."""
        if self.sampler == "topk":
            start = temperature_for_spread(x, _SPREAD, self.similarity)
        else:
            assert self.degree is not None
            start = gain_for_degree(x, self.degree, float(torch.as_tensor(self.alpha_value())), self.similarity)
        self.gain.restart(start)
        self.calibrated.fill_(True)

    def _choose(self, x: Tensor) -> NeighborRows:
        # No more points than the degree cannot have it; a later call with more of them calibrates.
        if not self.calibrated and x.size(0) > (1 if self.sampler == "topk" else self.degree or 1):
            self._calibrate(x)
        if self.sampler == "topk":
            noise = self.training or self.sample_at_eval
            return topk_neighbors(x, self.k, self.gain(), self.similarity, noise=noise)
        rows = neighbor_rows(x, self.gain(), self.alpha_value(), self.similarity, max_edges=self.max_edges)
        # No more points than the degree cannot have it, here as above.
        if self.hold_degree and self.degree is not None and self.training and x.size(0) > self.degree:
            self.gain.nudge((rows.col.numel() / x.size(0) / self.degree) ** _HOLD_RATE)
        return rows

    @staticmethod
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
        keys, position = torch.unique(edge_keys(pairs, count), return_inverse=True)
        edge_prob = half.new_zeros(keys.numel()).index_add(0, position, half)
        edges = torch.stack([keys // max(count, 1), keys % max(count, 1)])
        return LatentGraph(x_aux, edges, edge_prob, row, col, rows.prob, rows.score)

    def _sample(self, graph: LatentGraph) -> LatentGraph:
        if self.sampler != "budget" or self.budget is None:
            return graph
        keep = sample_budget(graph.edge_prob, self.budget, self.training or self.sample_at_eval)
        kept = edge_keys(graph.edge_index[:, keep], graph.x_aux.size(0))
        chosen = torch.isin(edge_keys(torch.stack([graph.row, graph.col]), graph.x_aux.size(0)), kept)
        return LatentGraph(
            graph.x_aux, graph.edge_index[:, keep], graph.edge_prob[keep], graph.row[chosen], graph.col[chosen],
            graph.prob[chosen], graph.score[chosen],
        )  # fmt: skip

    def extra_repr(self) -> str:
        """What differs from module to module."""
        chosen: dict[str, object] = {"sampler": self.sampler}
        if self.sampler == "topk":
            chosen["k"] = self.k
        elif not isinstance(self.alpha, LearnableAlpha):
            chosen["alpha"] = self.alpha
        if self.budget is not None:
            chosen["budget"] = self.budget
        if self.degree is not None:
            chosen |= {"degree": self.degree, "hold_degree": self.hold_degree}
        chosen |= {"merge_duplicates": self.merge_duplicates, "detach": self.detach}
        return ", ".join([f"in_channels={self.in_channels}", *(f"{name}={value!r}" for name, value in chosen.items())])
