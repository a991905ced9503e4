"""How much memory a function takes, in a process of its own."""

import gc
import multiprocessing
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

__all__ = ["in_process", "peak_megabytes", "peak_memory"]

Result = TypeVar("Result")


def peak_memory(warm_up: Callable[[], object], function: Callable[[], object]) -> float:
    """Extra resident memory in MB at the peak of ``function()``, in a process of its own.

    Both callables must be importable (top-level functions or partials of them). ``warm_up`` runs first, so that
    compilation and imports are not counted.
    """
    return in_process(partial(_measure_peak, warm_up, function))


def in_process(function: Callable[[], Result]) -> Result:
    """What an importable ``function()`` returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function)


def _measure_peak(warm_up: Callable[[], object], function: Callable[[], object]) -> float:
    warm_up()
    gc.collect()
    marker = Path("/proc/self/clear_refs")
    if marker.exists():  # elsewhere the peak since the start of the process has to do
        marker.write_text("5")
    before = peak_megabytes()
    function()
    return peak_megabytes() - before


def peak_megabytes() -> float:
    """The most resident memory that this process has had."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
