"""``draw_persistence``: births and deaths as a diagram or as a barcode."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from latopo.draw.figure import Shown, current_axes, require_matplotlib
from latopo.draw.palette import Palette, get_palette
from latopo.errors import LatopoError

__all__ = ["PersistenceDrawing", "draw_persistence"]

_NAMES = ("components", "holes", "voids")
_FAR = 1.06  # where ∞ is drawn; filtration values end at 1
_TICKS = {0.0: "0.0", 0.2: "0.2", 0.4: "0.4", 0.6: "0.6", 0.8: "0.8", 1.0: "1.0", _FAR: "∞"}


@dataclass(frozen=True, eq=False)
class PersistenceDrawing(Shown):
    """What :func:`draw_persistence` drew."""

    ax: Any  #: the matplotlib axes
    classes: dict[int, Any]  #: {dimension: the collection of its marks}, of the dimensions that occur


def draw_persistence(
    persistence: Any,
    kind: str = "diagram",
    ax: Any = None,
    *,
    palette: str | Palette = "paper",
    max_bars: int = 200,
    title: str | None = None,
) -> PersistenceDrawing:
    """Draw a persistence diagram, or a barcode, in ``ax`` or in pyplot's current axes if those are empty.

    Args:
        persistence: of :meth:`CellComplex.persistence`.
        kind: ``"diagram"``, a point per class, birth to the right and death upwards: the further from the diagonal, the
            longer it lives; or ``"barcode"``, a line per class from birth to death. What never dies goes to ∞.
        ax: matplotlib axes; by default a figure of pyplot's, so that ``plt.savefig`` saves it.
        palette: ``"paper"``, ``"colorblind"`` or a :class:`~latopo.draw.Palette`.
        max_bars: of a barcode's dimensions the longest-lived classes are drawn, up to this many each, and the legend
            says how many there are.
        title: above the drawing.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> from latopo import CellComplex
        >>> square = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]], edge_prob=[1.0, 1.0, 0.75, 0.5])
        >>> drawing = draw_persistence(square.persistence(), "barcode")
        >>> [text.get_text() for text in drawing.ax.get_legend().get_texts()]
        ['components (2)', 'holes (1)']
        >>> plt.close()
    """
    require_matplotlib("draw_persistence")
    kinds: dict[str, Callable[..., dict[int, Any]]] = {"diagram": _diagram, "barcode": _barcode}
    if kind not in kinds:
        raise LatopoError(f"draw_persistence: kind must be diagram or barcode, got {kind!r}")
    colors = get_palette(palette, "draw_persistence")
    ax = current_axes(6.0, 5.0) if ax is None else ax
    pairs = [pair.detach().cpu().double().numpy() for pair in persistence.pairs]
    style = [colors.class_color(0), colors.edge, colors.polygon_color(3)]
    shown = [pair[:max_bars] for pair in pairs] if kind == "barcode" else pairs
    classes = kinds[kind](ax, shown, style)
    if classes:
        cut = {rank: f"longest {max_bars:,} of " for rank in classes if len(shown[rank]) < len(pairs[rank])}
        labels = [f"{_NAMES[rank]} ({cut.get(rank, '')}{len(pairs[rank]):,})" for rank in classes]
        corner = "upper left" if kind == "barcode" else "lower right"  # where no class can be, or few are
        ax.legend(list(classes.values()), labels, loc=corner, frameon=False)
    if title is not None:
        ax.set_title(title)
    return PersistenceDrawing(ax, classes)


def _diagram(ax: Any, pairs: list[Any], style: list[Any]) -> dict[int, Any]:
    ax.axline((0, 0), slope=1, color="0.7", linewidth=1, zorder=0)
    ax.axhline(_FAR, color="0.7", linewidth=1, linestyle="dashed", zorder=0)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.1), xlabel="birth, 1 − p", ylabel="death, 1 − p")
    ax.set_yticks(list(_TICKS), list(_TICKS.values()))
    return {
        rank: ax.scatter(pair[:, 0], _drawn(pair[:, 1]), s=18, color=style[rank], alpha=0.7, linewidth=0, zorder=3)
        for rank, pair in enumerate(pairs)
        if len(pair)
    }


def _barcode(ax: Any, pairs: list[Any], style: list[Any]) -> dict[int, Any]:
    classes, height = {}, 0
    for rank, pair in enumerate(pairs):
        if len(pair):
            # By birth, as barcodes are read; the pairs come longest-lived first.
            birth, death = pair[np.lexsort([_drawn(pair[:, 1]), pair[:, 0]])].T
            levels = height + np.arange(len(pair))
            classes[rank] = ax.hlines(levels, birth, _drawn(death), color=style[rank], linewidth=1.5)
            height += len(pair) + 1
    ax.axvline(_FAR, color="0.7", linewidth=1, linestyle="dashed", zorder=0)
    ax.set(xlim=(-0.03, 1.1), ylim=(-1, max(height, 1)), xlabel="1 − p")
    ax.set_xticks(list(_TICKS), list(_TICKS.values()))
    ax.set_yticks([])
    return classes


def _drawn(deaths: Any) -> Any:
    return np.where(deaths == inf, _FAR, deaths)
