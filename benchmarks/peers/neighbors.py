"""``entmax_neighbors``, all pairs compared, against the dense definition and against a bare matrix product."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor

from latopo.bench.harness import Measurement, best_runs, race
from latopo.bench.search import points, products
from latopo.neighbors import entmax_neighbors
from peers._memory import peak_memory

__all__ = ["dense", "measure", "ours"]

GAIN = 50.0


def ours(count: int) -> Tensor:
    """Forward and backward of the sparse rows, all pairs compared; the gradient."""
    x = points(count).requires_grad_()
    return torch.autograd.grad(entmax_neighbors(x, GAIN, search="exact")[2].square().sum(), x)[0]


def dense(count: int) -> Tensor:
    """The same by the book: all distances, layer norm, the entmax package, autograd."""
    from entmax import entmax15

    x = points(count).requires_grad_()
    z = -torch.cdist(x, x)
    z = z.masked_select(~torch.eye(count, dtype=torch.bool)).view(count, count - 1)
    scores = GAIN * (z - z.mean(1, keepdim=True)) / z.std(1, correction=0, keepdim=True)
    return torch.autograd.grad(entmax15(scores, dim=1).square().sum(), x)[0]


def measure(quick: bool = False) -> list[Measurement]:
    """The bars of the sparse neighbourhoods."""
    small, middle, large = (500, 2_000, 3_000) if quick else (2_708, 20_000, 34_493)
    time, memory = "α-DGM rows, N = {:,}, forward + backward", "α-DGM rows, N = {:,}, extra memory"
    book, product = "dense: cdist, norm, entmax15, autograd", "x[b:b+512] @ x.t() for all b"
    ours(100)
    mine, theirs = (peak_memory(partial(run, 100), partial(run, small)) for run in (ours, dense))
    most = peak_memory(partial(ours, 100), partial(ours, large))
    against_book = race(time.format(small), partial(ours, small), book, partial(dense, small), 4, bar=25.0)
    against_product = race(time.format(middle), partial(ours, middle), product, partial(products, middle), 4, bar=1 / 3)
    rows = [
        against_book,
        Measurement(memory.format(small), mine, book, theirs, "MB", bar=10.0),
        Measurement(memory.format(large), most, "1 GB", 1024.0, "MB", bar=1.0),
        replace(against_product, note="at most 3 times the bare matrix product"),
    ]
    return rows + _growth([500, 1_000, 2_000] if quick else [5_000, 10_000, 20_000, 40_000, 80_000])


def _growth(sizes: list[int]) -> list[Measurement]:
    """Time grows as N², memory as N: each size beside half of it."""
    seconds = {size: best_runs(partial(ours, size), repeats=1 if size > 20_000 else 2)[0][0] for size in sizes}
    memory = {size: peak_memory(partial(ours, 100), partial(ours, size)) for size in sizes}
    rows = []
    for kind, unit, figure in (("time", "s", seconds), ("extra memory", "MB", memory)):
        for half, size in pairwise(sizes):
            note = f"{figure[size] / max(figure[half], 1e-9):.1f} times that of half as many points"
            name = f"growth of {kind}, N = {size:,}"
            rows.append(Measurement(name, figure[size], f"N = {half:,}", figure[half], unit=unit, note=note))
    return rows
