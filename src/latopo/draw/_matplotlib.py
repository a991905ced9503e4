"""Matplotlib, which is an extra."""

from typing import Any

from latopo.errors import LatopoError


def new_figure(width: float, height: float) -> Any:
    """A matplotlib ``Figure`` of that many inches, not registered with pyplot: no display, nothing to close."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def require_matplotlib(caller: str) -> None:
    """Raise a :class:`~latopo.errors.LatopoError` that says what to install where matplotlib is missing."""
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
