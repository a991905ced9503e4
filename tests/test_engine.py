import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import pytest

from latopo.engine import run_jobs
from latopo.errors import LatopoError

# Workers cannot import this file by its name.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

# A parent with two workers that write their numbers and then take their time.
PARENT = """
import sys
from pathlib import Path
from latopo.engine import run_jobs
from test_engine import note_and_wait
for _ in run_jobs(note_and_wait, [(sys.argv[1], place) for place in range(2)], n_jobs=2):
    pass
"""


def square(number):
    return number * number


def where(number):
    return os.getpid()


def kill_once(job):
    """Take the worker down with its first job; the file remembers."""
    folder, number = job
    mark = Path(folder, "died")
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def kill_always(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number):
    raise ValueError(f"no {number}")


def note_and_wait(job):
    folder, place = job
    Path(folder, f"{place}.pid").write_text(str(os.getpid()))
    time.sleep(600)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_job_has_its_result(n_jobs):
    assert sorted(run_jobs(square, range(7), n_jobs)) == [(number, number * number) for number in range(7)]
    assert list(run_jobs(square, [], n_jobs)) == []


def test_one_job_at_a_time_is_done_here_and_when_it_is_asked_for():
    seen = []
    results = run_jobs(seen.append, [1, 2])
    assert seen == []
    assert next(results) == (1, None)
    assert seen == [1]
    assert [pid for _, pid in run_jobs(where, [0])] == [os.getpid()]
    assert os.getpid() not in [pid for _, pid in run_jobs(where, [0, 1], 2)]


def test_equal_jobs_are_done_each():
    assert list(run_jobs(square, [3, 3, 3], 2)) == [(3, 9)] * 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_reaches_the_caller(n_jobs):
    with pytest.raises(ValueError, match="no 1"):
        list(run_jobs(fail, [1], n_jobs))


def test_a_worker_that_dies_loses_nothing(tmp_path):
    jobs = [(str(tmp_path), number) for number in range(6)]
    assert sorted(result for _, result in run_jobs(kill_once, jobs, 2)) == list(range(6))
    assert (tmp_path / "died").exists()


def test_a_job_that_always_kills_its_worker_is_given_up_after_the_others():
    done = []

    def collect():
        for _, result in run_jobs(kill_always, range(8), 2):
            done.append(result)

    with pytest.raises(
        LatopoError, match=r"died again and again, often for lack of memory, with .*fewer workers per machine"
    ):
        collect()
    assert sorted(done) == [0, *range(2, 8)]


def test_workers_end_with_a_killed_parent(tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], env=environment)
    deadline = time.monotonic() + 60
    try:
        while len(list(tmp_path.glob("*.pid"))) < 2 and parent.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait(timeout=30)
    workers = [int(path.read_text() or "0") for path in tmp_path.glob("*.pid")]
    assert len(workers) == 2
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def test_dask_gives_every_result_and_a_killed_worker_loses_nothing(start_dask):
    address, workers = start_dask(2)
    results = run_jobs(time.sleep, [0.2] * 12, backend="dask", cluster=address)
    first = next(results)
    workers[0].kill()
    assert [first, *results] == [(0.2, None)] * 12


def test_dask_gives_up_a_job_that_kills_its_workers(start_dask):
    address, _ = start_dask(2, allowed_failures=0)
    jobs = [signal.SIGCONT, signal.SIGKILL, signal.SIGCONT, signal.SIGCONT]
    done = []

    def collect():
        for job, _ in run_jobs(signal.raise_signal, jobs, backend="dask", cluster=address):
            done.append(job)

    with pytest.raises(LatopoError, match=r"died again and again.* with .*(9|SIGKILL)"):
        collect()
    assert set(done) == {signal.SIGCONT}  # dask also suspects what waited for that worker, so perhaps not all three


def test_dask_passes_exceptions_on(start_dask):
    address, _ = start_dask(1)
    with pytest.raises(ZeroDivisionError):
        list(run_jobs((1).__truediv__, [0], backend="dask", cluster=address))


def test_dask_workers_with_several_threads_are_refused(start_dask):
    address, _ = start_dask(1, threads=2)
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(1, timeout=120)
    with pytest.raises(LatopoError, match="--nthreads 1"):
        list(run_jobs(abs, [1], backend="dask", cluster=address))


def test_ray_gives_every_result():
    pytest.importorskip("ray")
    assert sorted(run_jobs(abs, [-1, 2, -3], backend="ray")) == [(-3, 3), (-1, 1), (2, 2)]
    jobs = [signal.SIGCONT, signal.SIGKILL, signal.SIGCONT]
    with pytest.raises(LatopoError, match="died again and again"):
        list(run_jobs(signal.raise_signal, jobs, backend="ray"))


@pytest.mark.parametrize(
    ("backend", "cluster", "message"),
    [
        ("threads", None, "expected one of loky, dask, ray, got 'threads'"),
        ("dask", None, "dask needs the address of a scheduler"),
        ("loky", "tcp://127.0.0.1:1", "loky works on this machine alone"),
        ("dask", "tcp://127.0.0.1:1", "no dask scheduler answers at tcp://127.0.0.1:1"),
        ("dask", "nonsense://x", "no dask scheduler answers at nonsense://x"),
    ],
)
def test_a_wrong_backend_or_address(backend, cluster, message):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")  # before its defaults are changed: its import sets the others
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(LatopoError, match=message):
        list(run_jobs(abs, [1], backend=backend, cluster=cluster))


@pytest.mark.parametrize(("backend", "package"), [("dask", r"'latopo\[cluster\]'"), ("ray", "ray")])
def test_a_backend_that_is_not_installed(backend, package, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(LatopoError, match=f"backend {backend} is not installed; run pip install {package}"):
        list(run_jobs(abs, [1], backend=backend, cluster="tcp://127.0.0.1:1"))
