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

    with pytest.raises(LatopoError, match=r"3 times in a row, often for lack of memory.*fewer --jobs"):
        collect()
    assert 1 not in done
    assert len(done) >= 6  # who worked beside it to the last has had to go with it


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
