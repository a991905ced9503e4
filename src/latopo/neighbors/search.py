"""How the rows of the α-DGM are found: by all pairs, by certified nearest neighbours, or approximately."""

import warnings
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

import torch
from torch import Tensor

from latopo._arguments import Bounds, checked
from latopo.errors import LatopoError
from latopo.neighbors.all_pairs import pair_statistics, sampled_statistics, scan_pairs
from latopo.neighbors.candidates import CandidateSearch, Outcome, measured_recall
from latopo.neighbors.closed_form import closed_form_statistics, has_closed_form
from latopo.neighbors.fused import supports
from latopo.neighbors.scan import EdgeCounter, Piece, Rows, Scan, assemble
from latopo.neighbors.search_report import SearchReport
from latopo.neighbors.similarity import Inner, Similarity
from latopo.neighbors.tree import tree_scan

__all__ = ["Found", "Method", "NeighborSearch", "get_search"]

Method = Literal["auto", "exact", "certified", "approximate"]
AtLeastTwo = Annotated[int, Bounds(2)]

# Columns up to which all pairs are compared: nothing else is faster there.
_SMALL = {True: 5_000, False: 10_000}  # with a closed form, without
_LARGE = 2**36  # pairs from which on "auto" is content with an approximate answer
_TREE_FROM = 4_096  # points from which on a tree is tried
_TREE_TO = 300_000  # rows up to which an approximate search tries it: candidates that are remembered serve later steps
_LEAST_RECALL = 0.95
_FARTHEST = 1e12  # coordinates that faiss can still square


class Found(NamedTuple):
    """Statistics and support of all rows, the statistics as differentiable values [N] beside it."""

    scan: Scan
    mean: Tensor
    deviation: Tensor


class Statistics(NamedTuple):
    """Mean [N] and deviation [N] of the rows, differentiable; which rows can be trusted [N]; and a word on them."""

    mean: Tensor
    deviation: Tensor
    trusted: Tensor
    source: str

    def known(self) -> Tensor:
        """The deviation, NaN where it cannot be trusted."""
        return torch.where(self.trusted, self.deviation.detach(), torch.nan)


