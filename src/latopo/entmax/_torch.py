"""The α-entmax of ragged rows in plain torch operations, for any device. The method is that of ``_kernels``."""

import torch
from torch import Tensor

from latopo.entmax._kernels import MAX_WEIGHT


def _rows(ptr: Tensor, entries: int) -> Tensor:
    """The row of each entry, ``[ptr[-1]]``."""
    rows = torch.arange(len(ptr) - 1, device=ptr.device)
    return rows.repeat_interleave(ptr.diff(), output_size=entries)


def _sum(values: Tensor, row: Tensor, count: int) -> Tensor:
    return values.new_zeros(count).index_add_(0, row, values)


def _extreme(values: Tensor, row: Tensor, count: int, reduce: str) -> Tensor:
    """Largest (``amax``) or smallest (``amin``) value of each row; −inf or +inf for a row without entries."""
    start = float("-inf") if reduce == "amax" else float("inf")
    return values.new_full((count,), start).scatter_reduce_(0, row, values, reduce)


def _log_share(gap: Tensor, log_mass: Tensor, excess: Tensor) -> Tensor:
    """Logarithm of p / mass for entries ``gap`` above their anchor; −inf outside the support."""
    steep = excess > 1
    # Below the anchor (α ≤ 2). The divisor 1 stands in where α = 1, whose share is exp(gap).
    divisor = torch.where(excess == 0, 1.0, excess)
    relative = (excess * gap * torch.exp(-excess * log_mass)).clamp(min=-1.0)
    below = torch.where(excess == 0, gap, torch.log1p(relative) / divisor)
    # Above it (α > 2), in logarithms: mass^excess underflows in float32 long before its root is small.
    above = torch.logaddexp(torch.log(excess * gap) - excess * log_mass, torch.zeros_like(gap)) / divisor
    above = torch.where(gap < 0, float("-inf"), above)
    return torch.where(steep, above, below)


def _total_and_slope(gap: Tensor, row: Tensor, mass: Tensor, excess: Tensor) -> tuple[Tensor, Tensor]:
    """Sum of each row's probabilities if its anchor's is ``mass``, and the derivative of that sum by ``mass``."""
    log_share = _log_share(gap, mass.log()[row], excess[row])
    share = log_share.exp()
    slope = torch.where(share > 0, torch.exp((1 - excess[row]) * log_share), 0.0)
    return mass * _sum(share, row, len(mass)), _sum(slope, row, len(mass))


def _newton(gap: Tensor, row: Tensor, mass: Tensor, excess: Tensor) -> Tensor:
    """The anchors' probabilities, from upper bounds ``mass`` of them, by Newton's iteration."""
    resolution = 4 * torch.finfo(mass.dtype).eps
    while True:
        total, slope = _total_and_slope(gap, row, mass, excess)
        step = (total - 1) / slope
        # Convex and from above, so the steps only go down: a row whose step is lost in rounding, or goes up, is done.
        moving = step > resolution * mass
        if not bool(moving.any()):
            return mass
        mass = torch.where(moving, mass - step, mass)


def _smallest_of_support(scores: Tensor, row: Tensor, highest: Tensor, excess: Tensor) -> Tensor:
    """The smallest score of each row's support where α > 2, else the largest score of the row."""
    count = len(highest)
    low = torch.where(excess > 1, highest - 1 / excess, highest)
    high = highest
    while True:
        between = (scores > low[row]) & (scores < high[row])
        members = _sum(between.to(scores.dtype), row, count)
        if not bool(members.any()):
            return high
        middle = high + _sum(torch.where(between, scores - high[row], 0.0), row, count) / members
        distance = torch.where(between, (scores - middle[row]).abs(), float("inf"))
        nearest = distance == _extreme(distance, row, count, "amin")[row]
        candidate = _extreme(torch.where(nearest & between, scores, float("-inf")), row, count, "amax")
        gap = (scores - candidate[row]).clamp(min=0)
        belongs = _sum(torch.where(gap > 0, (excess[row] * gap) ** (1 / excess[row]), 0.0), row, count) < 1
        high = torch.where((members > 0) & belongs, candidate, high)
        low = torch.where((members > 0) & ~belongs, candidate, low)


