from collections.abc import Callable

import pytest
import torch
from entmax import entmax_bisect
from torch import Tensor

from latopo.neighbors import Similarity, get_similarity

Dense = Callable[..., Tensor]


def _dense(
    x: Tensor,
    gain: float | Tensor,
    alpha: float | Tensor,
    similarity: str | Similarity = "euclidean",
    anchors: Tensor | None = None,
) -> Tensor:
    """The definition, written down: all pairs, layer norm, entmax, plain autograd. [N, M] with zeros at self."""
    others = x if anchors is None else anchors
    z = get_similarity(similarity).pairwise(x, others)
    rows, columns = z.shape
    if anchors is None:
        off = ~torch.eye(rows, dtype=torch.bool)
        z = z[off].view(rows, rows - 1)
    centred = z - z.mean(1, keepdim=True)
    eps = torch.finfo(x.dtype).eps
    flat = centred.detach().square().mean(1).sqrt() <= 16 * eps * z.detach().abs().amax(1)
    variance = centred.square().mean(1)
    sigma = torch.where(flat, 1.0, variance).sqrt()
    scores = torch.where(flat[:, None], 0.0, gain * centred / sigma[:, None])
    if isinstance(alpha, Tensor):
        alpha = alpha.reshape(-1, 1).expand(rows, 1)
    softmax = not isinstance(alpha, Tensor) and alpha == 1
    p = scores.softmax(1) if softmax else entmax_bisect(scores, alpha, n_iter=100)
    if anchors is None:
        return torch.zeros(rows, columns, dtype=p.dtype).masked_scatter(off, p)
    return p


@pytest.fixture
def dense_rows() -> Dense:
    return _dense


@pytest.fixture
def scatter_rows() -> Callable[..., Tensor]:
    def scatter(result: tuple[Tensor, Tensor, Tensor], columns: int) -> Tensor:
        ptr, col, prob = result
        row = torch.repeat_interleave(ptr.diff())
        return prob.new_zeros(len(ptr) - 1, columns).index_put((row, col), prob)

    return scatter
