"""Figures to files."""

import os
from pathlib import Path
from typing import Any

from latopo.data.root import written_atomically
from latopo.errors import LatopoError

FORMATS = ("png", "svg", "pdf")

# No dates and no random names inside: the same figure is the same file. Fonts whole, as journals want them.
_SETTINGS = {"svg.hashsalt": "latopo", "pdf.fonttype": 42}
_METADATA: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Any, path: str | os.PathLike[str], formats: tuple[str, ...] = ()) -> list[Path]:
    """Write a matplotlib figure as PNG, SVG or PDF, each file whole or not at all; returns the paths.

    The ending of ``path`` is the format; with ``formats`` the endings are added to ``path``: ``("png", "svg", "pdf")``.

    Example:
        >>> import tempfile
        >>> from matplotlib.figure import Figure
        >>> [path.name for path in save_figure(Figure(), tempfile.mkdtemp() + "/texas", ("png", "pdf"))]
        ['texas.png', 'texas.pdf']
    """
    target = Path(path)
    targets = [target.with_name(f"{target.name}.{ending}") for ending in formats] or [target]
    for file in targets:
        if _format(file) not in FORMATS:
            raise LatopoError(f"save_figure: {file.name!r} must end in .png, .svg or .pdf; or give formats=")
    for file in targets:
        _write(figure, file)
    return targets


def _format(file: Path) -> str:
    return file.suffix.removeprefix(".").lower()


def _write(figure: Any, file: Path) -> None:
    from matplotlib import rc_context

    kind = _format(file)
    try:
        with written_atomically(file) as draft, rc_context(_SETTINGS):
            figure.savefig(draft, format=kind, dpi=200, bbox_inches="tight", metadata=_METADATA[kind])
    except LatopoError as error:
        raise LatopoError(f"save_figure: cannot write to {file.parent}; choose another folder") from error
