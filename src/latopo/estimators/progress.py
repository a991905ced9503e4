"""How long a fit will take, and how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from latopo.models import Model
from latopo.neighbors import entmax_neighbors
from latopo.training.loop import OnEpoch

__all__ = ["epoch_progress", "time_note"]

_SAMPLE = 1_000  # rows whose step is timed
_QUERIES = 512  # rows whose similarities to all others are timed


def seconds_per_step(model: Model, x: Tensor) -> float:
    """Estimated seconds of a training step on x [N, d], dense or sparse.

    All pairs of rows are compared three times a step, once forward and twice backward; that is timed on a few rows
    against as many points as there are rows. The rest grows with the rows, and is timed on a sample.
    """
    count, rows = x.size(0), min(x.size(0), _SAMPLE)
    features = torch.randn(rows, x.size(1), generator=torch.Generator().manual_seed(0))
    trial = deepcopy(model).train()
    step = _seconds(lambda: trial(features).prediction.square().mean().backward())
    if count == rows:
        return step
    points = torch.randn(count, model.settings.hidden_channels, generator=torch.Generator().manual_seed(0))
    scan = _seconds(lambda: entmax_neighbors(points[:_QUERIES], 20.0, anchors=points))
    return step * count / rows + 3 * scan * count / _QUERIES


def _seconds(work: Callable[[], object]) -> float:
    work()  # kernels are compiled or loaded, and the gain is set
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def time_note(model: Model, x: Tensor, epochs: int) -> str:
    """One line about the size of the data and the time that a fit on it takes about, without early stopping."""
    step = seconds_per_step(model, x)
    # Every third epoch is evaluated; setting the gain and the last pass in float64 compare all pairs some 14 times.
    total = step * (1.2 * epochs + 5)
    long = f"{total:.0f} s" if total < 120 else f"{total / 60:.0f} min"
    return f"{x.size(0):,} rows, {x.size(1):,} features: about {step:.2g} s an epoch, about {long} for {epochs} epochs"


@contextmanager
def epoch_progress(epochs: int, show: bool, label: str) -> Iterator[OnEpoch | None]:
    """A progress bar on standard error, one step per epoch, with the last score; None if it is not to be shown.

    ``label`` says which score it is, that of the rows which choose the epoch.
    """
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
            progress.update(bar, advance=1, description=None if score is None else f"{label} {score:.3f}")

        yield on_epoch
