"""Many jobs on many processes or machines: results come back to the one process that asked, as they are ready.

loky is joblib's. Dask and ray are spoken to directly, in a few lines each, because their backends for joblib fall
short: dask's waits for ever when a job takes down every worker it is given to, ray's has no result before the last.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import suppress
from functools import cache
from typing import Literal, TypeVar, get_args

from latopo.errors import LatopoError

__all__ = ["Backend", "check_backend", "run_jobs"]

Backend = Literal["loky", "dask", "ray"]
Job = TypeVar("Job")
Result = TypeVar("Result")

# A job that takes its worker down every time must not be tried for ever.
_ATTEMPTS = 3
_THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"]
_alone = threading.Lock()


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    n_jobs: int = 1,
    backend: Backend = "loky",
    cluster: str | None = None,
) -> Iterator[tuple[Job, Result]]:
    """Call ``function`` on every job; yields (job, result) in the order in which they end.

    A worker that dies loses what it had under way (with loky, what all had), which is done again. A job that takes its
    worker down again and again raises when the others are done. An exception in ``function`` ends everything.

    Args:
        function: called in a worker, so workers must be able to import it.
        jobs: its arguments.
        n_jobs: number of processes of loky, with one thread each; 1 stays in this process.
        backend: ``loky`` (processes of this machine), ``dask`` or ``ray`` (as many workers as the cluster has).
        cluster: address of dask's scheduler, such as ``tcp://10.0.0.1:8786``, or of ray's head node; without one, ray
            starts on this machine.

    Example:
        >>> sorted(run_jobs(abs, [-1, 2]))
        [(-1, 1), (2, 2)]
    """
    check_backend(backend, cluster)
    if backend == "dask":
        yield from _with_dask(function, jobs, str(cluster))
    elif backend == "ray":
        yield from _with_ray(function, jobs, cluster)
    elif n_jobs == 1:
        yield from ((job, function(job)) for job in jobs)
    else:
        yield from _with_loky(function, jobs, n_jobs)


def check_backend(backend: str, cluster: str | None) -> None:
    """Raise if a backend is unknown, is not installed, or does not go with the address."""
    if backend not in get_args(Backend):
        raise LatopoError(f"backend: expected one of {', '.join(get_args(Backend))}, got {backend!r}")
    if backend == "dask" and cluster is None:
        raise LatopoError("backend dask needs the address of a scheduler, such as --cluster tcp://10.0.0.1:8786")
    if backend == "loky" and cluster is not None:
        raise LatopoError(f"cluster {cluster}: loky works on this machine alone; add --backend dask or --backend ray")
    try:
        if backend == "dask":
            import distributed  # noqa: F401
        elif backend == "ray":
            import ray  # noqa: F401
    except ImportError as error:
        package = "'latopo[cluster]'" if backend == "dask" else "ray"
        raise LatopoError(f"backend {backend} is not installed; run pip install {package}") from error


def _with_loky(function: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int) -> Iterator[tuple[Job, Result]]:
    left, suspects = deque(jobs), list[Job]()
    while left:
        suspects += yield from _until_a_death(function, left, n_jobs)
    # One at a time, after all others: whoever takes its worker down now is to blame.
    deadly = []
    for job in suspects:
        attempts = 1
        while attempts < _ATTEMPTS and (yield from _until_a_death(function, deque([job]), 1)):
            attempts += 1
        if attempts == _ATTEMPTS:
            deadly.append(job)
    if deadly:
        raise _gave_up(deadly)


def _until_a_death(
    function: Callable[[Job], Result], left: deque[Job], n_jobs: int
) -> Generator[tuple[Job, Result], None, list[Job]]:
    """Do the jobs that are left until a worker dies; returns those then under way, which loky ends with it."""
    from joblib.externals.loky import ProcessPoolExecutor

    workers = ProcessPoolExecutor(min(n_jobs, len(left)), env=dict.fromkeys(_THREADS, "1"))
    running: dict[Future[Result], Job] = {}
    lost: list[Job] = []
    try:
        while True:
            with suppress(BrokenExecutor):  # a worker may die between two jobs
                while left and not lost and len(running) < n_jobs:
                    running[workers.submit(_in_loky, function, left[0])] = left[0]
                    left.popleft()
            if not running:
                return lost
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                if isinstance(future.exception(), BrokenExecutor):
                    lost.append(job)
                else:
                    yield job, future.result()
    finally:
        workers.shutdown(kill_workers=True)


def _in_loky(function: Callable[[Job], Result], job: Job) -> Result:
    _end_with_parent()
    return function(job)


@cache
def _end_with_parent() -> None:
    """Watch the parent from now on: loky's workers outlive a parent that is killed, and train on for nobody."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _with_dask(function: Callable[[Job], Result], jobs: Sequence[Job], cluster: str) -> Iterator[tuple[Job, Result]]:
    from distributed import CancelledError, Client, KilledWorker, as_completed

    try:
        client = Client(cluster)
    except (OSError, ValueError) as error:
        raise LatopoError(f"no dask scheduler answers at {cluster}; start one with dask scheduler") from error
    deadly = []
    with client:
        if max(client.ncores().values(), default=1) > 1:
            raise LatopoError("dask's workers must have one thread each; start them with dask worker --nthreads 1")
        futures = {client.submit(_in_dask, function, job, pure=False): job for job in jobs}
        for future in as_completed(list(futures)):
            job = futures.pop(future)
            try:
                result = future.result()
            except KilledWorker:
                deadly.append(job)
                continue
            except CancelledError as error:
                raise LatopoError(f"the dask scheduler at {cluster} is gone; run the command again to go on") from error
            yield job, result
    if deadly:
        raise _gave_up(deadly)


def _in_dask(function: Callable[[Job], Result], job: Job) -> Result:
    # A worker that joined later may have more threads, and trainings share the random numbers of their process.
    with _alone:
        return function(job)


def _with_ray(
    function: Callable[[Job], Result], jobs: Sequence[Job], cluster: str | None
) -> Iterator[tuple[Job, Result]]:
    import ray

    try:
        ray.init(address=cluster, log_to_driver=False)
    except (ConnectionError, ValueError) as error:
        raise LatopoError(f"no ray head node answers at {cluster}; start one with ray start --head") from error
    deadly = []
    try:
        call = ray.remote(num_cpus=1, max_retries=_ATTEMPTS)(_call)
        left = {call.remote(function, job): job for job in jobs}
        while left:
            (ready,), _ = ray.wait(list(left))
            job = left.pop(ready)
            try:
                result = ray.get(ready)
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
                deadly.append(job)
                continue
            yield job, result
    finally:
        ray.shutdown()
    if deadly:
        raise _gave_up(deadly)


def _call(function: Callable[[Job], Result], job: Job) -> Result:
    return function(job)


def _gave_up(jobs: Sequence[object]) -> LatopoError:
    named = "; ".join(map(str, jobs[:3]))
    return LatopoError(
        f"workers died again and again, often for lack of memory, with {named}; run the command again to go on, with "
        "fewer workers per machine"
    )
