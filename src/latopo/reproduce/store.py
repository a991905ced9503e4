"""The append-only store of finished runs: JSON Lines in a folder, safe under kills and parallel workers.

``records.jsonl`` holds one record per line. Appending takes an exclusive lock on that file, writes the line in one call
and syncs it. A process killed in the middle of a write leaves at most a torn last line, which readers ignore and the
next append removes. Of two records with the same key the first wins, so concatenating two stores merges them.

A worker claims a unit by holding the lock of ``claims/<key>.lock``. The operating system drops the lock of a dead
process, however it died, so there are no stale claims to recover and no process numbers to compare.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from latopo.errors import LatopoError
from latopo.reproduce.record import Record

__all__ = ["Store"]


def _lock(handle: int, wait: bool) -> bool:
    """Take the exclusive lock of an open file; False if another holds it and ``wait`` is false."""
    try:
        import fcntl
    except ImportError as error:
        raise LatopoError("Store: file locks need a POSIX system; use Linux, macOS or WSL") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed in a record")


def _parse(line: bytes) -> Record:
    content = json.loads(line, parse_constant=_refuse_constant)
    if not isinstance(content, dict):
        raise ValueError(f"expected an object, got {type(content).__name__}")
    return Record.from_json(content)


def _is_torn(line: bytes) -> bool:
    """Whether a line without its end was cut off within (a complete one may lack only the line end)."""
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


class Store:
    """Finished runs in a folder.

    Args:
        folder: made on the first write; a missing folder is an empty store. Reading needs no write permission.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from latopo.reproduce.record import Unit
        >>> unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
        >>> record = Record(unit, 0.8, num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
        >>> with TemporaryDirectory() as folder:
        ...     Store(folder).append(record), Store(folder).append(record)
        ...     unit.key in Store(folder), len(Store(folder))
        (True, False)
        (True, 1)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Remember the folder; nothing is read or made yet."""
        self.folder = Path(folder)
        self.path = self.folder / "records.jsonl"
        self._records: dict[str, Record] = {}
        self._offset = 0
        self._line = 0

    def __contains__(self, key: str) -> bool:
        """Whether a unit of this key is finished, by any worker up to now."""
        if key not in self._records:
            self._refresh()
        return key in self._records

    def __len__(self) -> int:
        """How many units are finished."""
        self._refresh()
        return len(self._records)

    def __repr__(self) -> str:
        """The call that makes this store."""
        return f"Store({str(self.folder)!r})"

    def records(self) -> list[Record]:
        """All records in the order they were stored, one per key."""
        self._refresh()
        return list(self._records.values())

    def append(self, record: Record) -> bool:
        """Store a record durably; False, and nothing written, if its key is already there."""
        line = json.dumps(record.to_json(), allow_nan=False).encode("ascii") + b"\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(handle, wait=True)
            self._heal(handle)
            if record.key in self:
                return False
            if os.write(handle, line) != len(line):
                raise LatopoError(f"Store: {self.path} could not be written completely; is the disk full?")
            os.fsync(handle)
        finally:
            os.close(handle)
        return True

    def merge(self, other: "Store") -> int:
        """Append the other store's records whose key is not here yet; returns how many."""
        return sum(self.append(record) for record in other.records())

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Try to reserve a unit for this worker: yields False if a living worker has it, or if it is finished.

        The claim ends with the block, or with the process.
        """
        handle = None if key in self else self._open_claim(key)
        if handle is None:
            yield False
            return
        try:
            # Another worker may have finished the unit between our last look and the claim.
            yield key not in self
        finally:
            self._claim_path(key).unlink(missing_ok=True)
            os.close(handle)

    def _claim_path(self, key: str) -> Path:
        return self.folder / "claims" / f"{key}.lock"

    def _open_claim(self, key: str) -> int | None:
        path = self._claim_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _lock(handle, wait=False):
                os.close(handle)
                return None
            # The previous owner may have removed the file after we opened it: that lock would guard nothing.
            try:
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    return handle
            except FileNotFoundError:
                pass
            os.close(handle)

    def _refresh(self) -> None:
        """Read what was appended since the last look."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                *complete, torn = file.read().split(b"\n")
        except FileNotFoundError:
            return
        for line in complete:
            self._keep(line, self._line + 1)
            self._line += 1
            self._offset += len(line) + 1
        # Not advanced past: a line without its end is looked at again, it may still be growing.
        if not _is_torn(torn):
            self._keep(torn, self._line + 1)

    def _keep(self, line: bytes, number: int) -> None:
        if not line.strip():
            return
        try:
            record = _parse(line)
        except ValueError as error:
            raise LatopoError(f"Store: {self.path}, line {number}: {error}; repair or delete that line") from error
        self._records.setdefault(record.key, record)

    def _heal(self, handle: int) -> None:
        """Finish or cut off a line that a killed process left without its end; the caller holds the lock."""
        content_end = os.fstat(handle).st_size
        tail = self._tail(handle, content_end)
        if not tail:
            return
        if _is_torn(tail):
            os.ftruncate(handle, content_end - len(tail))
        else:
            os.write(handle, b"\n")

    @staticmethod
    def _tail(handle: int, end: int) -> bytes:
        """The bytes after the last line end."""
        tail = b""
        while end > 0 and b"\n" not in tail:
            start = max(0, end - 4096)
            tail = os.pread(handle, end - start, start) + tail
            end = start
        return tail.rpartition(b"\n")[2]
