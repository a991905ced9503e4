"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; it becomes ``path`` only if the block ends without an error.

    Parallel workers may write the same file: the last one wins, and a reader never sees half a file, also after a crash
    of the machine.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
        >>> with atomic_path(target) as draft:
        ...     _ = draft.write_text("42")
        >>> target.read_text()
        '42'
    """
    target = Path(path)
    # Not tempfile's: its files can be read by their owner alone, and a folder may be shared.
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
