"""Whether the numbers of a table are better taken as they are or in bins: a small inner cross-validation."""

import time
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from latopo.estimators.scaling import Scaling
from latopo.estimators.splitting import interleaved
from latopo.models import find_system
from latopo.training import TrainingSettings, seeded, train

__all__ = ["BINS", "BinChoice", "choose_bins"]

FloatArray = NDArray[np.float64]

BINS = 8
_FOLDS = 3
_EPOCHS = 60
_WIDTH = 64
_MOST_ROWS = 2_000  # a choice between two needs no more
_FEWEST_ROWS = 60  # below, three folds say nothing
_MOST_COLUMNS = 100  # wide tables are pixels or words, not quantities


class BinChoice(NamedTuple):
    """What was chosen, and why."""

    bins: int  # 0 for none
    losses: tuple[float, ...]  # held-out loss without and with bins; empty where nothing was compared
    seconds: float

    def __str__(self) -> str:
        if not self.losses:
            return "numbers are taken as they are: too few rows, or too many columns, to compare"
        chosen = f"in {self.bins} bins" if self.bins else "as they are"
        plain, binned = self.losses
        return (
            f"numbers are taken {chosen}: held-out loss {plain:.3f} as they are, {binned:.3f} in {BINS} bins "
            f"({_FOLDS} folds of a small MLP, {self.seconds:.1f} s; bins=0 or bins={BINS} skips this)"
        )


def choose_bins(
    caller: str, x: FloatArray, target: NDArray[Any], num_classes: int, decay: float, seed: int
) -> BinChoice:
    """The number of bins with the lower held-out loss of an MLP, 0 or 8; labelled rows x [N, d] alone are looked at.

    The same rows and seed give the same choice. A small MLP stands for the model: it takes a tenth of the time.
    """
    started = time.perf_counter()
    if len(x) < _FEWEST_ROWS or x.shape[1] > _MOST_COLUMNS:
        return BinChoice(0, (), 0.0)
    order = np.random.RandomState(seed).permutation(len(x))[:_MOST_ROWS]
    order = interleaved(order, target) if num_classes else order
    x, target = x[order], target[order]
    losses = tuple(_held_out_loss(caller, x, target, num_classes, bins, decay, seed) for bins in (0, BINS))
    return BinChoice(BINS if losses[1] < losses[0] else 0, losses, time.perf_counter() - started)


def _held_out_loss(
    caller: str, x: FloatArray, target: NDArray[Any], num_classes: int, bins: int, decay: float, seed: int
) -> float:
    """Mean loss over the folds; of values in units of their deviation."""
    fold = np.arange(len(x)) % _FOLDS
    settings = TrainingSettings(epochs=_EPOCHS, weight_decay=decay, evaluate_every=_EPOCHS, seed=seed)
    y, losses = torch.from_numpy(target), []
    for held_out in range(_FOLDS):
        scaled = Scaling.of(caller, x[fold != held_out], bins).apply(x).float()
        learned = torch.from_numpy(np.flatnonzero(fold != held_out))
        with seeded(seed):
            model = find_system("mlp").build(scaled.size(1), max(num_classes, 1), False, hidden_channels=_WIDTH)
        result = train(model, scaled, y, None, learned, learned, settings, num_classes=num_classes)
        guess, truth = result.best_output.prediction[fold == held_out], y[fold == held_out]
        if num_classes:
            losses.append(functional.cross_entropy(guess, truth).item())
        else:
            error = result.target_mean + result.target_scale * guess.flatten().double() - truth
            losses.append(float(error.square().mean() / y.var()))
    return float(np.mean(losses))
