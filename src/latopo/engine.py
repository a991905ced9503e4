"""Many jobs on many processes: results come back to the one process that asked, as they are ready."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import cache
from typing import TypeVar

from latopo.errors import LatopoError

__all__ = ["run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")

# A job that takes its worker down every time (no memory, as a rule) must not be tried for ever.
_ATTEMPTS = 3


def run_jobs(function: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int = 1) -> Iterator[tuple[Job, Result]]:
    """Call ``function`` on every job; yields (job, result) in the order in which they end.

    With ``n_jobs=1`` everything happens in this process. A worker that dies loses what the workers had under way, which
    is done again by new ones; an exception in ``function`` ends everything. Workers end with this process.

    Args:
        function: called in a worker, so it must be found by name in a module.
        jobs: its arguments.
        n_jobs: number of processes, of one thread each.

    Example:
        >>> sorted(run_jobs(abs, [-1, 2]))
        [(-1, 1), (2, 2)]
    """
    if n_jobs == 1:
        yield from ((job, function(job)) for job in jobs)
    else:
        yield from _with_loky(function, jobs, n_jobs)


def _with_loky(function: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int) -> Iterator[tuple[Job, Result]]:
    from joblib import Parallel, delayed, parallel_config

    left = dict(enumerate(jobs))
    failures = 0
    while left:
        calls = [delayed(_in_worker)(function, place, job) for place, job in left.items()]
        try:
            with parallel_config("loky", inner_max_num_threads=1):
                results = Parallel(n_jobs, batch_size=1, return_as="generator_unordered")(calls)
            for place, result in results:
                failures = 0
                yield left.pop(place), result
        except BrokenExecutor as error:
            failures += 1
            if failures == _ATTEMPTS:
                raise LatopoError(
                    f"workers died {_ATTEMPTS} times in a row, often for lack of memory; run the command again to go "
                    "on, with fewer --jobs"
                ) from error
            # What was under way goes last: should one of these jobs be to blame, the others are done before it.
            left = dict(list(left.items())[n_jobs:] + list(left.items())[:n_jobs])


def _in_worker(function: Callable[[Job], Result], place: int, job: Job) -> tuple[int, Result]:
    _end_with_parent()
    return place, function(job)


@cache
def _end_with_parent() -> None:
    """Watch the parent from now on: loky's workers outlive a parent that is killed, and train on for nobody."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
