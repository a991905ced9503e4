"""Where the gain of entmax and the temperature of top-k start, from the points alone."""

import math

import torch
from torch import Tensor

from latopo._precision import widen
from latopo.errors import LatopoError
from latopo.neighbors.entmax_neighbors import count_neighbors
from latopo.neighbors.similarity import Similarity, get_similarity

__all__ = ["gain_for_degree", "temperature_for_spread"]

_ROWS = 256


def gain_for_degree(
    x: Tensor,
    degree: float,
    alpha: float = 1.5,
    similarity: str | Similarity = "euclidean",
    *,
    low: float = 0.1,
    high: float = 1000.0,
    steps: int = 12,
) -> float:
    """The gain γ at which a row has ``degree`` neighbours on average; no label is looked at.

    The support shrinks as γ grows, so the answer is found by bisection of log γ, one counting pass a step. Where even
    ``low`` gives fewer neighbours, or ``high`` more (many equal points), that end is returned.

    Example:
        >>> import torch
        >>> x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
        >>> gain = gain_for_degree(x, degree=5.0)
        >>> round(count_neighbors(x, gain) / 200, 1)
        5.0
    """
    if not degree > 0:
        raise LatopoError(f"gain_for_degree: degree must be > 0, got {degree}")
    wanted = degree * x.size(0)
    left, right = math.log(low), math.log(high)
    for _ in range(steps):
        middle = (left + right) / 2
        if count_neighbors(x, math.exp(middle), alpha, similarity) > wanted:
            left = middle
        else:
            right = middle
    return math.exp((left + right) / 2)


@torch.no_grad()
def temperature_for_spread(x: Tensor, spread: float, similarity: str | Similarity = "euclidean") -> float:
    """The temperature t at which the log-scores −t·z² of a row have the standard deviation ``spread``, on average.

    The Gumbel noise of top-k has a standard deviation of about 1.3 whatever the scale of x, so a fixed temperature
    gives random neighbours where distances are small. At most 256 rows are looked at, evenly spaced; without a spread
    (all points equal) the answer is ``spread``.

    Example:
        >>> x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
        >>> round(temperature_for_spread(x, 3.0) / temperature_for_spread(10 * x, 3.0))
        100
    """
    if not spread > 0:
        raise LatopoError(f"temperature_for_spread: spread must be > 0, got {spread}")
    if x.size(0) < 2:
        return spread
    x = widen(x)
    rows = torch.arange(0, x.size(0), max(1, -(-x.size(0) // _ROWS)), device=x.device)
    found = float(get_similarity(similarity).pairwise(x[rows], x).square().std(dim=1, correction=0).mean())
    return spread / found if 0 < found < math.inf else spread
