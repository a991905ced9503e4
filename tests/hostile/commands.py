"""Command lines in a forked child of a warm process: exit code, output, peak memory, bounded time."""

import io
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from hostile.limits import SIGNALS, start_timers

import latopo.cli
import latopo.report
import latopo.table.fitting

MOST_SECONDS, MOST_MEGABYTES = 120, 1000
PROGRESS = (
    "note: ",
    "column ",
    "numbers are taken ",
    "fitting ",
    "to do: ",
    "Downloading ",
    *(f"{count} of " for count in range(30)),
)


class Outcome(NamedTuple):
    """What a command left: its exit code (negative: the signal that ended it), output, and megabytes beyond ours."""

    code: int
    out: str
    err: str
    megabytes: float

    def check(self, *others: int) -> "Outcome":
        """The promise: success, or one line and exit code 2; never a traceback, and memory within bounds.

        ``others`` are exit codes that are an answer, too.
        """
        text = f"exit code {self.code}\n{self.out}\n{self.err}"
        assert self.code in (0, 2, *others), text
        assert "Traceback" not in self.err + self.out, text
        assert not any(not sign.isprintable() and sign not in "\n\t\r" for sign in self.err + self.out), repr(text)
        assert self.megabytes < MOST_MEGABYTES, f"{self.megabytes:.0f} MB\n{text}"
        if self.code == 2:
            last = self.err.strip().splitlines()
            others = [line for line in last[:-1] if not line.startswith(PROGRESS)]
            assert last[-1].startswith("latopo: "), text
            assert not others, text
        return self


@cache
def warm_up() -> None:
    """Run harmless commands in this process: its children then find modules and kernels loaded, and are quick."""
    quick = ["--epochs", "2", "--device", "cpu", "--splits", "0", "--out"]
    with tempfile.TemporaryDirectory() as place, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        folder = Path(place)
        table = write_table(folder)
        for command in (
            ["fit", table, "--target", "kind", "--epochs", "2", "--out", folder / "fit"],
            ["predict", folder / "fit", table, "--out", folder / "predictions.csv"],
            ["report", folder / "fit"],
            ["train", "karate", *quick, folder / "train"],
            ["report", folder / "train"],
            ["reproduce", "table1", "--datasets", "karate", "--models", "mlp", *quick, folder / "results"],
            ["report", folder / "results"],
        ):
            argv = patch.object(sys, "argv", ["latopo", *map(str, command)])
            with argv, patch.dict(os.environ), patch.object(warnings, "showwarning"), suppress(SystemExit):
                latopo.cli.main()


def run(*arguments: object, seconds: int = MOST_SECONDS, prepare=None) -> Outcome:
    """``latopo ARGUMENTS`` in a child; ``prepare`` is called in it first."""
    warm_up()
    before = _private()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            _be_command([str(argument) for argument in arguments], seconds, prepare)
        _, status, usage = os.wait4(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Outcome(os.waitstatus_to_exitcode(status), *texts, usage.ru_maxrss / 1024 - before)


def _be_command(arguments: list[str], seconds: int, prepare) -> None:
    code = 70
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        start_timers(seconds)
        limit = 40 * 2**30  # far above the promise: a fault is to be measured, not to end the machine
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), "utf-8", line_buffering=True)
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", closefd=False), "utf-8", line_buffering=True)
        sys.argv = ["latopo", *arguments]
        if prepare is not None:
            prepare()
        latopo.cli.main()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 71
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _private() -> float:
    """Megabytes that a forked child has from the start: those of files it gets when it touches them."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


TABLE = "size,colour,weight,kind\n" + "".join(
    f"{row % 7},{('red', 'blue')[row % 2]},{row * 0.37 % 5:.2f},{('a', 'b')[row % 2]}\n" for row in range(24)
)


def write_table(folder: Path, text: str = TABLE, name: str = "table.csv") -> Path:
    """A small table that can be fitted."""
    path = folder / name
    path.write_text(text)
    return path
