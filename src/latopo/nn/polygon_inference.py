"""From a graph to polygons: the Polygon Inference Module."""

from itertools import combinations
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from latopo._arguments import Alpha, AtLeastOne, all_finite, checked
from latopo._compile import refuse_script, uncompiled
from latopo._modes import unwatched
from latopo._precision import widen
from latopo._segments import Segments, Standardized, standardize
from latopo.complex import CellComplex
from latopo.complex.graphs import graph_numbers
from latopo.complex.relations import keep_rows
from latopo.cycles import CycleMemory, sample_induced_cycles
from latopo.cycles.grouped_cycles import grouped_cycles
from latopo.entmax import LearnableAlpha, segment_entmax
from latopo.errors import LatopoError
from latopo.neighbors import Similarity, get_similarity
from latopo.neighbors.fused import supports
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.scan import row_pointers
from latopo.neighbors.similarity import check_points
from latopo.nn.checks import simple_edges
from latopo.nn.circulation import check_flow, circulation_energy, pursue_flow
from latopo.nn.gain import Gain
from latopo.nn.polygon_rule import PolygonRule
from latopo.nn.ranks import tied
from latopo.nn.reset import reset
from latopo.nn.samplers import alpha_value
from latopo.nn.sampling import gumbel, sample_budget

__all__ = ["LatentPolygons", "PolygonInference", "gain_for_share"]


Score = Literal["sum", "mean", "per-length", "distance", "circulation"]
Sampler = Literal["entmax", "all", "topk", "budget", "pursuit"]


class LatentPolygons(NamedTuple):
    """Inferred polygons.

    Attributes:
        polygons: {length: [P_k, k]}, in the order of :func:`latopo.induced_cycles`.
        prob: probability of each polygon, by length, then row, [P]; None if every candidate is taken.
        num_candidates: how many induced cycles the graph has.
        num_scored: how many of them were looked at; fewer if there are more than the candidate budget.
        mean: mean score μ of the candidates.
        deviation: standard deviation σ of their scores; 0 if they differ by rounding alone.
        gain: the gain γ that was used.

    Of many graphs ``mean``, ``deviation`` and ``gain`` are tensors [G]. With ``score="per-length"`` the first two have
    a column for each length from 3 on, [G, lengths] (G = 1 for one graph).
    """

    polygons: dict[int, Tensor]
    prob: Tensor | None
    num_candidates: int
    num_scored: int
    mean: float | Tensor
    deviation: float | Tensor
    gain: float | Tensor

    @property
    def counts(self) -> dict[int, int]:
        """How many polygons of each length there are."""
        return {length: rows.size(0) for length, rows in self.polygons.items()}


