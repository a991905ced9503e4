"""The sampler of the DGM: a fixed number of neighbours by the Gumbel top-k trick."""

import numpy as np
import torch
from torch import Generator, Tensor

from latopo._arguments import AtLeastOne, checked
from latopo._compile import uncompiled
from latopo._parallel import row_blocks
from latopo._precision import widen
from latopo.neighbors import _topk, fused
from latopo.neighbors.entmax_neighbors import NeighborRows
from latopo.neighbors.paired import paired_similarity
from latopo.neighbors.similarity import Similarity, check_distance, check_points, check_positive, get_similarity

__all__ = ["topk_neighbors"]

_BLOCK_ENTRIES = 2**21
_BLOCK_MOVES = 2**28  # of chosen columns, at worst: well under a second, and Ctrl-C waits for it


@uncompiled
@checked
def topk_neighbors(
    x: Tensor,
    k: AtLeastOne,
    temperature: float | Tensor = 1.0,
    similarity: str | Similarity = "euclidean",
    *,
    noise: bool = True,
    generator: Generator | None = None,
) -> NeighborRows:
    r"""k neighbours of every point, drawn without replacement with :math:`p_{ij} = \exp(-t\,d_{ij}^2)`.

    .. math::
        \mathcal{N}(i) = \operatorname{topk}_{j \neq i}\left(\ell_{ij} + g_{ij}\right), \qquad
        \ell_{ij} = -t\, z_{ij}^2, \quad g_{ij} \sim \mathrm{Gumbel}(0, 1)

    for a similarity z that is minus a distance. In the result, ``prob`` is the DGM's unnormalised probability
    :math:`\exp(\ell_{ij})` and ``score`` is :math:`\ell_{ij}`; both carry gradients.

    Args:
        x: points [N, d].
        k: neighbours per point; all other points if there are fewer.
        temperature: t > 0, a number or a scalar tensor.
        similarity: minus a distance, by name or as a module.
        noise: False gives the k nearest neighbours.
        generator: source of the noise; torch's global one by default.

    Example:
        >>> rows = topk_neighbors(torch.tensor([[0.0], [1.0], [3.0]]), k=1, noise=False)
        >>> rows.col.tolist(), rows.score.tolist()
        ([1, 0, 1], [-1.0, -1.0, -4.0])
    """
    measure = get_similarity(similarity)
    check_distance("topk_neighbors", measure)
    check_points("topk_neighbors", "x", x)
    check_positive("topk_neighbors", "temperature", temperature)
    dtype, x = x.dtype, widen(x)
    count = x.size(0)
    taken = max(min(k, count - 1), 0)
    ptr = torch.arange(count + 1, device=x.device) * taken
    col = torch.zeros(0, dtype=torch.int64, device=x.device)
    if taken:
        # Only the compiled choice needs a seed; a generator of another device could not give one.
        seed = int(torch.randint(2**62, (), generator=generator)) if noise and x.device.type == "cpu" else 0
        choices = []
        for start, stop in row_blocks(count, max(_BLOCK_ENTRIES // count, 1)):
            scores = _scores(x[start:stop], x, measure, temperature)
            choices.append(_choose(scores, start, taken, noise, generator, seed))
        col = torch.cat(choices)
    row = torch.repeat_interleave(ptr.diff(), output_size=col.numel())
    score = -temperature * paired_similarity(x, x, row, col, measure).square()
    return NeighborRows(ptr, col, score.exp().to(dtype), score.to(dtype))


@torch.no_grad()
def _scores(block: Tensor, x: Tensor, measure: Similarity, temperature: float | Tensor) -> Tensor:
    similarity = fused.all_pairs(block, x, measure) if fused.supports(measure, x) else measure.pairwise(block, x)
    return similarity.square().mul_(-temperature)


def _choose(scores: Tensor, start: int, taken: int, noise: bool, generator: Generator | None, seed: int) -> Tensor:
    """Columns chosen by the points from ``start`` on, whose scores are the rows; ascending within a row."""
    if scores.device.type == "cpu":
        chosen = torch.empty(len(scores), taken, dtype=torch.int64)
        values, choices = scores.numpy(), chosen.numpy()
        for first, last in row_blocks(len(scores), _BLOCK_MOVES // (scores.size(1) * taken)):
            part = slice(first, last)
            _topk.choose_rows(values[part], start + first, taken, noise, np.uint64(seed), choices[part])
        return chosen.flatten()
    if noise:
        # Minus the logarithm of an exponential variable is a Gumbel variable.
        scores -= torch.empty_like(scores).exponential_(generator=generator).log_()
    rows = torch.arange(len(scores), device=scores.device)
    scores[rows, rows + start] = -torch.inf
    return scores.topk(taken, dim=1).indices.sort(dim=1).values.flatten()
