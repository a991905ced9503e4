"""How a bar is measured: both sides in the same run, after a warm-up, and the ratio is what counts."""

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Measurement", "best_runs", "race"]


@dataclass(frozen=True)
class Measurement:
    """One bar.

    Attributes:
        name: what was measured.
        ours: our figure.
        peer: what it is compared with: another implementation, or a limit.
        theirs: the peer's figure, or the limit.
        unit: of both, ``"s"`` or ``"MB"``.
        bar: the ratio that was asked for; None if none was.
        note: conditions.
    """

    name: str
    ours: float
    peer: str
    theirs: float
    unit: str = "s"
    bar: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """Theirs over ours."""
        return self.theirs / max(self.ours, 1e-12)

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached; None without a bar."""
        return None if self.bar is None else self.ratio >= self.bar

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with ratio and verdict."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def best_runs(
    *functions: Callable[[], Any], repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> list[tuple[float, Any]]:
    """For each function, the seconds of the fastest of ``repeats`` calls and what it returned.

    Noise on a shared machine only ever adds, so the fastest call is the one to believe; and the functions take turns,
    so that a busy spell disturbs all of them alike. CPU time (``time.process_time``) does not count waiting at all.
    """
    best = [(float("inf"), None)] * len(functions)
    for _ in range(repeats):
        for number, function in enumerate(functions):
            gc.collect()
            start = clock()
            answer = function()
            best[number] = (min(best[number][0], clock() - start), answer)
    return best


def race(
    name: str,
    ours: Callable[[], Any],
    peer: str,
    theirs: Callable[[], Any],
    repeats: int = 3,
    clock: Callable[[], float] = time.perf_counter,
    **details: Any,
) -> Measurement:
    """Time both sides; ``details`` are the other attributes of a :class:`Measurement`."""
    (mine, _), (other, _) = best_runs(ours, theirs, repeats=repeats, clock=clock)
    return Measurement(name, mine, peer, other, **details)
