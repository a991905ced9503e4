"""How long a fit will take, and how far it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from torch import Tensor

from latopo.models import Model
from latopo.training.loop import OnEpoch

__all__ = ["epoch_progress", "time_note"]

_SAMPLE = 2_000  # rows that are timed


def seconds_per_step(model: Model, x: Tensor) -> float:
    """Estimated seconds of a training step: time grows with the square of the rows, so a sample of them is timed."""
    rows = min(x.size(0), _SAMPLE)
    sample, trial = x[:rows], deepcopy(model).train()
    trial(sample)  # kernels are compiled or loaded, and the gain is set
    started = time.perf_counter()
    trial(sample).prediction.square().mean().backward()
    return (time.perf_counter() - started) * (x.size(0) / rows) ** 2


def time_note(model: Model, x: Tensor, epochs: int) -> str:
    """One line about the size of the data and the time that a fit on it takes at most."""
    step = seconds_per_step(model, x)
    total = 1.2 * step * epochs  # every third epoch is evaluated, too
    long = f"{total:.0f} s" if total < 120 else f"{total / 60:.0f} min"
    return (
        f"{x.size(0):,} rows, {x.size(1):,} features: about {step:.2g} s an epoch, at most {long} for {epochs} epochs"
    )


@contextmanager
def epoch_progress(epochs: int, show: bool) -> Iterator[OnEpoch | None]:
    """A progress bar on standard error, one step per epoch, with the last score; None if it is not to be shown."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=epochs)

        def on_epoch(row: dict[str, Any]) -> None:
            score = row["selection_score"]
            progress.update(bar, advance=1, description=None if score is None else f"validation {score:.3f}")

        yield on_epoch
