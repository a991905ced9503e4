"""The worker's loop over units; how a unit is trained is the caller's."""

from collections.abc import Callable, Iterable

from latopo.errors import LatopoError
from latopo.reproduce.record import Record, Unit
from latopo.reproduce.store import Store

__all__ = ["run_units"]


def run_units(
    units: Iterable[Unit],
    store: Store,
    train_unit: Callable[[Unit], Record],
    on_finished: Callable[[Record], None] | None = None,
    on_failed: Callable[[Unit, LatopoError], None] | None = None,
) -> int:
    """Train the units that are neither finished nor claimed by another living worker; returns how many were trained.

    Any number of processes may run this at once on the same store and units. A unit is stored as soon as it is trained.
    A unit whose owner dies becomes free: run again (or call :func:`unfinished`) after the workers have ended.

    Args:
        units: what to do, in order.
        store: where results go.
        train_unit: trains one unit; its record must be that unit's.
        on_finished: called with every new record, for a progress bar.
        on_failed: called with a unit that raised a LatopoError (a diverged run, too many cells); the others go on. By
            default the error ends the loop.
    """
    count = 0
    for unit in units:
        with store.claim(unit.key) as mine:
            if not mine:
                continue
            try:
                record = train_unit(unit)
            except LatopoError as error:
                if on_failed is None:
                    raise
                on_failed(unit, error)
                continue
            if record.key != unit.key:
                raise LatopoError(f"run_units: train_unit returned a record of {record.unit}, expected one of {unit}")
            store.append(record)
        count += 1
        if on_finished is not None:
            on_finished(record)
    return count
