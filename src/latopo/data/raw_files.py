"""Raw files: where they are, how they get there, and whether they are the right ones.

Every file is checked before it is parsed. Planetoid's are pickles, and reading a wrong one would run whatever it holds;
the others are checked too, because a truncated one can parse without an error and give other numbers.

pooch was tried here: it saves no lines, since errors need our words either way, and only the owner can read its files.
"""

import hashlib
import os
import sys
from functools import cache
from http.client import HTTPException
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen
from zipfile import BadZipFile, ZipFile

from latopo.data.cache import cache_root, written_atomically
from latopo.errors import LatopoError

AnyPath = str | os.PathLike[str]


class RawFile(NamedTuple):
    """What is known of a raw file: its content and where to get it."""

    sha256: str
    url: str


@cache
def registry() -> dict[str, RawFile]:
    """Every raw file by its path under the data root; a line of ``raw_files.txt`` is path, SHA-256 and address.

    ``….zip#name`` is a file in an archive.
    """
    lines = (files("latopo.data") / "raw_files.txt").read_text(encoding="utf-8").splitlines()
    return {path: RawFile(sha256, url) for path, sha256, url in map(str.split, lines)}


def paths_under(path: str) -> tuple[str, ...]:
    """The raw files in a folder under the data root, or the one file of that path."""
    return tuple(known for known in registry() if known == path or known.startswith(f"{path}/"))


def download_root() -> Path:
    """Folder for raw files if no data root was named, or the named one is read-only."""
    return cache_root() / "data"


def resolve_data_root(data_root: AnyPath | None = None) -> Path:
    """Folder with the raw files: the argument, else ``$LATOPO_DATA``, else :func:`download_root`."""
    chosen = data_root or os.environ.get("LATOPO_DATA")
    return Path(chosen).expanduser().absolute() if chosen else download_root()


def find_folder(paths: tuple[str, ...], data_root: AnyPath | None = None) -> Path | None:
    """The folder that holds all of ``paths``: the data root, or the one downloads went to; None if neither does."""
    for folder in (resolve_data_root(data_root), download_root()):
        if all((folder / path).is_file() for path in paths):
            return folder
    return None


def require_files(paths: tuple[str, ...], data_root: AnyPath | None = None) -> Path:
    """The folder that holds all of ``paths``, each verified; what is missing is downloaded."""
    folder = find_folder(paths, data_root) or _download_target(data_root)
    missing = [path for path in paths if not (folder / path).is_file()]
    for number, path in enumerate(missing, start=1):
        _download(registry()[path], folder / path, len(missing) - number)
    for path in paths:
        with open(folder / path, "rb") as stream:
            _verify(folder / path, hashlib.file_digest(stream, "sha256").hexdigest(), registry()[path].sha256)
    return folder


def _download_target(data_root: AnyPath | None) -> Path:
    """The data root if files can be added to it, else :func:`download_root`."""
    root = resolve_data_root(data_root)
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    return root if existing.is_dir() and os.access(existing, os.W_OK) else download_root()


def _download(known: RawFile, target: Path, more: int) -> None:
    """Fetch one file; it appears under its name only if it is complete and the right one."""
    print(f"Downloading {known.url}", file=sys.stderr)
    try:
        with urlopen(known.url, timeout=60) as answer:
            content = _member(answer.read(), known.url)
    except (OSError, HTTPException, BadZipFile, KeyError) as error:
        rest = f" (and {more} more beside it)" if more else ""
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise LatopoError(
            f"load: {target}{rest} is missing, and the download from {known.url} failed ({reason}); put the raw files "
            "there, or name the folder that has them with --data-root or LATOPO_DATA"
        ) from error
    _verify(known.url, hashlib.sha256(content).hexdigest(), known.sha256)
    with written_atomically(target) as draft:
        draft.write_bytes(content)


def _member(content: bytes, url: str) -> bytes:
    """The file that an address means: of ``….zip#name`` the one of that name in the archive."""
    _, sign, name = url.partition("#")
    if not sign:
        return content
    with ZipFile(BytesIO(content)) as archive:
        return archive.read(name)


def _verify(what: AnyPath, found: str, expected: str) -> None:
    if found != expected:
        raise LatopoError(
            f"load: {what} is damaged or another version (expected sha256 {expected}, found {found}); "
            "nothing was read from it: replace the file, or delete it to have it downloaded again"
        )
