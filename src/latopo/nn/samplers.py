"""How a node chooses its neighbours: the sampler that an α-DGM is given."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from latopo._arguments import Alpha, AtLeastOne, Positive, checked
from latopo.entmax import LearnableAlpha
from latopo.errors import LatopoError
from latopo.neighbors import (
    NeighborRows,
    Similarity,
    gain_for_degree,
    neighbor_rows,
    temperature_for_spread,
    topk_neighbors,
)
from latopo.neighbors.grouped import grouped_neighbor_rows, join_rows
from latopo.neighbors.search import Method, NeighborSearch
from latopo.neighbors.search_report import SearchReport
from latopo.neighbors.similarity import check_distance
from latopo.nn.gain import Gain
from latopo.nn.ranks import mean_over_ranks, tied
from latopo.nn.reset import reset
from latopo.nn.sampling import sample_budget

__all__ = ["BudgetSampler", "EdgeSampler", "EntmaxSampler", "NoEdges", "TopKSampler", "alpha_value"]

# Spread of the log-scores of top-k at the start; far below 1 the Gumbel noise would drown them.
_SPREAD = 100.0

# Anchors that queries may choose at a time.
_JOINED = 2**22

# Each training step γ makes up for this power of the degree's departure.
_HOLD_RATE = 0.2


def alpha_value(alpha: float | LearnableAlpha) -> float | Tensor:
    """The present α, learned or fixed."""
    return alpha() if isinstance(alpha, LearnableAlpha) else alpha


class EdgeSampler(nn.Module, ABC):
    """Base class: ``sampler(x, similarity)`` gives every point's neighbours with their probabilities.

    Attributes:
        merges_duplicates: whether equal points would form cliques under it, so that they are inferred once.
    """

    merges_duplicates: bool = True

    @abstractmethod
    def forward(self, x: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of the points x [N, d] among each other."""

    @abstractmethod
    def join(self, x: Tensor, anchors: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of queries x [Q, d] among anchors [N, d], by what was fitted: no row depends on another.

        Raises:
            TooManyCellsError: many queries choose so many anchors that fewer have to be asked at a time.
        """

    def grouped(self, x: Tensor, ptr: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of the points of each of several clouds among each other, ``ptr`` [G + 1]; here one by one."""
        if ptr.numel() == 1:
            return self(x, similarity)
        return join_rows([self(part, similarity) for part in x.split(ptr.diff().tolist())])

    def thin(self, edge_prob: Tensor) -> Tensor | None:
        """A mask of the undirected edges to keep, or None for all."""
        return None

    def check_similarity(self, similarity: Similarity) -> None:
        """Raise unless the sampler can work with it."""

    def facts(self) -> dict[str, float]:
        """The learned scalars by name."""
        return {}

    def search_report(self) -> SearchReport | None:
        """How the last call found the neighbours, where there is a choice."""
        return None

    def reset_parameters(self) -> None:
        """Go back to the start values."""
        reset(*self.children())

    def _agree(self, total: float, count: float, device: torch.device) -> float | None:
        """The mean over all ranks of a training; None if nobody has counted anything."""
        # An evaluation may run on one rank alone, which would wait for the others forever.
        if self.training:
            return mean_over_ranks(total, count, device)
        return total / count if count else None


class EntmaxSampler(EdgeSampler):
    r"""Sparse neighbourhoods :math:`\mathbf{p}_i = \boldsymbol{\alpha}_{ENT}(\gamma (\mathbf{z}_i - \mu_i)/\sigma_i)`.

    Args:
        gain: start of γ; larger means sparser.
        alpha: α of the entmax, or its start.
        degree: if given, γ is set at the first call so that a node chooses this many neighbours on average, from the
            features alone; ``gain`` then only matters until that call (one with more than ``degree`` points). Of many
            graphs the first one with more points sets it.
        hold_degree: whether γ follows during training so that this stays so: as classes draw together in the auxiliary
            space their points become equally near, and under a fixed γ each would choose its whole class. γ is then not
            a parameter. It moves once in a call, by the mean degree of all graphs with more points.
        learn_gain, learn_alpha: whether γ and α are parameters. A learned α stays in [1.1, 4].
        max_edges: limit for the number of directed edges, see :func:`latopo.entmax_neighbors`.
        search: how the rows are found, see :class:`~latopo.neighbors.NeighborSearch`; ``"auto"`` pays from some
            thousand points on, where the statistics of the Euclidean distance are then those of sampled columns. What
            can be kept from one call to the next is.

    Example:
        >>> from latopo.neighbors import get_similarity
        >>> x = torch.tensor([[0.0], [1.0], [3.0], [3.5]])
        >>> EntmaxSampler(gain=5.0)(x, get_similarity("euclidean")).col
        tensor([1, 0, 3, 2])
    """

    calibrated: Tensor
    _asked: NeighborSearch | None = None  # for queries

    @checked
    def __init__(
        self,
        gain: float = 50.0,
        alpha: Alpha = 1.5,
        *,
        degree: Positive | None = None,
        hold_degree: bool = False,
        learn_gain: bool = True,
        learn_alpha: bool = True,
        max_edges: int | None = None,
        search: Method | NeighborSearch = "exact",
    ) -> None:
        super().__init__()
        if hold_degree and degree is None:
            raise LatopoError("EntmaxSampler: hold_degree needs the degree to hold")
        self.degree, self.hold_degree, self.max_edges = degree, hold_degree, max_edges
        self.search = search if isinstance(search, NeighborSearch) else NeighborSearch(search)
        self.gain = Gain(gain, learn_gain and not hold_degree)
        self.alpha: float | LearnableAlpha = LearnableAlpha(alpha) if learn_alpha else alpha
        self.register_buffer("calibrated", torch.tensor(degree is None))

    def reset_parameters(self) -> None:
        """Go back to the start values; a degree is calibrated again."""
        super().reset_parameters()
        self.calibrated.fill_(self.degree is None)

    def forward(self, x: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of the points x among each other; may set or move γ for the degree."""
        # A few points cannot have more neighbours than there are others: a later call with enough of them calibrates.
        enough = self.degree is not None and x.size(0) > self.degree
        self._calibrate(x if enough else x[:0], similarity)
        gain, alpha = self.gain(), alpha_value(self.alpha)
        rows = neighbor_rows(x, gain, alpha, similarity, max_edges=self.max_edges, search=self.search)
        self._hold(rows.col.numel() if enough else 0, x.size(0) if enough else 0, x.device)
        return rows if rows.col.numel() else rows._replace(prob=tied(rows.prob, gain, alpha))

    def grouped(self, x: Tensor, ptr: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of the points of each cloud among each other, in one pass."""
        enough = [] if self.degree is None else (ptr.diff() > self.degree).nonzero().flatten().tolist()
        self._calibrate(x[ptr[enough[0]] : ptr[enough[0] + 1]] if enough else x[:0], similarity)
        gain, alpha, limit = self.gain(), alpha_value(self.alpha), self.max_edges
        rows = grouped_neighbor_rows(x, ptr, gain, alpha, similarity, max_edges=limit, search=self.search.method)
        self._hold(int(rows.ptr[ptr].diff()[enough].sum()), int(ptr.diff()[enough].sum()), x.device)
        return rows if rows.col.numel() else rows._replace(prob=tied(rows.prob, gain, alpha))

    def join(self, x: Tensor, anchors: Tensor, similarity: Similarity) -> NeighborRows:
        """Neighbours of queries by the fitted γ and α."""
        # One query alone is always answered, and by what an approximate search finds it would depend on the others.
        limit = max(_JOINED, anchors.size(0))
        method: Method = "certified" if self.search.method == "approximate" else self.search.method
        asked = self._asked
        if asked is None or asked.method != method:
            self._asked = asked = NeighborSearch(method, reuse=False)  # which keeps the cells of the anchors
        return neighbor_rows(
            x, self.gain(), alpha_value(self.alpha), similarity, anchors, max_edges=limit, search=asked
        )

    @torch.no_grad()
    def _calibrate(self, x: Tensor, similarity: Similarity) -> None:
        """Set γ for the degree, once; x is empty if there are too few points here."""
        if self.degree is None or self.calibrated:
            return
        alpha = float(torch.as_tensor(alpha_value(self.alpha)))
        gain = gain_for_degree(x, self.degree, alpha, similarity, search=self.search.method) if x.size(0) else 0.0
        agreed = self._agree(gain, float(x.size(0) > 0), x.device)
        if agreed is not None:
            self.gain.restart(agreed)
            self.calibrated.fill_(True)

    def _hold(self, chosen: int, points: int, device: torch.device) -> None:
        """Let γ follow the degree: so many neighbours were chosen by so many points."""
        if self.degree is None or not self.hold_degree or not self.training:
            return
        degree = self._agree(chosen, points, device)
        if degree is not None:
            self.gain.nudge((degree / self.degree) ** _HOLD_RATE)

    @torch.no_grad()
    def facts(self) -> dict[str, float]:
        """α and γ."""
        return {"alpha": float(torch.as_tensor(alpha_value(self.alpha))), "gain": float(self.gain())}

    def search_report(self) -> SearchReport | None:
        """What the search did in the last call."""
        return self.search.report

    def extra_repr(self) -> str:
        """What differs from sampler to sampler."""
        fixed = [] if isinstance(self.alpha, LearnableAlpha) else [f"alpha={self.alpha}"]
        held = [] if self.degree is None else [f"degree={self.degree}, hold_degree={self.hold_degree}"]
        found = [] if self.search.method == "exact" else [f"search={self.search.method!r}"]
        return ", ".join(fixed + held + found)


class TopKSampler(EdgeSampler):
    r"""The DGM's sampler: k neighbours per node by the Gumbel top-k trick with :math:`p_{ij} = \exp(-t d_{ij}^2)`.

    The temperature t is learned from a start that the first call sets by the scale of the points. The probabilities are
    not normalised and mostly near 0: as weights of messages they mute the edges, so ``relaxation="none"`` goes with
    them.

    Args:
        k: neighbours per node.
        sample_at_eval: whether the choice stays random in evaluation mode; by default the k nearest are taken there.

    Example:
        >>> from latopo.neighbors import get_similarity
        >>> x = torch.tensor([[0.0], [1.0], [3.0], [3.5]])
        >>> TopKSampler(k=1).eval()(x, get_similarity("euclidean")).col
        tensor([1, 0, 3, 2])
    """

    merges_duplicates = False
    calibrated: Tensor

    @checked
    def __init__(self, k: AtLeastOne = 5, *, sample_at_eval: bool = False) -> None:
        super().__init__()
        self.k, self.sample_at_eval = k, sample_at_eval
        self.temperature = Gain(50.0, relative=True)
        self.register_buffer("calibrated", torch.tensor(False))

    def reset_parameters(self) -> None:
        """Go back to the start; the next call sets the temperature again."""
        super().reset_parameters()
        self.calibrated.fill_(False)

    def check_similarity(self, similarity: Similarity) -> None:
        """Raise unless it is minus a distance."""
        check_distance("TopKSampler", similarity)

    def forward(self, x: Tensor, similarity: Similarity) -> NeighborRows:
        """k neighbours of each point, at random in training."""
        if not self.calibrated:
            self._calibrate(x, similarity)
        noise = self.training or self.sample_at_eval
        return topk_neighbors(x, self.k, self.temperature(), similarity, noise=noise)

    def _calibrate(self, x: Tensor, similarity: Similarity) -> None:
        start = temperature_for_spread(x, _SPREAD, similarity) if x.size(0) > 1 else 0.0
        agreed = self._agree(start, float(x.size(0) > 1), x.device)
        if agreed is not None:
            self.temperature.restart(agreed)
            self.calibrated.fill_(True)

    def join(self, x: Tensor, anchors: Tensor, similarity: Similarity) -> NeighborRows:
        """The k nearest anchors of each query."""
        z = similarity.pairwise(x, anchors)
        col = z.topk(min(self.k, anchors.size(0)), dim=1).indices.sort(dim=1).values
        score = -self.temperature() * z.gather(1, col).square().flatten()
        ptr = torch.arange(x.size(0) + 1, device=x.device) * col.size(1)
        return NeighborRows(ptr, col.flatten(), score.exp(), score)

    @torch.no_grad()
    def facts(self) -> dict[str, float]:
        """The temperature, under the name of what it stands in for."""
        return {"gain": float(self.temperature())}

    def extra_repr(self) -> str:
        """k."""
        return f"k={self.k}"


class NoEdges(EdgeSampler):
    """Nobody chooses anybody: for complexes of given edges alone.

    Example:
        >>> from latopo.neighbors import get_similarity
        >>> NoEdges()(torch.zeros(3, 2), get_similarity("euclidean")).col.numel()
        0
    """

    merges_duplicates = False

    def forward(self, x: Tensor, similarity: Similarity) -> NeighborRows:
        """Empty rows."""
        nobody = torch.zeros(x.size(0) + 1, dtype=torch.int64, device=x.device)
        return NeighborRows(nobody, nobody[:0], x.new_zeros(0), x.new_zeros(0))

    def grouped(self, x: Tensor, ptr: Tensor, similarity: Similarity) -> NeighborRows:
        """Empty rows."""
        return self(x, similarity)

    def join(self, x: Tensor, anchors: Tensor, similarity: Similarity) -> NeighborRows:
        """Empty rows."""
        return self(x, similarity)


class BudgetSampler(EdgeSampler):
    r"""Of the edges of an entmax sampler a random set of expected size ``budget``.

    An edge is included with probability :math:`\min(1, \lambda p_e)`; in evaluation mode the most probable are taken.

    Args:
        budget: expected number of undirected edges.
        sampler: whose edges; :class:`EntmaxSampler` with its defaults by default.
        sample_at_eval: whether the choice stays random in evaluation mode.

    Example:
        >>> BudgetSampler(100.0).thin(torch.tensor([0.5, 0.2])).tolist()
        [True, True]
    """

    @checked
    def __init__(self, budget: Positive, sampler: EntmaxSampler | None = None, *, sample_at_eval: bool = False) -> None:
        super().__init__()
        self.budget, self.sample_at_eval = budget, sample_at_eval
        self.sampler = EntmaxSampler() if sampler is None else sampler

    def forward(self, x: Tensor, similarity: Similarity) -> NeighborRows:
        """All neighbours, before the budget."""
        return self.sampler(x, similarity)

    def grouped(self, x: Tensor, ptr: Tensor, similarity: Similarity) -> NeighborRows:
        """All neighbours within each cloud, before the budget."""
        return self.sampler.grouped(x, ptr, similarity)

    def join(self, x: Tensor, anchors: Tensor, similarity: Similarity) -> NeighborRows:
        """Queries have no budget: it would make them depend on each other."""
        return self.sampler.join(x, anchors, similarity)

    def thin(self, edge_prob: Tensor) -> Tensor:
        """The edges within the budget."""
        return sample_budget(edge_prob, self.budget, self.training or self.sample_at_eval)

    def facts(self) -> dict[str, float]:
        """Those of the sampler within."""
        return self.sampler.facts()

    def search_report(self) -> SearchReport | None:
        """That of the sampler within."""
        return self.sampler.search_report()

    def extra_repr(self) -> str:
        """The budget."""
        return f"budget={self.budget}"