class NeighborSearch:
    r"""How :func:`~latopo.entmax_neighbors` finds the rows, with a memory from call to call.

    - ``"exact"``: all pairs are compared. Every similarity; time grows as N².
    - ``"certified"``: row statistics by closed form (:mod:`latopo.neighbors.closed_form`), or from sampled columns
      where there is none (Euclidean distance); neighbours from a tree of boxes where the points fill few dimensions
      (:mod:`latopo.neighbors.tree`), else from faiss, each row with a certificate that nothing else can have a positive
      probability (:mod:`latopo.neighbors.certificate`). Rows without one get more candidates, and in the end
      all columns. Same answer as ``"exact"``, but for the sampled statistics of the Euclidean distance.
    - ``"approximate"``: the same, with neighbours from the nearest cells of k-means only, and no tree for more than
      300,000 rows. The recall is measured on 1,000 rows in every call, and a warning given below 0.95.
    - ``"auto"``: exact for up to 5,000 columns (Euclidean distance: 10,000), for similarities other than the four
      flat ones, for more features than columns and off the CPU; approximate from 2³⁶ pairs on (262,144 points);
      certified between.

    With ``reuse`` the candidates of a call are kept, and used in the next one as far as a bound on how the points have
    moved since proves them sufficient (:mod:`latopo.neighbors.memory`): answers are the same as without. Nothing is
    searched or compared again if nothing has changed since the last call. One object serves one layer: keep another for
    evaluation if its points differ from those in training. Copies and pickles of it remember nothing.

    Args:
        method: one of the four.
        reuse: whether candidates are kept. Cells of k-means are in any case, until other columns come.
        seed: of the sampled columns and the cells.
        columns: how many are sampled for the statistics of the Euclidean distance, unless all pairs are compared;
            their error is in :func:`~latopo.neighbors.all_pairs.sampled_statistics`.

    Attributes:
        report: what the last call did, a :class:`SearchReport`; ``str(report)`` is a line about it.

    Example:
        >>> from latopo import entmax_neighbors
        >>> x = torch.randn(6000, 8, generator=torch.Generator().manual_seed(0))
        >>> search = NeighborSearch()
        >>> ptr, col, prob = entmax_neighbors(x, gain=20.0, similarity="squared", search=search)
        >>> ptr, col, prob = entmax_neighbors(1.001 * x, gain=20.0, similarity="squared", search=search)
        >>> print(search.report)
        certified: statistics by closed form, 6,000 rows reused; all 6,000 rows proven exact
    """

    @checked
    def __init__(
        self, method: Method = "auto", *, reuse: bool = True, seed: int = 0, columns: AtLeastTwo = 512
    ) -> None:
        self.method, self.reuse, self.seed, self.columns = method, reuse, seed, columns
        self.report: SearchReport | None = None
        self._forget()

    def _forget(self) -> None:
        self._candidates: dict[bool, CandidateSearch] = {}
        self._last: tuple[Rows, Scan] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # What is remembered belongs to these points, and an index of faiss can be neither copied nor pickled.
        kept = ("method", "reuse", "seed", "columns", "report")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __repr__(self) -> str:
        return f"NeighborSearch({self.method!r}, reuse={self.reuse}, seed={self.seed})"

    def choose(self, x: Tensor, others: Tensor | None, similarity: Similarity) -> Method:
        """The method for these (prepared) points; raises if a chosen one cannot serve them."""
        served = supports(similarity, x)
        if self.method in ("certified", "approximate") and not served:
            raise LatopoError(
                f"search={self.method!r} serves euclidean, squared, cosine and inner on the CPU, "
                f"got {type(similarity).__name__} on {x.device}; take search='exact'"
            )
        if self.method != "auto":
            return self.method
        columns = (x if others is None else others).size(0)
        closed = has_closed_form(similarity)
        if not served or columns <= _SMALL[closed] or (closed and columns < x.size(1)):
            return "exact"
        return "approximate" if x.size(0) * columns >= _LARGE else "certified"

    def find(
        self, x: Tensor, others: Tensor | None, similarity: Similarity, gain: float | Tensor, alpha: float | Tensor,
        counter: EdgeCounter,
    ) -> Found:  # fmt: skip
        """Statistics and support of the rows of x [N, d] against ``others`` [M, d], or against each other."""
        rows = Rows.of(x, others, similarity, gain, alpha)
        method = self.choose(x, others, similarity)
        known = self._recall(rows, counter)
        if method == "exact":
            scan = scan_pairs(rows, counter) if known is None else known
            self._remember(rows, scan, counter)
            self.report = SearchReport("exact", "all pairs", len(rows), compared=len(rows), certified=len(rows))
            return Found(scan, *pair_statistics(x, others, rows.own, similarity, scan.mean, scan.deviation))
        statistics = self._statistics(x, others, similarity, known)
        if known is not None:
            assert self.report is not None
            self.report = replace(self.report, index="", reused=len(rows), searched=0, compared=0)
            return Found(known, statistics.mean, statistics.deviation)
        with torch.no_grad():
            rows = replace(rows, deviation=statistics.known())
            near = rows.points.abs().amax(1) < _FARTHEST
            todo = (statistics.trusted & near & (rows.alpha > 1)).nonzero().flatten()
            few = method == "certified" or len(rows) <= _TREE_TO
            outcome = _walked(rows, todo, counter) if others is None and few else None
            if outcome is None:
                outcome = self._candidate_search(method == "approximate").find(rows, todo, counter)
        found = self._complete(x, others, rows, statistics, method, outcome, counter)
        if bool(statistics.trusted.all()):
            self._remember(rows, found.scan, counter)
        return found

    def _remembers(self) -> bool:
        # What is made in inference mode could not be used in a training step.
        return self.reuse and not torch.is_inference_mode_enabled()

    def _candidate_search(self, approximate: bool) -> CandidateSearch:
        if self.reuse and not self._remembers():
            return CandidateSearch(approximate, seed=self.seed)
        return self._candidates.setdefault(approximate, CandidateSearch(approximate, self.reuse, seed=self.seed))

    def _recall(self, rows: Rows, counter: EdgeCounter) -> Scan | None:
        """The answer of the last call, if these are its rows, as in the step after an evaluation."""
        if self._last is None or not _same(self._last[0], rows):
            self._last = None
            return None
        counter.add(self._last[1].col.numel())
        return self._last[1]

    def _remember(self, rows: Rows, scan: Scan, counter: EdgeCounter) -> None:
        among = rows.columns is rows.points and supports(rows.similarity, rows.points)
        self._last = (rows, scan) if self._remembers() and among and not counter.full else None

    @torch.no_grad()
    def rows(self, x: Tensor, others: Tensor | None, similarity: Similarity, alpha: float) -> Rows:
        """The rows with the deviations that a search takes, NaN where they need all pairs; the gain is 1."""
        rows = Rows.of(x, others, similarity, 1.0, alpha)
        return replace(rows, deviation=self._statistics(x, others, similarity).known())

    def _statistics(
        self, x: Tensor, others: Tensor | None, similarity: Similarity, known: Scan | None = None
    ) -> Statistics:
        """Those of all rows; the values that are known are not computed again."""
        if has_closed_form(similarity):
            return Statistics(*closed_form_statistics(x, others, similarity), "closed form")
        columns = (x if others is None else others).size(0)
        chosen = torch.arange(columns)
        if columns > self.columns:
            generator = torch.Generator().manual_seed(self.seed)
            chosen = torch.randperm(columns, generator=generator)[: self.columns].sort().values
        moments = None if known is None else (known.mean, known.deviation)
        mean, deviation = sampled_statistics(x, others, similarity, chosen, moments)
        return Statistics(mean, deviation, deviation.detach() > 0, f"{chosen.numel():,} columns")

    def _complete(
        self, x: Tensor, others: Tensor | None, rows: Rows, statistics: Statistics, method: Method, outcome: Outcome,
        counter: EdgeCounter,
    ) -> Found:  # fmt: skip
        """Compare all pairs of the rows that are left, and put everything together."""
        open_rows = torch.ones(len(rows), dtype=torch.bool)
        for piece in outcome.pieces:
            open_rows[piece.rows] = False
        left = open_rows.nonzero().flatten()
        rest = scan_pairs(rows.select(left), counter)
        pieces = [*outcome.pieces, Piece(left, rest.ptr.diff(), rest.top, rest.col)]
        searched = len(rows) - left.numel() - outcome.reused
        proven = outcome.certified + left.numel()
        self.report = SearchReport(
            method, statistics.source, len(rows), outcome.kind, outcome.width, outcome.reused, searched,
            left.numel(), proven,
        )  # fmt: skip
        if counter.full:
            nothing = torch.zeros(len(rows) + 1, dtype=torch.int64)
            return Found(Scan(nothing, nothing[:0], rest.mean, rest.deviation, rest.top), rest.mean, rest.deviation)
        ptr, col, top = assemble(pieces, len(rows), x)
        if method == "approximate":
            self._judge(rows, (~open_rows).nonzero().flatten(), ptr, col, outcome.width)
        bad = ~statistics.trusted[left]
        mean, deviation = _corrected(x, others, rows, statistics, left[bad], rest.mean[bad], rest.deviation[bad])
        return Found(Scan(ptr, col, mean.detach(), deviation.detach(), top), mean, deviation)

    def _judge(self, rows: Rows, searched: Tensor, ptr: Tensor, col: Tensor, width: int) -> None:
        """Measure the recall, unless every row is proven; say so if it is low."""
        assert self.report is not None
        everything = self.report.certified == len(rows)
        recall = 1.0 if everything else measured_recall(rows, searched, ptr, col, width)
        self.report = replace(self.report, recall=recall)
        if recall < _LEAST_RECALL:
            warnings.warn(
                f"entmax_neighbors: the approximate search finds {100 * recall:.0f} % of the neighbours (measured on a "
                f"sample of rows), less than {100 * _LEAST_RECALL:.0f} %; search='certified' finds all of them",
                stacklevel=2,
            )


