"""Ragged α-entmax against the padded dense one of the ``entmax`` package, forward and backward."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from latopo.entmax import segment_entmax

__all__ = ["entmax_vs_peers"]

# Padding that no row can reach, and finite: −inf gives NaN in the peer's bisection.
_PADDING = -1e4


def entmax_vs_peers(quick: bool = False) -> list[dict[str, Any]]:
    """Time rows of 5 to 60 entries and one long row (all polygon candidates at once) against ``entmax``.

    The peer gets its rows already padded, which is not counted; both sides run forward and backward in float32, and at
    α = 1.7 with the gradient of α. Returns one dictionary per comparison; no bar is set.
    """
    from entmax import entmax15, entmax_bisect

    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(5, 61, (2_000 if quick else 20_000,), generator=generator)
    long = torch.tensor([3_000 if quick else 30_000])
    results = []
    for name, sizes in ((f"{len(lengths):,} rows of 5 to 60", lengths), (f"one row of {int(long):,}", long)):
        ptr = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
        scores = 2 * torch.randn(int(ptr[-1]), generator=generator)
        results.append(_compare(name, scores, ptr, 1.5, False, "entmax15", entmax15))
        results.append(_compare(name, scores, ptr, 1.7, True, "entmax_bisect", entmax_bisect))
    return results


def _compare(
    name: str, scores: Tensor, ptr: Tensor, alpha: float, learned: bool, peer: str, peer_entmax: Callable[..., Tensor]
) -> dict[str, Any]:
    inside = torch.arange(int(ptr.diff().max())) < ptr.diff()[:, None]
    padded = torch.full(inside.shape, _PADDING).masked_scatter(inside, scores).requires_grad_()
    ragged = scores.clone().requires_grad_()
    value = torch.tensor(alpha, requires_grad=learned)
    direction = torch.linspace(-1, 1, len(scores))
    padded_direction = torch.zeros(inside.shape).masked_scatter(inside, direction)

    def ours() -> Tensor:
        prob = segment_entmax(ragged, ptr, value)
        prob.backward(direction)
        return prob.detach()

    def theirs() -> Tensor:
        prob = peer_entmax(padded, dim=-1, alpha=value) if learned else peer_entmax(padded, dim=-1)
        prob.backward(padded_direction)
        return prob.detach()[inside]

    difference = float((ours() - theirs()).abs().max())
    ours_seconds, peer_seconds = _best_times(ours, theirs)
    return {
        "name": f"segment_entmax, {name}, alpha {alpha}",
        "ours_seconds": ours_seconds,
        "peer": peer,
        "peer_seconds": peer_seconds,
        "ratio": peer_seconds / ours_seconds,
        "bar": None,
        "met": None,
        "note": f"forward + backward{' with alpha' if learned else ''}, largest difference {difference:.0e}",
    }


def _best_times(*runs: Callable[[], Tensor], repeats: int = 7) -> list[float]:
    """Seconds of the fastest call of each; the calls take turns, so that a busy machine disturbs all of them alike."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for number, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[number] = min(best[number], time.perf_counter() - start)
    return best
