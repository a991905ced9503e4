"""Faults at every point where a command changes the disk: a kill, a full disk, an I/O error.

Points are counted, not timed: each rename, removal, new folder, sync and write of a file is one.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable
from typing import Any

KINDS = ("kill", "full disk", "I/O error")


class FaultAt:
    """Calling it in a process makes its n-th change of the disk fail; ``n`` = None only counts."""

    def __init__(self, n: int | None, kind: str = "kill", report: str | None = None) -> None:
        self.n, self.kind, self.report, self.count = n, kind, report, 0

    def __call__(self) -> None:
        for name in ("rename", "replace", "unlink", "remove", "mkdir", "rmdir", "fsync"):
            setattr(os, name, self._guarded(getattr(os, name)))
        io.open = builtins.open = self._open
        # os.rename and others are looked up in os by pathlib and shutil, open in io and builtins.

    def _point(self) -> bool:
        if os.getpid() != getattr(self, "pid", os.getpid()):
            return False
        self.count += 1
        if self.report is not None:
            descriptor = os.open(self.report, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, str(self.count).encode())
            os.close(descriptor)
        return self.count == self.n

    def _fail(self) -> None:
        if self.kind == "kill":
            os.kill(os.getpid(), 9)
        code = errno.ENOSPC if self.kind == "full disk" else errno.EIO
        raise OSError(code, os.strerror(code))

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._point():
                self._fail()
            return function(*args, **kwargs)

        return call

    def _open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, int) or not set(mode) & set("wax+"):
            return ORIGINAL_OPEN(file, mode, *args, **kwargs)
        fault = self

        class File(io.FileIO):
            def write(self, content: Any) -> int | None:
                if fault._point():
                    super().write(bytes(content)[: len(content) // 2])  # half of it arrives
                    fault._fail()
                return super().write(content)

        raw = File(file, mode.replace("b", "").replace("t", ""))
        if kwargs.get("buffering", args[0] if args else -1) == 0:
            return raw
        buffered = io.BufferedWriter(raw) if "+" not in mode else io.BufferedRandom(raw)
        if "b" in mode:
            return buffered
        options = {name: kwargs[name] for name in ("encoding", "errors", "newline") if name in kwargs}
        return io.TextIOWrapper(buffered, **{"encoding": "utf-8", **options})


ORIGINAL_OPEN = io.open
