"""The compiled path for many small point clouds: blocks of clouds, each cloud among itself."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from latopo._parallel import map_blocks
from latopo.neighbors import _clouds
from latopo.neighbors.fused import KIND, as_array
from latopo.neighbors.scan import Scan, row_pointers
from latopo.neighbors.similarity import Similarity

__all__ = ["cloud_statistics", "scan_clouds"]

Array = npt.NDArray[Any]
Result = TypeVar("Result")

_BLOCK_PAIRS = 2**16  # pairs of points that a thread takes at a time


@torch.no_grad()
def scan_clouds(x: Tensor, ptr: Tensor, similarity: Similarity, gain: float, alpha: Tensor) -> Scan:
    """Statistics and support of the points x [N, d], each within its cloud; α one number per row [N]."""
    points, bounds = as_array(x), as_array(ptr)
    counts = np.zeros(len(points), np.int64)
    mean, deviation, top = (np.zeros(len(points), points.dtype) for _ in range(3))
    known, alphas = np.full(len(points), np.nan, points.dtype), as_array(alpha.double())
    epsilon = float(np.finfo(points.dtype).eps)

    def block(first: int, last: int) -> Tensor:
        clouds = bounds[first : last + 1]
        rows = slice(clouds[0], clouds[-1])
        col = _clouds.scan_clouds(
            points[rows], clouds - clouds[0], KIND[type(similarity)], gain, alphas[rows], epsilon, known[rows],
            mean[rows], deviation[rows], top[rows], counts[rows],
        )  # fmt: skip
        return torch.from_numpy(col + clouds[0])

    found = _map_clouds(block, bounds)
    col = torch.cat(found) if found else torch.empty(0, dtype=torch.int64)
    return Scan(row_pointers(torch.from_numpy(counts)), col, *map(torch.from_numpy, (mean, deviation, top)))


def _map_clouds(function: Callable[[int, int], Result], bounds: Array) -> list[Result]:
    """Call ``function(first, last)`` for blocks of clouds; their size depends on the clouds alone, not on threads."""
    pairs = int((np.diff(bounds) ** 2).sum())
    count = len(bounds) - 1
    return map_blocks(function, count, max(count * _BLOCK_PAIRS // max(pairs, 1), 1))


def cloud_statistics(x: Tensor, ptr: Tensor, similarity: Similarity, scan: Scan) -> tuple[Tensor, Tensor]:
    """The mean μ_i and deviation σ_i of a scan, [N] each, as differentiable values of x."""
    found: tuple[Tensor, Tensor] = _CloudStatistics.apply(x, ptr, similarity, scan.mean, scan.deviation)
    return found


class _CloudStatistics(torch.autograd.Function):
    """μ_i and σ_i are known from the scan; their gradient is the dense part, cloud by cloud."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, similarity: Similarity, mean: Tensor, deviation: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x, ptr, mean, deviation)
        ctx.similarity = similarity
        return mean.clone(), deviation.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, mean_gradient: Tensor, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, ptr, mean, deviation = ctx.saved_tensors
        sizes = ptr.diff()
        count = torch.repeat_interleave(sizes - 1, sizes, output_size=x.size(0)).clamp(min=1).to(x.dtype)
        # ∂μ_i/∂z_ij = 1/n and ∂σ_i/∂z_ij = (z_ij − μ_i) / (n σ_i); rows with σ_i = 0 pass nothing.
        rate = torch.where(deviation > 0, gradient / (count * deviation), 0.0)
        shift = torch.where(deviation > 0, mean_gradient / count, 0.0) - rate * mean
        total = np.zeros(tuple(x.shape), as_array(x).dtype)
        points, bounds, rates, shifts = map(as_array, (x, ptr, rate, shift))

        def block(first: int, last: int) -> None:
            clouds = bounds[first : last + 1]
            rows = slice(clouds[0], clouds[-1])
            _clouds.pull_clouds(
                points[rows], clouds - clouds[0], KIND[type(ctx.similarity)], rates[rows], shifts[rows], total[rows]
            )

        _map_clouds(block, bounds)
        return torch.from_numpy(total), None, None, None, None
