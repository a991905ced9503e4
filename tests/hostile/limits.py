"""Bounds that a case must keep: seconds by an alarm, memory by the address space of a child process."""

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer; a kernel that never comes back to Python would hang here."""

    def ring(*_):
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def in_child(function: Callable[[], object], *, seconds: int = 60, gigabytes: float = 1.0) -> int:
    """Run a function in a forked child with so much *more* memory than now; returns its exit code.

    0: it returned; 1: it raised, and its traceback is on standard error; negative: a signal ended it (time is over, or
    it was killed).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(seconds)  # its default action ends the child, whatever a kernel is doing
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            limit = _address_space() + int(gigabytes * 2**30)
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            function()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
