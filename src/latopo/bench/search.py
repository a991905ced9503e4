"""Certified rows of the squared distance against a bare matrix product, one thread."""

import time
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from latopo._parallel import one_thread
from latopo.bench.harness import Measurement, race
from latopo.neighbors import NeighborSearch, entmax_neighbors, gain_for_degree

__all__ = ["clusters", "measure", "ours", "points", "products"]

WIDTH = 32
DEGREE = 10.0


def points(count: int) -> Tensor:
    """Gaussian points [count, 32], the same in every process."""
    return torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(0))


def products(count: int) -> None:
    """All inner products, 512 rows at a time: what any exact method has to read."""
    x = points(count)
    for start in range(0, count, 512):
        x[start : start + 512] @ x.t()


def clusters(count: int, width: int = WIDTH, spread: float = 4.0) -> Tensor:
    """Gaussian clusters of about a thousand points [count, width]; centres lie ``spread`` times as far as points."""
    generator = torch.Generator().manual_seed(0)
    centres = spread * torch.randn(max(count // 1000, 1), width, generator=generator)
    x = torch.randn(count, width, generator=generator)
    return x.add_(centres[torch.randint(len(centres), (count,), generator=generator)])


def ours(x: Tensor, gain: float, search: NeighborSearch) -> tuple[Tensor, Tensor, Tensor]:
    """Forward and backward of the sparse rows: their pointers and columns, and the gradient."""
    x = x.clone().requires_grad_()
    ptr, col, prob = entmax_neighbors(x, gain, similarity="squared", search=search)
    return ptr, col, torch.autograd.grad(prob.square().sum(), x)[0]


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of the certified search: Gaussian points, the hardest, and clusters."""
    middle, large = (6_000, 8_000) if quick else (20_000, 100_000)
    with one_thread():
        return [
            _against_product("Gaussian", points(middle), repeats=4, bar=1 / 1.5),
            _against_product("Gaussian", points(large), repeats=1, bar=1.0),
            _against_product("clustered", clusters(large), repeats=1),
        ]


def _against_product(kind: str, x: Tensor, repeats: int, bar: float | None = None) -> Measurement:
    search, count = NeighborSearch("certified", reuse=False), x.size(0)
    gain = gain_for_degree(x, DEGREE, similarity="squared", search=search)
    ours(x[:6000], gain, search)  # compiles
    row = race(
        f"certified rows, squared, {kind}, N = {count:,}, forward + backward",
        partial(ours, x, gain, search),
        "x[b:b+512] @ x.t() for all b",
        partial(products, count),
        repeats,
        time.process_time,
        bar=bar,
    )
    report = search.report
    if report is None or report.certified < count:
        raise RuntimeError(f"bench: not every row is certified: {report}")
    return replace(row, note=f"CPU time; degree about {DEGREE:.0f}; {report}")
