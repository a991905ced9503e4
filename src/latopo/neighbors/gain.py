"""Where the gain of entmax and the temperature of top-k start, from the points alone."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from latopo._arguments import Positive, checked
from latopo._precision import widen
from latopo.neighbors.certificate import solve
from latopo.neighbors.entmax_neighbors import count_neighbors
from latopo.neighbors.flat_index import FlatIndex
from latopo.neighbors.prepare import prepare_points
from latopo.neighbors.scan import Rows
from latopo.neighbors.search import Method, NeighborSearch, get_search
from latopo.neighbors.similarity import Inner, Similarity, get_similarity

__all__ = ["gain_for_degree", "temperature_for_spread"]

_ROWS = 256
_SAMPLE = 2_000


@torch.no_grad()
@checked
def gain_for_degree(
    x: Tensor,
    degree: Positive,
    alpha: float = 1.5,
    similarity: str | Similarity = "euclidean",
    *,
    low: float = 0.1,
    high: float = 1000.0,
    steps: int = 12,
    search: Method | NeighborSearch = "auto",
) -> float:
    """The gain γ at which a row has ``degree`` neighbours on average; no label is looked at.

    The support shrinks as γ grows, so the answer is found by bisection of log γ. Where even ``low`` gives fewer
    neighbours, or ``high`` more (many equal points), that end is returned. If the search compares all pairs, each step
    counts the neighbours of all rows; else those of 2,000 evenly spaced rows among their nearest points, which are
    searched for once (the mean degree is then right within two or three percent).

    Example:
        >>> import torch
        >>> x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
        >>> gain = gain_for_degree(x, degree=5.0)
        >>> round(count_neighbors(x, gain) / 200, 1)
        5.0
    """
    measure, engine = get_similarity(similarity), get_search(search)
    points, _, prepared = prepare_points(x, None, measure)
    sampled = engine.choose(points, None, prepared) != "exact" and 8 * degree + 64 < x.size(0)
    sample = _SampledRows(engine.rows(points, None, prepared, alpha), degree) if sampled else None
    left, right = math.log(low), math.log(high)
    for _ in range(steps):
        middle = (left + right) / 2
        gain = math.exp(middle)
        found = count_neighbors(x, gain, alpha, measure, search="exact") / x.size(0) if sample is None else sample(gain)
        if found > degree:
            left = middle
        else:
            right = middle
    return math.exp((left + right) / 2)


class _SampledRows:
    """Some rows with candidates, to be counted at any gain; a row whose candidates run out counts with all of them."""

    def __init__(self, rows: Rows, degree: float) -> None:
        usable = (~rows.deviation.isnan()).nonzero().flatten()
        step = max(usable.numel() // _SAMPLE, 1)
        self.rows = rows.select(usable[step // 2 :: step][:_SAMPLE])
        index = FlatIndex(rows.columns, inner=type(rows.similarity) is Inner)
        self.near = index.search(self.rows.points, math.ceil(8 * degree + 64)).near

    def __call__(self, gain: float) -> float:
        """The mean degree at this gain."""
        return float(solve(replace(self.rows, gain=gain), self.near).counts.double().mean())


@torch.no_grad()
@checked
def temperature_for_spread(x: Tensor, spread: Positive, similarity: str | Similarity = "euclidean") -> float:
    """The temperature t at which the log-scores −t·z² of a row have the standard deviation ``spread``, on average.

    The Gumbel noise of top-k has a standard deviation of about 1.3 whatever the scale of x, so a fixed temperature
    gives random neighbours where distances are small. At most 256 rows are looked at, evenly spaced; without a spread
    (all points equal) the answer is ``spread``.

    Example:
        >>> x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
        >>> round(temperature_for_spread(x, 3.0) / temperature_for_spread(10 * x, 3.0))
        100
    """
    if x.size(0) < 2:
        return spread
    x = widen(x)
    rows = torch.arange(0, x.size(0), max(1, -(-x.size(0) // _ROWS)), device=x.device)
    found = float(get_similarity(similarity).pairwise(x[rows], x).square().std(dim=1, correction=0).mean())
    return spread / found if 0 < found < math.inf else spread
