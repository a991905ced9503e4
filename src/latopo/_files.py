"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["atomic_path", "write_files"]


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
    except OSError as error:
        # A full disk has no file name, and a draft's name says nothing.
        if error.errno is None or error.filename not in (None, str(draft)):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        draft.unlink(missing_ok=True)


def write_files(folder: str | os.PathLike[str], files: dict[str, bytes]) -> None:
    """Write files that belong together: none is replaced before all are written, and the last of them comes last.

    Safetensors' own file writing is no choice: its files can be read by their owner alone.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> write_files(folder, {"question": b"6 * 9", "answer": b"42"})
        >>> (folder / "answer").read_bytes()
        b'42'
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with ExitStack() as drafts:
        # Backwards, because what is entered first is left, and put in place, last.
        for name, content in reversed(files.items()):
            drafts.enter_context(atomic_path(target / name)).write_bytes(content)
