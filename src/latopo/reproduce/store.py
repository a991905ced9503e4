"""The append-only store of finished runs: JSON Lines in a folder, one writer at a time.

``records.jsonl`` holds one record per line. What many records share, the full settings of a run and the machine that
trained it, stands once in the file, in a line of its own before its first use: ``{"define": HASH, "content": {…}}``.
A line is written in one call and synced. A process killed in the middle of a write leaves at most a torn last line,
which readers ignore and the next writer cuts off. Of two records with the same key the first wins, so concatenating two
stores merges them.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from latopo._stored import check_form, read_stored
from latopo.errors import LatopoError
from latopo.reproduce.record import Record
from latopo.reproduce.unit import Hashed, Key

__all__ = ["Store"]


class Store:
    """Finished runs in a folder.

    Args:
        folder: made on the first write; a missing folder is an empty store. Reading needs no write permission.
        kind: class of the records.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from latopo.reproduce import Unit
        >>> unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
        >>> record = Record(unit, 0.8, num_train=145, num_test=19, best_epoch=3, seconds=1.5, num_parameters=7)
        >>> with TemporaryDirectory() as folder:
        ...     Store(folder).append(record), Store(folder).append(record)
        ...     unit.key in Store(folder), len(Store(folder))
        (True, False)
        (True, 1)
    """

    def __init__(self, folder: str | os.PathLike[str], kind: Any = Record) -> None:
        """Read what is there."""
        self.kind = kind
        self.folder = Path(folder)
        self.path = self.folder / "records.jsonl"
        self._records: dict[Key, Any] = {}
        self._definitions: dict[str, Hashed] = {}
        self._file: IO[bytes] | None = None
        self._read()

    def __contains__(self, key: Key) -> bool:
        """Whether a unit of this key is finished."""
        return key in self._records

    def __len__(self) -> int:
        """How many units are finished."""
        return len(self._records)

    def __repr__(self) -> str:
        """The call that makes this store."""
        return f"Store({str(self.folder)!r})"

    def records(self) -> list[Any]:
        """All records in the order they were stored, one per key."""
        return list(self._records.values())

    def append(self, record: Any) -> bool:
        """Store a record durably; False, and nothing written, if its key is already there."""
        with self.writing() as file:
            if record.key in self:
                return False
            new = {item.hash: item for item in (record.resolved, record.environment)}
            lines: list[Any] = [{"define": h, "content": new[h]} for h in new if h not in self._definitions]
            lines.append(record.to_json())
            text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines).encode()
            if file.write(text) != len(text):
                raise LatopoError(f"{self.path} could not be written completely; is the disk full?")
            os.fsync(file.fileno())
            self._definitions |= new
            self._records[record.key] = record
        return True

    def merge(self, other: "Store") -> int:
        """Append the other store's records whose key is not here yet; returns how many."""
        with self.writing():
            return sum(self.append(record) for record in other.records())

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """Be the one writer within the block; raises if another process is. The lock ends with the process."""
        if self._file is not None:
            yield self._file
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as self._file:
            try:
                _lock(self._file, self.path)
                self._finish_last_line(self._file, self._read())  # it may have grown since we looked
                yield self._file
            finally:
                self._file = None

    def _finish_last_line(self, file: IO[bytes], tail: bytes) -> None:
        if _is_json(tail):
            file.write(b"\n")
        elif tail:
            file.truncate(self.path.stat().st_size - len(tail))

    def _read(self) -> bytes:
        """Read the file; returns what follows the last line end, which is no line unless it is complete."""
        content = read_stored(self.path) if self.path.exists() else b""
        *lines, tail = content.split(b"\n")
        for number, line in enumerate([*lines, tail] if _is_json(tail) else lines, start=1):
            if line.strip():
                try:
                    self._keep(json.loads(line))
                except (ValueError, RecursionError) as error:
                    remedy = "" if isinstance(error, LatopoError) else "; repair or delete that line"
                    raise LatopoError(f"{self.path}, line {number}: {error}{remedy}") from error
        return tail

    def _keep(self, content: Any) -> None:
        check_form(content, dict)
        if "define" in content:
            check_form(content, {"define": str, "content": dict})
            item = Hashed(content["content"])
            if item.hash != content["define"]:
                raise ValueError(f"the content has the hash {item.hash}, not {content['define']}")
            self._definitions.setdefault(item.hash, item)
        else:
            record = self.kind.from_json(content, self._definitions)
            self._records.setdefault(record.key, record)


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError as error:
        raise LatopoError("Store: file locks need a POSIX system; use Linux, macOS or WSL") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LatopoError(
            f"{path} is being written by another process; wait until it ends, or use another --out folder"
        ) from None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
