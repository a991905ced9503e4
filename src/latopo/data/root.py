"""Where raw files are read and where ours are written.

Raw files live under the *data root*, which may be read-only; whatever latopo makes of them goes to the *cache root*.
Nothing here needs torch, so that ``latopo datasets`` answers quickly.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latopo._files import atomic_path
from latopo.errors import LatopoError

#: Raised whenever what we write into the cache changes, so that old files are never read as new ones.
CACHE_FORMAT = 1

AnyPath = str | os.PathLike[str]


def cache_root() -> Path:
    """Folder for what latopo writes: ``$LATOPO_CACHE``, else ``$XDG_CACHE_HOME/latopo``, else ``~/.cache/latopo``.

    Example:
        >>> cache_root().is_absolute()
        True
    """
    if chosen := os.environ.get("LATOPO_CACHE"):
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "latopo"


def download_root() -> Path:
    """Folder for raw files when no data root was named, or when the named one is read-only."""
    return cache_root() / "data"


def resolve_data_root(data_root: AnyPath | None = None) -> Path:
    """Folder with the raw files: the argument, else ``$LATOPO_DATA``, else :func:`download_root`.

    Example:
        >>> resolve_data_root("/some/where").name
        'where'
    """
    chosen = data_root or os.environ.get("LATOPO_DATA")
    return Path(chosen).expanduser().absolute() if chosen else download_root()


def raw_folder(raw_files: tuple[str, ...], data_root: AnyPath | None = None) -> Path | None:
    """The folder that holds all of ``raw_files``: the data root, or the one that downloads went to; None if neither."""
    for folder in (resolve_data_root(data_root), download_root()):
        if all((folder / name).is_file() for name in raw_files):
            return folder
    return None


def download_target(data_root: AnyPath | None = None) -> Path:
    """The data root if files can be added to it, else :func:`download_root`."""
    root = resolve_data_root(data_root)
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    return root if existing.is_dir() and os.access(existing, os.W_OK) else download_root()


def cache_file(kind: str, name: str) -> Path:
    """Path of one cached file, which need not exist.

    Example:
        >>> cache_file("statistics", "cora.json").name
        'cora-v1.json'
    """
    stem, dot, suffix = name.rpartition(".")
    return cache_root() / kind / f"{stem}-v{CACHE_FORMAT}{dot}{suffix}"


def make_folder(folder: Path) -> Path:
    """Create ``folder`` with its parents and return it; if it cannot be written to, say how to choose another place."""
    reason = "it is read-only"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = str(error.strerror)
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise LatopoError(f"data: cannot write to {folder} ({reason}); set LATOPO_CACHE to a writable folder")
    return folder


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """:func:`latopo._files.atomic_path` in a folder that is made if need be."""
    make_folder(path.parent)
    with atomic_path(path) as draft:
        yield draft
