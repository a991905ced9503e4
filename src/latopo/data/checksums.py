"""The SHA-256 sums of all raw files, checked before any of them is parsed.

Planetoid's raw files are pickles: reading a wrong one runs whatever it holds, so only known files reach PyG. The text
and ``npz`` files are checked too, because a truncated one can parse without an error and give other numbers.
"""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from latopo.errors import LatopoError


@cache
def known_checksums() -> dict[str, str]:
    """SHA-256 of every raw file by its path under the data root.

    Example:
        >>> known_checksums()["filtered/chameleon_filtered.npz"][:8]
        'bf46f07e'
    """
    lines = (files("latopo.data") / "checksums.txt").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def verify(folder: Path, raw_files: tuple[str, ...]) -> None:
    """Raise :class:`LatopoError` unless every file under ``folder`` is, byte for byte, the one that latopo knows."""
    for name in raw_files:
        expected = known_checksums()[name]
        with open(folder / name, "rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise LatopoError(
                f"load: {folder / name} is damaged or another version (expected sha256 {expected}, found {found}); "
                "nothing was read from it: replace the file, or delete it to have it downloaded again"
            )
