"""Ragged α-entmax against the padded dense one of the ``entmax`` package, forward and backward."""

from collections.abc import Callable

import torch
from torch import Tensor

from latopo.bench.harness import Measurement, best_runs
from latopo.entmax import segment_entmax

__all__ = ["compare", "measure"]

# Padding that no row can reach, and finite: −inf gives NaN in the peer's bisection.
_PADDING = -1e4


def measure(quick: bool = False) -> list[Measurement]:
    """Time rows of 5 to 60 entries and one long row (all polygon candidates at once) against ``entmax``.

    The peer gets its rows already padded, which is not counted; both sides run forward and backward in float32, and at
    α = 1.7 with the gradient of α. No bar is set.
    """
    from entmax import entmax15, entmax_bisect

    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(5, 61, (2_000 if quick else 20_000,), generator=generator)
    long = torch.tensor([3_000 if quick else 30_000])
    results = []
    for name, sizes in ((f"{len(lengths):,} rows of 5 to 60", lengths), (f"one row of {int(long):,}", long)):
        scores = 2 * torch.randn(int(sizes.sum()), generator=generator)
        results.append(compare(name, scores, sizes, 1.5, False, lambda padded, alpha: entmax15(padded)))
        results.append(compare(name, scores, sizes, 1.7, True, entmax_bisect))
    return results


def compare(
    name: str, scores: Tensor, sizes: Tensor, alpha: float, learned: bool, peer: Callable[[Tensor, Tensor], Tensor]
) -> Measurement:
    """Both sides on rows of these sizes, with the largest difference of their probabilities in the note."""
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)])
    inside = torch.arange(int(sizes.max())) < sizes[:, None]
    value = torch.tensor(alpha, requires_grad=learned)
    ragged = scores.clone().requires_grad_()
    padded = torch.full(inside.shape, _PADDING).masked_scatter(inside, scores).requires_grad_()
    direction = torch.linspace(-1, 1, len(scores))
    padded_direction = torch.zeros(inside.shape).masked_scatter(inside, direction)

    def ours() -> Tensor:
        prob = segment_entmax(ragged, ptr, value)
        prob.backward(direction)
        return prob.detach()

    def theirs() -> Tensor:
        prob = peer(padded, value)
        prob.backward(padded_direction)
        return prob.detach()[inside]

    ours()  # compiles
    (mine, prob), (other, their_prob) = best_runs(ours, theirs, repeats=7)
    difference = float((prob - their_prob).abs().max())
    note = f"forward + backward{' with α' if learned else ''}, largest difference {difference:.0e}"
    called = "entmax_bisect" if learned else "entmax15"
    return Measurement(f"segment_entmax, {name}, α = {alpha}", mine, called, other, note=note)
