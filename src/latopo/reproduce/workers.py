"""Several processes on one store."""

import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context, parent_process
from pathlib import Path
from queue import Empty
from typing import Any

from latopo.errors import LatopoError
from latopo.reproduce.record import Record, Unit
from latopo.reproduce.run import run_units
from latopo.reproduce.store import Store

__all__ = ["run_parallel"]

OnFinished = Callable[[Record], None]
OnFailed = Callable[[Unit, LatopoError], None]


def run_parallel(
    units: Sequence[Unit],
    folder: Path,
    jobs: int,
    data_root: Path | None,
    device: str,
    on_finished: OnFinished,
    on_failed: OnFailed,
) -> None:
    """Train units in worker processes that share a store; a unit is trained by one of them.

    Processes are started afresh (spawn), as compiled kernels and threads do not survive a fork, each with one thread.
    If this process ends, they end: after Ctrl-C at once, after a kill before the next epoch.

    Args:
        units: what to do, in order.
        folder: the store.
        jobs: number of processes.
        data_root: folder with raw files.
        device: where to train.
        on_finished: called here with every new record.
        on_failed: called here with a unit that raised a LatopoError.
    """
    context = get_context("spawn")
    events: Any = context.Queue()
    arguments = (list(units), folder, data_root, device, events)
    workers = [context.Process(target=_work, args=arguments, daemon=True) for _ in range(jobs)]
    try:
        for worker in workers:
            worker.start()
        _listen(workers, events, on_finished, on_failed)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _listen(workers: Sequence[Any], events: Any, on_finished: OnFinished, on_failed: OnFailed) -> None:
    """Pass on what the workers report until all have ended."""
    ended = 0
    while ended < len(workers):
        try:
            unit, outcome = events.get(timeout=1.0)
        except Empty:
            _check_alive(workers, ended)
            continue
        if unit is None:
            ended += 1
        elif isinstance(outcome, Record):
            on_finished(outcome)
        else:
            on_failed(unit, LatopoError(outcome))


def _check_alive(workers: Sequence[Any], ended: int) -> None:
    # A worker that was killed, or broke, says nothing any more; its unit is free again, and the others go on.
    broken = [worker for worker in workers if worker.exitcode not in (None, 0)]
    if broken and ended + len(broken) >= len(workers):
        raise LatopoError(
            f"reproduce: {len(broken)} of {len(workers)} workers ended early (exit code {broken[0].exitcode}; "
            "−9 is often a lack of memory); run the command again to go on, with fewer --jobs"
        )


def _work(units: list[Unit], folder: Path, data_root: Path | None, device: str, events: Any) -> None:
    from latopo.reproduce.train_unit import train_unit

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    run_units(
        units,
        Store(folder),
        lambda unit: train_unit(unit, data_root, _end_with_parent, device),
        on_finished=lambda record: events.put((record.unit, record)),
        on_failed=lambda unit, error: events.put((unit, str(error))),
    )
    events.put((None, None))


def _end_with_parent(row: dict[str, Any]) -> None:
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        raise SystemExit
