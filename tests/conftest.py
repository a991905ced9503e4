import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

# A shell starts background jobs with Ctrl-C switched off, and commands that the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

StartDask = Callable[..., tuple[str, list[subprocess.Popen[bytes]]]]


@pytest.fixture
def start_dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartDask]:
    """Start a real scheduler and workers on this machine; gives its address and the workers' processes."""
    pytest.importorskip("distributed")
    folder, processes = tmp_path_factory.mktemp("dask"), []

    def run(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        # The workers find this library where the test found it.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
        log = stack.enter_context((folder / f"{len(processes)}.log").open("wb"))
        processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder))
        return processes[-1]

    def start(
        workers: int = 2, threads: int = 1, allowed_failures: int = 3
    ) -> tuple[str, list[subprocess.Popen[bytes]]]:
        contact = folder / "scheduler.json"
        limit = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        run("scheduler", "--port", "0", "--scheduler-file", str(contact), **limit)
        address = _wait_for_address(contact)
        options = ("--nthreads", str(threads), "--no-nanny", "--death-timeout", "60")
        return address, [run("worker", address, *options) for _ in range(workers)]

    with ExitStack() as stack:
        yield start
        for process in processes:
            process.kill()
            process.wait(timeout=30)


def _wait_for_address(contact: Path) -> str:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            return str(json.loads(contact.read_text())["address"])
        except (FileNotFoundError, ValueError):  # not there, or half written
            time.sleep(0.05)
    raise TimeoutError("dask's scheduler did not start")


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip a test that would fetch a data set: the tests need nothing from outside."""

    def skip(url: str, **_: object) -> None:
        pytest.skip(f"the raw files are not under the data root, and tests fetch nothing ({url}); set LATOPO_DATA")

    monkeypatch.setattr("latopo.data.raw_files.urlopen", skip)