def _upper_mass(gap: Tensor, row: Tensor, excess: Tensor) -> Tensor:
    """An upper bound of the anchors' probabilities: Jensen's for α ≤ 2, one over the support's size for α > 2."""
    steep = excess > 1
    inside = torch.where(steep[row], gap >= 0, -gap * excess[row] < 1)
    count = _sum(inside.to(gap.dtype), row, len(excess))
    distance = _sum(torch.where(inside & ~steep[row], -gap, 0.0), row, len(excess)) / count
    # No power of the count where it is not used: it would overflow for a large α.
    spread = excess * distance * count ** torch.where(steep, 0.0, excess)
    bound = torch.where(excess == 0, distance, torch.log1p(spread) / torch.where(excess == 0, 1.0, excess))
    return (bound.exp() / count).clamp(max=1)


def forward(scores: Tensor, ptr: Tensor, alpha: Tensor) -> Tensor:
    """Probabilities of float32 or float64 ``scores``; ``alpha`` is ``[1]`` or ``[R]``."""
    count = len(ptr) - 1
    row = _rows(ptr, len(scores))
    excess = (alpha - 1).to(scores.dtype).expand(count)
    highest = _extreme(scores, row, count, "amax")
    invalid = ~(highest < float("inf"))
    # Rows without a finite score and rows with NaN or +inf take part as zeros; their answers are set at the end.
    unsolved = (invalid | (highest == float("-inf")))[row]
    scores = torch.where(unsolved, 0.0, scores)
    highest = torch.where(highest.isfinite(), highest, 0.0)
    gap = scores - _smallest_of_support(scores, row, highest, excess)[row]
    mass = _newton(gap, row, _upper_mass(gap, row, excess), excess)
    share = _log_share(gap, mass.log()[row], excess[row]).exp()
    prob = share / _sum(share, row, count)[row]
    return torch.where(unsolved, torch.where(invalid[row], float("nan"), 0.0), prob)


def _alpha_weight(prob: Tensor, excess: Tensor) -> Tensor:
    """``log(p)² · ψ((α − 1) log p)`` with ψ(x) = ∫₀¹ t·exp(xt) dt, as in ``_kernels.alpha_weight``."""
    logarithm = prob.log()
    x = excess * logarithm
    integral, term = torch.zeros_like(x), torch.ones_like(x)
    for order in range(12):
        integral += term / (order + 2)
        term *= x / (order + 1)
    closed = (1 + (x - 1) * x.exp()) / excess**2
    return torch.where(x < -0.3, closed, logarithm**2 * integral)


def backward(prob: Tensor, grad_prob: Tensor, ptr: Tensor, alpha: Tensor, with_alpha: bool) -> tuple[Tensor, Tensor]:
    """Gradients by the scores and, per row, by α (zeros unless ``with_alpha``)."""
    count = len(ptr) - 1
    row = _rows(ptr, len(prob))
    excess = (alpha - 1).to(prob.dtype).expand(count)[row]
    inside = prob != 0
    weight = torch.where(inside, (prob ** (1 - excess)).clamp(max=MAX_WEIGHT), 0.0)
    # Measured from g at the smallest p: for α > 2 its weight dwarfs the others, and w (g − ḡ) would cancel.
    heaviest = weight == _extreme(weight, row, count, "amax")[row]
    origin = _extreme(torch.where(inside & heaviest, grad_prob, float("-inf")), row, count, "amax")[row]
    centred = torch.where(inside, grad_prob - origin, 0.0)
    mean = _sum(weight * centred, row, count) / _sum(weight, row, count)
    grad_scores = torch.where(inside, weight * (centred - mean[row]), 0.0)
    if not with_alpha:
        return grad_scores, prob.new_zeros(count)
    terms = torch.where(inside, _alpha_weight(prob, excess) * grad_scores, 0.0)
    return grad_scores, -_sum(terms, row, count)
