"""Where latopo keeps what it makes of raw files. Nothing here needs torch: ``latopo datasets`` answers quickly."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latopo._files import atomic_path
from latopo.errors import LatopoError

#: Raised whenever the content of cached files changes, so that old ones are never mistaken for new ones.
CACHE_FORMAT = 1


def cache_root() -> Path:
    """Folder for what latopo writes: ``$LATOPO_CACHE``, else ``$XDG_CACHE_HOME/latopo``, else ``~/.cache/latopo``."""
    if chosen := os.environ.get("LATOPO_CACHE"):
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "latopo"


def cache_file(kind: str, name: str) -> Path:
    """Path of a cached file, which need not exist."""
    stem, dot, suffix = name.rpartition(".")
    return cache_root() / kind / f"{stem}-v{CACHE_FORMAT}{dot}{suffix}"


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """:func:`latopo._files.atomic_path` in a folder that is created if need be."""
    reason = "it is read-only"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror)
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise LatopoError(f"data: cannot write to {path.parent} ({reason}); set LATOPO_CACHE to a writable folder")
    with atomic_path(path) as draft:
        yield draft