class PolygonInference(nn.Module):
    r"""Chooses polygons among the induced cycles of a graph by one α-entmax over all of them (section 3.3).

    .. math::
        z_c = \sum_{e < f \in c} \mathrm{sim}\left(\mathbf{x}_{1,aux}(e), \mathbf{x}_{1,aux}(f)\right), \qquad
        \mathbf{p} = \boldsymbol{\alpha}_{ENT}\!\left(\gamma\,\frac{\mathbf{z} - \mu}{\sigma}\right)

    (equation 6), where :math:`\mathbf{x}_{1,aux}(e) = \mathbf{x}_{aux}(u) + \mathbf{x}_{aux}(v)`. Cycles with
    :math:`p_c > 0` become polygons. The sum has more terms for longer cycles, which therefore score lower by
    construction; ``score="mean"`` divides by their number. Even then the longer ones are rarely chosen: their scores
    spread less. With ``score="per-length"`` μ and σ are those of the candidates of the same length, so that every
    length competes on equal terms.

    Of many graphs, each has its own distribution, statistics and budgets; their cycles are searched in one pass.

    Args:
        max_length: longest polygon K_max; below 3 there are none.
        alpha: α of the entmax, or its start.
        gain: start of γ. At 1 a few per mille of 30,000 candidates are kept.
        polygon_share: keep this share of the candidates: γ is solved for in every call (it scales as
            1/√P at α = 1.5, so the share does not depend on the number P of candidates); ``gain`` is then not used.
            The backward pass takes the solved γ as a constant.
        sampler: ``"entmax"``; ``"all"`` takes every candidate (the paper's "α = 1"); ``"topk"`` takes ``k`` by the
            Gumbel top-k trick; ``"budget"`` takes a random set of expected size ``k`` of the entmax polygons;
            ``"pursuit"`` takes ``k`` polygons of a flow one after another, each explaining most of what the earlier
            ones left (:func:`~latopo.nn.circulation.pursue_flow`); a probability is then the share explained.
        k: number of polygons for ``"topk"``, ``"budget"`` and ``"pursuit"``; default one per node.
        score: ``"sum"`` (the paper's) or ``"mean"`` of the pairwise similarities, or ``"per-length"``: standardised for
            each length by itself. ``"distance"`` is minus the mean, so that the sides that differ most win (as in the
            authors' released code). ``"circulation"`` asks edge signals instead of node features: the energy of a flow
            that runs around the cycle (:func:`~latopo.nn.circulation.circulation_energy`).
        similarity: between edge features, by name or a module.
        learn_gain, learn_alpha: whether γ and α are parameters. A learned α stays in [1.1, 4].
        candidate_budget: if the graph has more induced cycles, a uniform sample of this size is scored (with a fixed
            seed in evaluation mode).
        sample_at_eval: whether ``"topk"`` and ``"budget"`` stay random in evaluation mode.

    Shapes:
        - **x_aux**: [N, d], **edge_index**: [2, E'] in any form, **ptr**: [G + 1], where each of several graphs starts
          and ends, or None; with ``score="circulation"`` a flow [E, d] along u → v is in the place of x_aux, and the
          edges are u < v, sorted
        - **output**: :class:`LatentPolygons`

    Example:
        >>> square = torch.tensor([[0, 0, 1, 2], [1, 3, 2, 3]])
        >>> PolygonInference()(torch.randn(4, 2), square).polygons[4]
        tensor([[0, 1, 2, 3]])
        >>> around = torch.tensor([[1.0], [-1.0], [1.0], [1.0]])  # 0 → 1 → 2 → 3 → 0
        >>> PolygonInference(score="circulation", sampler="pursuit", k=1)(around, square).prob
        tensor([1.])
    """

    @checked
    def __init__(
        self,
        max_length: int = 4,
        *,
        alpha: Alpha = 1.5,
        gain: float = 1.0,
        polygon_share: float | None = None,
        sampler: Sampler = "entmax",
        k: int | None = None,
        score: Score = "sum",
        similarity: str | Similarity = "euclidean",
        learn_gain: bool = True,
        learn_alpha: bool = True,
        candidate_budget: AtLeastOne = 50_000,
        sample_at_eval: bool = False,
    ) -> None:
        super().__init__()
        _check_choices(sampler, k, score, polygon_share)
        self.max_length, self.sampler, self.k, self.score = max_length, sampler, k, score
        self.polygon_share, self.candidate_budget, self.sample_at_eval = polygon_share, candidate_budget, sample_at_eval
        self.similarity = get_similarity(similarity)
        self._seen = CycleMemory()
        # A module that takes everything, or solves for its gain, has no gain to learn; top-k has no α either.
        chooses = sampler not in ("all", "pursuit") and max_length >= 3
        self.gain = Gain(gain, learn_gain) if chooses and polygon_share is None else None
        self.alpha: float | LearnableAlpha = alpha
        if chooses and learn_alpha and sampler != "topk":
            self.alpha = LearnableAlpha(alpha)

    __prepare_scriptable__ = refuse_script

    def reset_parameters(self) -> None:
        """Go back to the start values."""
        reset(self.similarity, self.gain, self.alpha)

    @uncompiled
    @checked
    def forward(self, x_aux: Tensor, edge_index: Tensor, ptr: Tensor | None = None) -> LatentPolygons:
        """Infer the polygons of the graph ``edge_index``, or of each of many graphs."""
        check_points("PolygonInference", "x_aux", x_aux)
        num_nodes = self._count_nodes(x_aux, edge_index, ptr)
        edge_index = simple_edges("PolygonInference", edge_index, num_nodes)
        candidates, total = self._candidates(edge_index, num_nodes, ptr)
        scored = sum(rows.size(0) for rows in candidates.values())
        if self.sampler == "all" or scored == 0:
            prob = None if self.sampler == "all" else tied(x_aux.new_zeros(0), *self._learned())
            return LatentPolygons(candidates, prob, total, scored, 0.0, 0.0, 0.0)
        if self.sampler == "pursuit":
            return self._pursue(widen(x_aux), edge_index, candidates, total)
        draws = self.sampler != "entmax" or not supports(self.similarity, x_aux)  # anybody's similarity may
        infer = self._infer if draws else unwatched(self._infer)
        return infer(x_aux, edge_index, candidates, total, ptr, num_nodes)

    def _infer(
        self, x_aux: Tensor, edge_index: Tensor, candidates: dict[int, Tensor], total: int, ptr: Tensor | None,
        num_nodes: int,
    ) -> LatentPolygons:  # fmt: skip
        """Score the candidates, and choose among them."""
        # Half precision has too few digits for the statistics: by the rule below most scores would count as equal.
        scores = self.scores(widen(x_aux), edge_index, candidates)
        if not all_finite(scores):
            raise LatopoError(
                f"PolygonInference: the scores of the cycles are not finite; the auxiliary features reach "
                f"{float(x_aux.detach().abs().max()):.3g}, scale the input"
            )
        graphs = _by_graph(candidates, ptr, num_nodes)
        standard = standardize(scores, _by_length(candidates, graphs) if self.score == "per-length" else graphs)
        gain = self._gain(standard.values, graphs)
        nodes = [num_nodes] if ptr is None else ptr.diff().tolist()
        prob, keep = self._choose(graphs.spread(gain) * standard.values, graphs, nodes)
        numbers = self._numbers(standard, gain, graphs)
        return LatentPolygons(keep_rows(candidates, keep), prob[keep].to(x_aux.dtype), total, keep.numel(), *numbers)

    def _count_nodes(self, x_aux: Tensor, edge_index: Tensor, ptr: Tensor | None) -> int:
        if self.score != "circulation":
            return x_aux.size(0)
        if ptr is not None:
            raise LatopoError("PolygonInference: score='circulation' takes one graph at a time, got ptr")
        return check_flow("PolygonInference", x_aux, edge_index)

    def _pursue(self, flow: Tensor, edge_index: Tensor, candidates: dict[int, Tensor], total: int) -> LatentPolygons:
        num_nodes = int(edge_index.max()) + 1
        cells = CellComplex.from_canonical(num_nodes, edge_index, candidates)
        chosen, share = pursue_flow(flow, cells, num_nodes if self.k is None else self.k)
        chosen, order = chosen.sort()
        keep = torch.zeros(cells.num_polygons, dtype=torch.bool, device=flow.device).index_fill(0, chosen, True)
        return LatentPolygons(keep_rows(candidates, keep), share[order], total, cells.num_polygons, 0.0, 0.0, 0.0)

    def _learned(self) -> list[Tensor]:
        alpha = [self.alpha()] if isinstance(self.alpha, LearnableAlpha) else []
        return alpha if self.gain is None else [self.gain(), *alpha]

    @torch.no_grad()
    def _numbers(self, standard: Standardized, gain: Tensor, graphs: Segments) -> tuple[float | Tensor, ...]:
        """Mean, deviation and gain, as :class:`LatentPolygons` holds them."""
        mean, deviation, gain = standard.mean, standard.deviation, gain.to(standard.mean.dtype)
        if self.score == "per-length":
            mean, deviation = mean.view(graphs.count, -1), deviation.view(graphs.count, -1)
        if graphs.number is not None:
            return mean, deviation, gain.expand(graphs.count)
        return (float(mean), float(deviation), float(gain)) if mean.dim() == 0 else (mean, deviation, float(gain))

    def scores(self, x_aux: Tensor, edge_index: Tensor, candidates: dict[int, Tensor]) -> Tensor:
        """Similarity of each candidate cycle (equation 6), [P], by length, then row; edges with u < v, sorted."""
        if self.score == "circulation":
            return circulation_energy(
                x_aux, CellComplex.from_canonical(int(edge_index.max()) + 1, edge_index, candidates)
            )
        x_edge = x_aux.index_select(0, edge_index[0]) + x_aux.index_select(0, edge_index[1])
        skeleton = CellComplex.from_canonical(x_aux.size(0), edge_index, candidates)
        shapes = [rows.shape for rows in candidates.values()]
        sides = torch.split_with_sizes(skeleton.polygon_edge_index()[0], [shape.numel() for shape in shapes])
        parts = [self._cycle_scores(x_edge, side.view(shape)) for side, shape in zip(sides, shapes, strict=True)]
        return torch.cat(parts)

    def _cycle_scores(self, x_edge: Tensor, sides: Tensor) -> Tensor:
        """Scores of cycles of one length, given by the edge numbers of their sides [P_k, k]."""
        first, second = _pairs(sides.size(1), sides.device)
        left, right = sides[:, first].flatten(), sides[:, second].flatten()
        pairs = paired_similarity(x_edge, x_edge, left, right, self.similarity).view(-1, first.numel())
        return self._over_pairs(pairs)

    def _over_pairs(self, pairs: Tensor) -> Tensor:
        """The score of each cycle [C] from the similarities of its pairs of sides [C, pairs]."""
        if self.score == "distance":
            return -pairs.mean(1)
        return pairs.mean(1) if self.score == "mean" else pairs.sum(1)

    def vertex_scores(self, around: Tensor) -> Tensor:
        """Scores [C] of cycles of one length, given by the auxiliary features of their vertices in order, [C, k, d]."""
        x_edge = around + around.roll(-1, dims=1)
        first, second = _pairs(around.size(1), around.device)
        left, right = x_edge[:, first].flatten(0, 1), x_edge[:, second].flatten(0, 1)
        return self._over_pairs(self.similarity.paired(left, right).view(-1, first.numel()))

    @torch.no_grad()
    def rule(self, x_aux: Tensor, cx: CellComplex, found: LatentPolygons) -> PolygonRule:
        """The choice behind the polygons of a complex, for cycles that new nodes close."""
        if cx.ptr is not None:
            raise LatopoError("PolygonInference.rule: queries join one graph, got a complex of many; take cx[i]")
        if self.score == "circulation":
            raise LatopoError("PolygonInference.rule: queries bring no flow; score='circulation' is for fixed edges")
        if cx.num_polygons == 0:
            return PolygonRule()
        share = found.num_scored / found.num_candidates
        if found.prob is None:
            return PolygonRule.everything(share)
        scores = self.scores(x_aux, cx.edge_index, cx.polygons)
        cut = self.sampler == "topk"
        alpha = 1.0 if cut else float(torch.as_tensor(alpha_value(self.alpha)))
        mean, deviation, by_length = found.mean, found.deviation, []
        if isinstance(mean, Tensor) and isinstance(deviation, Tensor):
            moments = (mean[0].tolist(), deviation[0].tolist())
            mean, deviation, by_length = 0.0, 1.0, list(zip(range(3, self.max_length + 1), *moments, strict=True))
        return PolygonRule.fitted(
            scores, found.prob, float(mean), float(deviation), float(found.gain), alpha, share=share, cut=cut,
            by_length=by_length, lengths=cx.polygon_lengths,
        )  # fmt: skip

    def _candidates(self, edge_index: Tensor, num_nodes: int, ptr: Tensor | None) -> tuple[dict[int, Tensor], int]:
        if self.max_length < 3:
            return {}, 0
        seed = int(torch.randint(2**31, ())) if self.training else 0
        if ptr is None:
            return sample_induced_cycles(
                edge_index, num_nodes, self.max_length, budget=self.candidate_budget,
                generator=torch.Generator().manual_seed(seed), memory=self._seen,
            )  # fmt: skip
        return grouped_cycles(edge_index, ptr, self.max_length, self.candidate_budget, seed)

    @torch.no_grad()
    def facts(self) -> dict[str, float]:
        """α by name, where it chooses."""
        if self.sampler in ("all", "topk", "pursuit") or self.max_length < 3:
            return {}
        return {"polygon_alpha": float(torch.as_tensor(alpha_value(self.alpha)))}

    def _gain(self, standard: Tensor, graphs: Segments) -> Tensor:
        """γ, one for all graphs or one for each."""
        if self.gain is not None:
            gain = self.gain()
            return gain if graphs.number is None else gain.expand(graphs.count)
        assert self.polygon_share is not None
        alpha = float(torch.as_tensor(alpha_value(self.alpha)).detach())
        return gain_for_share(standard.detach(), self.polygon_share, alpha, graphs)

    def _choose(self, scores: Tensor, graphs: Segments, nodes: list[int]) -> tuple[Tensor, Tensor]:
        """Probabilities of all candidates and the mask of those that become polygons."""
        alpha = 1.0 if self.sampler == "topk" else alpha_value(self.alpha)
        sizes = graphs.sizes(scores)
        if graphs.number is None:
            prob = segment_entmax(scores, row_pointers(sizes), alpha)
            return prob, self._keep(scores, prob, nodes[0])
        order = graphs.number.argsort(stable=True)
        back = torch.empty_like(order)
        back[order] = torch.arange(order.numel(), device=order.device)
        scores = scores.index_select(0, order)
        prob = segment_entmax(scores, row_pointers(sizes), alpha)
        if self.sampler == "entmax":
            keep = prob > 0
        else:
            parts = zip(scores.split(sizes.tolist()), prob.split(sizes.tolist()), nodes, strict=True)
            keep = torch.cat([self._keep(*part) for part in parts])
        return prob.index_select(0, back), keep[back]

    def _keep(self, scores: Tensor, prob: Tensor, num_nodes: int) -> Tensor:
        """Which candidates of one graph become polygons."""
        keep = prob > 0
        random = self.training or self.sample_at_eval
        wanted = num_nodes if self.k is None else self.k
        if self.sampler == "topk":
            ranked = scores.detach() + gumbel(scores) if random else scores.detach()
            keep = torch.zeros_like(keep)
            keep[ranked.topk(min(wanted, keep.numel())).indices] = True
        elif self.sampler == "budget":
            chosen = sample_budget(prob[keep], wanted, random)
            keep = keep.masked_scatter(keep, chosen)
        return keep

    def extra_repr(self) -> str:
        """What differs from module to module."""
        share = "" if self.polygon_share is None else f", polygon_share={self.polygon_share}"
        fixed = (
            ""
            if isinstance(self.alpha, LearnableAlpha) or self.sampler in ("all", "topk", "pursuit")
            else f", α={self.alpha}"
        )
        return f"max_length={self.max_length}, sampler={self.sampler!r}{share}{fixed}, score={self.score!r}"


