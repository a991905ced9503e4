"""``entmax_neighbors`` against the dense definition and against a bare matrix product."""

from functools import partial

import torch
from torch import Tensor

from latopo.bench.harness import Measurement, best_times, peak_memory
from latopo.neighbors import entmax_neighbors

__all__ = ["measure"]

WIDTH = 32
GAIN = 50.0


def points(count: int) -> Tensor:
    """Gaussian points [count, 32], the same in every process."""
    return torch.randn(count, WIDTH, generator=torch.Generator().manual_seed(0))


def ours(count: int) -> None:
    """Forward and backward of the sparse rows."""
    x = points(count).requires_grad_()
    prob = entmax_neighbors(x, GAIN)[2]
    prob.square().sum().backward()


def dense(count: int) -> None:
    """The same by the book: all distances, layer norm, the entmax package, autograd."""
    from entmax import entmax15

    x = points(count).requires_grad_()
    z = -torch.cdist(x, x)
    z = z.masked_select(~torch.eye(count, dtype=torch.bool)).view(count, count - 1)
    scores = GAIN * (z - z.mean(1, keepdim=True)) / z.std(1, correction=0, keepdim=True)
    entmax15(scores, dim=1).square().sum().backward()


def products(count: int) -> None:
    """All inner products, 512 rows at a time: what any exact method has to read."""
    x = points(count)
    for start in range(0, count, 512):
        x[start : start + 512] @ x.t()


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of the sparse neighbourhoods."""
    small, middle, large = (500, 2_000, 3_000) if quick else (2_708, 20_000, 34_493)
    ours(100)
    book = "dense: cdist, norm, entmax15, autograd"
    seconds = best_times(partial(ours, small), partial(dense, small), repeats=4)
    against_product = best_times(partial(ours, middle), partial(products, middle), repeats=4)
    memory = [peak_memory(partial(run, 100), partial(run, small)) for run in (ours, dense)]
    large_memory = peak_memory(partial(ours, 100), partial(ours, large))
    what = "α-DGM rows, N = {:,}, {}"
    rows = [
        Measurement(what.format(small, "forward + backward"), seconds[0], book, seconds[1], bar=25.0),
        Measurement(what.format(small, "extra memory"), memory[0], book, memory[1], unit="MB", bar=10.0),
        Measurement(what.format(large, "extra memory"), large_memory, "1 GB", None, unit="MB", bar=1.0, limit=1024.0),
        Measurement(
            what.format(middle, "forward + backward"),
            against_product[0],
            "x[b:b+512] @ x.t() for all b",
            against_product[1],
            bar=1 / 3,
            note="at most 3 times the bare matrix product",
        ),
    ]
    return rows + _growth([500, 1_000, 2_000] if quick else [5_000, 10_000, 20_000, 40_000, 80_000])


def _growth(sizes: list[int]) -> list[Measurement]:
    """Time grows as N², memory as N: each size beside half of it."""
    seconds = [best_times(partial(ours, size), repeats=1 if size > 20_000 else 2)[0] for size in sizes]
    memory = [peak_memory(partial(ours, 100), partial(ours, size)) for size in sizes]
    rows = []
    for kind, unit, figures in (("time", "s", seconds), ("extra memory", "MB", memory)):
        for at in range(1, len(sizes)):
            note = f"{figures[at] / max(figures[at - 1], 1e-9):.1f} times that of half as many points"
            name, peer = f"growth of {kind}, N = {sizes[at]:,}", f"N = {sizes[at - 1]:,}"
            rows.append(Measurement(name, figures[at], peer, figures[at - 1], unit=unit, note=note))
    return rows
