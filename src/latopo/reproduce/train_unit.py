"""From a unit to its record: the bridge from the bookkeeping to the training."""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from latopo._device import find_device
from latopo._parallel import one_thread
from latopo.data.loading import load
from latopo.errors import LatopoError
from latopo.reproduce.record import Record, Unit
from latopo.training.loop import OnEpoch
from latopo.training.protocol import first_trainer, run_fold
from latopo.training.run import Run

__all__ = ["probe_seconds", "run_of", "train_unit"]

_PROBE_EPOCHS = 3


def run_of(unit: Unit) -> Run:
    """The run that a unit is a fold of."""
    return Run(unit.dataset, unit.model, unit.graph, unit.protocol, unit.seed, unit.settings)


def train_unit(
    unit: Unit, data_root: Path | None = None, on_epoch: OnEpoch | None = None, device: str = "cpu"
) -> Record:
    """Train one unit and report it.

    Example:
        >>> record = train_unit(Unit("mlp", "iris", graph=False, protocol="paper", fold=0, settings={"epochs": 3}))
        >>> record.num_train, record.num_test, record.weight_decay
        (135, 15, 0.0005)
    """
    run = run_of(unit)
    data = _data(unit.dataset, data_root, device)
    # The device and the number of threads change the rounding of sums, and with it a training.
    with one_thread():
        result = run_fold(data, run, unit.fold, on_epoch=on_epoch)
    metric: Any = "accuracy" if run.entry.task == "classification" else "r2"
    extra = {
        "search": {str(decay): score for decay, score in result.search.items()},
        "threads": 1,
        "device": data.y.device.type,
    }
    return Record(unit, **result.summary(), metric=metric, extra=extra)


def probe_seconds(unit: Unit, data_root: Path | None = None, device: str = "cpu") -> float | None:
    """Estimated seconds of a unit, from a few epochs; None if it is so short that trying costs as much, or if it fails.

    A guess: a graph that grows denser in training makes later epochs slower.
    """
    run = run_of(unit)
    if run.planned_epochs < 20 * _PROBE_EPOCHS:
        return None
    try:
        trainer = first_trainer(_data(unit.dataset, data_root, device), run, unit.fold)
        with one_thread():
            trainer.advance(1)  # kernels are compiled, caches filled
            start = time.perf_counter()
            trainer.advance(1 + _PROBE_EPOCHS)
    except LatopoError:
        return None
    return (time.perf_counter() - start) / _PROBE_EPOCHS * run.planned_epochs


@lru_cache(maxsize=1)
def _data(dataset: str, data_root: Path | None, device: str) -> Any:
    # Units come data set by data set: one at a time is kept.
    return load(dataset, data_root).to(find_device(device))
