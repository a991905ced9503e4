"""numba's compiler, which Ctrl-C ends cleanly, and an option that speeds small kernels up."""

import signal
import threading
from typing import Any

from numba import njit
from numba.core import event
from numba.core.cpu import CPUTargetOptions

__all__ = ["UNCOUNTED", "njit"]

# For kernels that make no array, return none and call nothing that does. Others count references to arrays, with atomic
# operations, wherever one is passed, sliced or taken from a tuple: up to half the time of a small loop. The option is
# private to numba, and what such a kernel calls is compiled with it, too, if it was not compiled before.
UNCOUNTED: dict[str, bool] = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}


class _HoldInterrupts(event.Listener):  # type: ignore[misc]  # numba has no types
    """Hold Ctrl-C back while code is generated, a second or so, and raise it then.

    LLVM calls back into Python meanwhile, where an exception is printed and forgotten: the compiler would go on without
    the code that it was to receive, and fail.
    """

    def __init__(self) -> None:
        self._depth, self._came = 0, False
        self._before: Any = None

    def on_start(self, event: Any) -> None:
        if self._is_meant(event):
            self._depth += 1
            if self._depth == 1:
                self._came, self._before = False, signal.signal(signal.SIGINT, self._note)

    def on_end(self, event: Any) -> None:
        if self._is_meant(event):
            self._depth -= 1
            if self._depth == 0:
                signal.signal(signal.SIGINT, self._before)
                if self._came:
                    signal.raise_signal(signal.SIGINT)  # whoever handles it

    def _note(self, *_: Any) -> None:
        self._came = True

    @staticmethod
    def _is_meant(event: Any) -> bool:
        # Only the main thread is ever interrupted, and only handlers that were set in Python can be set again.
        return (
            event.data["name"].startswith("native_lowering")
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is not None
        )


event.register("numba:run_pass", _HoldInterrupts())
