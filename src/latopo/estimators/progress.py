"""How long a fit will take, and how far it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from latopo.models import Model
from latopo.training.loop import OnEpoch

__all__ = ["epoch_progress", "time_note"]

_SIZES = 5_000, 10_000  # rows of the samples whose steps are timed
_POWERS = {"flat": 2.0, "cells": 1.5, "tree": 1.0}  # of the rows, by which a search for neighbours grows
# Measured on tables of 5,000 to 100,000 rows, in CPU time of one thread.
_EPOCH = 1.2  # steps, since every third epoch is evaluated
_REST = 8  # epochs that bins, this estimate, the gain and the last pass in float64 take
_MEASURED = 3  # epochs after the first that the time is taken of, one of them with an evaluation


def seconds_per_step(model: Model, x: Tensor, edges: Tensor | None = None) -> float:
    """Seconds of a training step on x [N, d], dense or sparse: measured, or for many rows estimated from parts of them.

    One part of the time grows with the rows. Another, the search for neighbours, grows with their square; with the
    power 1.5 where it is by cells: so many there are, and a row looks into a few; with the rows, but for a logarithm,
    where it is by a tree. Steps on two samples of the rows tell both parts.
    """
    count = x.size(0)
    if count <= _SIZES[1]:
        return _step(model, x, edges)[0]
    small, large = _SIZES
    (first, _), (second, index) = (_step(model, *_part(x, edges, size)) for size in _SIZES)
    power = _POWERS.get(index, 2.0)
    if power == 1.0:
        return second * count / large
    # first = a small + b small^power, and likewise the second; noise must not make a part negative.
    growing = (second / large - first / small) / (large ** (power - 1) - small ** (power - 1))
    growing = min(max(growing, 0.0), second / large**power)
    return (second - growing * large**power) * count / large + growing * count**power


def _part(x: Tensor, edges: Tensor | None, size: int) -> tuple[Tensor, Tensor | None]:
    """Evenly spaced rows, and the given edges between them."""
    rows = torch.linspace(0, x.size(0) - 1, size).long()
    if edges is None:
        return x.index_select(0, rows), None
    number = torch.full((x.size(0),), -1).index_put((rows,), torch.arange(size))
    ends = number[edges]
    return x.index_select(0, rows), ends[:, (ends >= 0).all(dim=0)]


def _step(model: Model, x: Tensor, edges: Tensor | None) -> tuple[float, str]:
    """Seconds of the second step of a copy, and what it searched: the first one compiles, and sets the gain."""
    trial = deepcopy(model).train()
    for _ in range(2):
        trial = deepcopy(trial)  # which remembers no neighbours: in training points move, and are searched again
        started = time.perf_counter()
        trial(x, edges).prediction.square().mean().backward()
        seconds = time.perf_counter() - started
    report = trial.search_report()
    return seconds, "" if report is None else report.index


def time_note(model: Model, x: Tensor, edges: Tensor | None, epochs: int) -> str:
    """One line about the size of the data and the time that a fit on it takes about, without early stopping."""
    epoch = _EPOCH * seconds_per_step(model, x, edges)
    total = epoch * (epochs + _REST)
    length = f"about {_long(epoch)} an epoch, about {_long(total)} for {epochs} epochs"
    note = f"{x.size(0):,} rows, {x.size(1):,} features: {length}"
    return note if total < 120 else f"{note}; max_anchors (--max-anchors) fits a random part of the rows"


def _long(seconds: float) -> str:
    """A duration in words: two digits below ten seconds, minutes from two on."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class _Stopwatch:
    """Takes the time of the epochs after the first, and says once how long all of them will take."""

    def __init__(self, epochs: int) -> None:
        self.epochs, self.marks = epochs, [0.0]

    def lap(self) -> str | None:
        """To be called at the end of each epoch; the line after a few epochs of a fit that takes a minute or more."""
        self.marks.append(time.perf_counter())
        if len(self.marks) != _MEASURED + 2:
            return None
        step = (self.marks[-1] - self.marks[1]) / _MEASURED
        if step * self.epochs < 60:
            return None
        return f"measured: {_long(step)} an epoch, at most {_long(step * self.epochs)} for {self.epochs} epochs"


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
        bar, watch = progress.add_task("", total=epochs), _Stopwatch(epochs)

        def on_epoch(row: dict[str, Any]) -> None:
            score = row["selection_score"]
            progress.update(bar, advance=1, description=None if score is None else f"{label} {score:.3f}")
            measured = watch.lap()
            if measured is not None:
                progress.console.print(measured, highlight=False, soft_wrap=True)

        yield on_epoch