def gain_for_share(standard: Tensor, share: float, alpha: float, graphs: Segments = Segments()) -> Tensor:  # noqa: B008
    r"""The gain γ at which entmax of ``gain * standard`` keeps this share of the entries, for each of the ``graphs``.

    With the threshold t between the last kept and the first dropped entry, :math:`\sum_j p_j = 1` gives
    :math:`\gamma = \left(\sum_j (s_j - t)_+^{1/(\alpha-1)}\right)^{-(\alpha-1)} / (\alpha - 1)`. Entries equal to
    the last kept one are kept as well.

    Example:
        >>> standard = torch.linspace(-1, 1, 1000)
        >>> gain = gain_for_share(standard, share=0.2, alpha=1.5)
        >>> int((segment_entmax(gain * standard, torch.tensor([0, 1000])) > 0).sum())
        200
    """
    if not alpha > 1:
        raise LatopoError(f"gain_for_share: alpha must be > 1, got {alpha}: at 1 everything is kept at any gain")
    if not standard.numel():  # any gain would do
        return standard.new_full(() if graphs.number is None else (graphs.count,), 1 / (alpha - 1))
    ordered, graphs = graphs.sorted(standard.double())
    sizes = graphs.sizes(ordered)
    kept = torch.minimum((share * sizes.double()).round().long().clamp(min=1), sizes)
    last = ordered[(sizes.cumsum(0) - sizes + kept - 1).clamp(min=0, max=ordered.numel() - 1)]
    last = last[0] if graphs.number is None else last
    below = graphs.largest(torch.where(ordered < graphs.spread(last), ordered, -torch.inf))
    # Where nothing is dropped, a threshold shortly below the last one serves as well.
    below = torch.where(below == -torch.inf, last - 1e-3, below)
    mass = graphs.sum((ordered - graphs.spread((last + below) / 2)).clamp(min=0).pow(1 / (alpha - 1)))
    # A graph without entries may have any gain.
    mass = torch.where(sizes.view_as(mass) > 0, mass, 1.0)
    return (mass.pow(1 - alpha) / (alpha - 1)).to(standard.dtype)


