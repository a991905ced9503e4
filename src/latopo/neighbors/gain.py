"""The gain that gives a wanted mean degree, from the points alone."""

import math

from torch import Tensor

from latopo.errors import LatopoError
from latopo.neighbors.entmax_neighbors import count_neighbors
from latopo.neighbors.similarity import Similarity

__all__ = ["gain_for_degree"]


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