def _walked(rows: Rows, todo: Tensor, counter: EdgeCounter) -> Outcome | None:
    """Support by a tree of boxes; None where the points are few or fill too many dimensions for it."""
    if len(rows) < _TREE_FROM or type(rows.similarity) is Inner:
        return None
    pieces = tree_scan(rows, todo, counter)
    return None if pieces is None else Outcome(pieces, todo[:0], "tree", 0, 0, todo.numel())


def _same(before: Rows, after: Rows) -> bool:
    """Whether these are the same points, among each other, under the same similarity, γ and α."""
    return (
        after.columns is after.points
        and type(before.similarity) is type(after.similarity)
        and before.gain == after.gain
        and (before.points.dtype, before.points.device) == (after.points.dtype, after.points.device)
        and torch.equal(before.alpha, after.alpha)
        and torch.equal(before.points, after.points)
    )


def _corrected(
    x: Tensor, others: Tensor | None, rows: Rows, statistics: Statistics, bad: Tensor, mean: Tensor, deviation: Tensor
) -> tuple[Tensor, Tensor]:
    """The statistics with those of the untrusted rows ``bad`` taken from their pairs, differentiable as well."""
    if not bad.numel():
        return statistics.mean, statistics.deviation
    columns = x if others is None else others
    exact = pair_statistics(x.index_select(0, bad), columns, rows.own[bad], rows.similarity, mean, deviation)
    return statistics.mean.index_put((bad,), exact[0]), statistics.deviation.index_put((bad,), exact[1])


def get_search(search: Any) -> NeighborSearch:
    """The search of that name, without a memory, or the object itself.

    Example:
        >>> get_search("exact")
        NeighborSearch('exact', reuse=False, seed=0)
    """
    return search if isinstance(search, NeighborSearch) else NeighborSearch(search, reuse=False)
