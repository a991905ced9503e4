"""The bound on time that a case must keep."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGPROF, signal.SIGALRM)


def start_timers(seconds: float) -> None:
    """Send this process SIGPROF after so many seconds of its own work, whatever else the machine does.

    If it waits for ever, SIGALRM comes after twenty times as many seconds by the clock. 0 stops both.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer; a kernel that never comes back to Python would hang here."""

    def ring(*_):
        raise TimeoutError(f"took more than {seconds} s")

    before = {number: signal.signal(number, ring) for number in SIGNALS}
    start_timers(seconds)
    try:
        yield
    finally:
        start_timers(0)
        for number, handler in before.items():
            signal.signal(number, handler)