def _by_graph(candidates: dict[int, Tensor], ptr: Tensor | None, num_nodes: int) -> Segments:
    """The graph of each candidate."""
    if ptr is None:
        return Segments()
    first = torch.cat([rows[:, 0] for rows in candidates.values()])
    return Segments(graph_numbers(ptr, num_nodes).index_select(0, first), ptr.numel() - 1)


def _by_length(candidates: dict[int, Tensor], graphs: Segments) -> Segments:
    """Candidates of one graph and one length; length by length within a graph."""
    sizes = [rows.size(0) for rows in candidates.values()]
    some = next(iter(candidates.values()))
    number = torch.arange(len(sizes), device=some.device).repeat_interleave(some.new_tensor(sizes))
    if graphs.number is not None:
        number = number + len(sizes) * graphs.number
    return Segments(number, len(sizes) * graphs.count)


def _pairs(length: int, device: torch.device) -> Tensor:
    """All pairs of sides of a cycle, [2, length · (length − 1) / 2]."""
    return torch.tensor(list(combinations(range(length), 2)), device=device).t()


def _check_choices(sampler: str, k: int | None, score: str, polygon_share: float | None) -> None:
    if k is not None and (k < 1 or sampler not in ("topk", "budget", "pursuit")):
        raise LatopoError(
            "PolygonInference: k must be at least 1 and goes with sampler topk, budget or pursuit, "
            f"got {k} with {sampler!r}"
        )
    if sampler == "pursuit" and score != "circulation":
        raise LatopoError(f"PolygonInference: sampler pursuit goes with score circulation, got {score!r}")
    if polygon_share is not None and (sampler not in ("entmax", "budget") or not 0 < polygon_share <= 1):
        raise LatopoError(
            f"PolygonInference: polygon_share must be in (0, 1] and goes with sampler entmax or budget, "
            f"got {polygon_share} with {sampler!r}"
        )
