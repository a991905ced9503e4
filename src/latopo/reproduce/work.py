"""From units to records: the bridge from the bookkeeping to the training."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from latopo._device import find_device
from latopo._environment import environment
from latopo._parallel import one_thread
from latopo.data.graph_loading import load_any
from latopo.engine import Backend, run_jobs
from latopo.errors import LatopoError
from latopo.reproduce.record import Record
from latopo.reproduce.store import Store
from latopo.reproduce.unit import Hashed, Unit
from latopo.training.loop import OnEpoch
from latopo.training.protocol import first_trainer, run_fold

__all__ = ["do_units", "probe_seconds", "train_unit", "train_units"]

_PROBE_EPOCHS = 3


def train_units(
    units: Sequence[Unit],
    store: Store,
    jobs: int = 1,
    backend: Backend = "loky",
    cluster: str | None = None,
    *,
    data_root: Path | None = None,
    device: str = "cpu",
    on_start: Callable[[Unit], OnEpoch] | None = None,
    on_end: Callable[[Unit, Record | LatopoError], None] | None = None,
) -> list[Unit]:
    """Train the units that the store does not have and store each as soon as it is done; returns those that failed.

    Args:
        units: what to do, in order.
        store: where results go; this process alone writes it.
        jobs, backend, cluster: which processes train, see :func:`latopo.engine.run_jobs`; the numbers do not depend on
            it as long as the machines are of one kind.
        data_root: folder with raw files, on every machine; each looks in its own ``$LATOPO_DATA`` by default.
        device: where to train.
        on_start: called before a unit is trained in this process; not called for other processes.
        on_end: called with every unit and its record, or the error that it failed with.
    """
    here = jobs == 1 and backend == "loky"
    work = partial(_train, data_root=data_root, device=device, on_start=on_start if here else None)
    return do_units(work, units, store, jobs, backend, cluster, on_end=on_end)


def _train(unit: Unit, data_root: Path | None, device: str, on_start: Callable[[Unit], OnEpoch] | None) -> Record:
    return train_unit(unit, data_root, None if on_start is None else on_start(unit), device)


def do_units(
    work: Callable[[Any], Any],
    units: Sequence[Any],
    store: Store,
    *how: Any,
    on_end: Callable[[Any, Any], None] | None = None,
) -> list[Any]:
    """Do what the store does not have by ``work(unit)``, which gives a record; ``how``: jobs, backend, cluster."""
    failed = []
    with store.writing():
        todo = [unit for unit in units if unit.key not in store]
        for unit, outcome in run_jobs(partial(_attempt, work), todo, *how):
            if isinstance(outcome, LatopoError):
                failed.append(unit)
            else:
                store.append(outcome)
            if on_end is not None:
                on_end(unit, outcome)
    return failed


def _attempt(work: Callable[[Any], Any], unit: Any) -> Any:
    """A unit that fails (a diverged run, too many cells) is no reason to stop the others."""
    try:
        return work(unit)
    except LatopoError as error:
        return error


def train_unit(
    unit: Unit, data_root: Path | None = None, on_epoch: OnEpoch | None = None, device: str = "cpu"
) -> Record:
    """Train one unit and report it.

    Example:
        >>> record = train_unit(Unit("mlp", "iris", graph=False, protocol="paper", fold=0, settings={"epochs": 3}))
        >>> record.num_train, record.num_test, record.weight_decay, record.environment["threads"]
        (135, 15, 0.0005, 1)
    """
    run = unit.run
    data = _data(unit.dataset, data_root, device)
    # The number of threads changes the rounding of sums, and with it a training.
    with one_thread():
        result = run_fold(data, run, unit.fold, on_epoch=on_epoch)
        machine = Hashed(environment(str(data.y.device)))
    metric: Any = "accuracy" if run.entry.task == "classification" else "r2"
    return Record(unit, **result.summary(), metric=metric, search=tuple(result.search.items()), environment=machine)


def probe_seconds(unit: Unit, data_root: Path | None = None, device: str = "cpu") -> float | None:
    """Estimated seconds of a unit, from a few epochs; None if it is so short that trying costs as much, or if it fails.

    A guess: a graph that grows denser in training makes later epochs slower.
    """
    run = unit.run
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
    return load_any(dataset, data_root).to(find_device(device))
