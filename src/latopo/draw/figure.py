"""Matplotlib, which is an extra: figures without pyplot, shown in a notebook and written to files."""

import os
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from latopo._files import atomic_path
from latopo.errors import LatopoError

# No dates and no random names inside: the same figure is the same file. Whole fonts, as journals want.
_SETTINGS = {"svg.hashsalt": "latopo", "pdf.fonttype": 42}
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_METADATA: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def new_figure(width: float, height: float) -> Any:
    """A matplotlib ``Figure`` of that many inches, not registered with pyplot: no display, nothing to close."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def current_axes(width: float, height: float) -> Any:
    """Where a picture goes by default: to pyplot's axes if pyplot is in use, else to those of a new figure.

    Pyplot's current axes are taken if they are empty; afterwards the figure is pyplot's current one, so that
    ``plt.title``, ``plt.savefig`` and ``plt.show`` refer to it.
    """
    plt: Any = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return new_figure(width, height).add_subplot()
    if plt.get_fignums() and not plt.gca().has_data():
        return plt.gca()
    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()


def require_matplotlib(caller: str) -> None:
    """Raise a :class:`~latopo.errors.LatopoError` that says what to install if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise LatopoError(f'{caller}: matplotlib is missing; run pip install "latopo[viz]"') from error


def plain(text: str) -> str:
    """``text`` so that matplotlib shows it as it is: no formulas between dollar signs, no hiding by an underscore.

    Example:
        >>> plain("5 $")
        '5 \\\\$'
    """
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


class Shown:
    """Something drawn: a notebook displays its figure, and :meth:`save` writes it."""

    ax: Any

    @property
    def figure(self) -> Any:
        """The matplotlib figure around the axes."""
        return self.ax.figure.figure

    def save(self, path: str | os.PathLike[str], formats: tuple[str, ...] = ()) -> list[Path]:
        """Write the figure; see :func:`~latopo.draw.save_figure`."""
        return save_figure(self.figure, path, formats)

    def _repr_png_(self) -> bytes | None:
        if getattr(self.figure, "number", None) is not None:
            return None  # pyplot's figures show themselves
        image = BytesIO()
        self.figure.savefig(image, format="png", dpi=110)
        return image.getvalue()


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
    kinds = {target.with_name(f"{target.name}.{kind}"): kind for kind in formats} or {target: target.suffix[1:].lower()}
    for file, kind in kinds.items():
        if kind not in _METADATA:
            raise LatopoError(f"save_figure: {file.name!r} must end in .png, .svg or .pdf; or give formats=")
    for file, kind in kinds.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(file) as draft:
                draft.write_bytes(_render(figure, kind))
        except OSError as error:
            raise LatopoError(f"save_figure: cannot write {file} ({error.strerror}); choose another folder") from error
    return list(kinds)


def _render(figure: Any, kind: str) -> bytes:
    """The content of a file, in memory: a full disk is then met by us, not by the writer of a format."""
    from matplotlib import rc_context

    content = BytesIO()
    with rc_context(_SETTINGS):
        figure.savefig(content, format=kind, dpi=200, bbox_inches="tight", metadata=_METADATA[kind])
    if kind == "svg":  # names may hold signs that XML has not
        return _NOT_XML.sub("\ufffd", content.getvalue().decode()).encode()
    return content.getvalue()
