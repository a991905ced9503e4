"""Cells as matplotlib's collections, and the legend."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from latopo.draw._kernels import FloatArray
from latopo.draw._matplotlib import plain
from latopo.draw.arrays import CellArrays
from latopo.draw.labels import NodeLook
from latopo.draw.opacity import edge_opacity, opacity, overlap_opacity
from latopo.draw.palette import Color, Palette, polygon_name

# More cells than this become an image inside SVG and PDF: viewers choke on more outlines.
_MOST_OUTLINES = 20_000


def paint_polygons(ax: Any, cells: CellArrays, position: FloatArray, palette: Palette) -> dict[int, Any]:
    """Fill the polygons, the longest at the bottom; {length: ``PolyCollection``}."""
    from matplotlib.collections import PolyCollection

    outlines: dict[int, Any] = {length: position[rows] for length, rows in cells.polygons.items()}
    ceiling = overlap_opacity(outlines.values())
    painted = {}
    for length, corners in outlines.items():
        painted[length] = PolyCollection(
            list(corners),
            facecolors=_colors(palette.polygon_color(length), cells.polygon_strength[length], ceiling),
            linewidths=0,
            zorder=1 - length / 1000,
            rasterized=len(corners) > _MOST_OUTLINES,
        )
        ax.add_collection(painted[length], autolim=False)
    return painted


def paint_edges(ax: Any, cells: CellArrays, position: FloatArray, palette: Palette, width: float | None) -> Any:
    """Draw the edges as one ``LineCollection``."""
    from matplotlib.collections import LineCollection

    count = max(len(cells.edges), 1)
    edges = LineCollection(
        list(position[cells.edges]),
        colors=_colors(palette.edge, cells.edge_strength, edge_opacity(count)),
        linewidths=_side(ax) * min(max(3 / math.sqrt(count), 0.05), 0.16) if width is None else width,
        zorder=2,
        rasterized=count > _MOST_OUTLINES,
    )
    ax.add_collection(edges, autolim=False)
    return edges


def paint_nodes(ax: Any, position: FloatArray, look: NodeLook, size: float | None) -> Any:
    """Draw the nodes as one ``PathCollection``, with a rim in the background's colour."""
    from matplotlib.markers import MarkerStyle

    if size is None:
        size = min(max(170 * _side(ax) ** 2 / max(len(position), 1), 4), 60)
    rim = 0.7 if size > 12 else 0.3
    nodes = ax.scatter(*position.T, s=size, c=look.color, edgecolors=[ax.get_facecolor()], linewidths=rim, zorder=3)
    shapes = {mark: MarkerStyle(mark) for mark in set(look.mark)}
    paths = {mark: shape.get_path().transformed(shape.get_transform()) for mark, shape in shapes.items()}
    nodes.set_paths([paths[mark] for mark in look.mark])
    return nodes


def frame(ax: Any, position: FloatArray) -> None:
    """Equal scales, no axes, and limits that depend on the positions alone."""
    low, high = (position.min(axis=0), position.max(axis=0)) if len(position) else (np.zeros(2), np.zeros(2))
    margin = 0.04 * max(float((high - low).max()), 1e-9)
    ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin), aspect="equal")
    ax.set_axis_off()


def legend_entries(
    look: NodeLook, palette: Palette, lengths: Iterable[int], counts: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Any]:
    """Keyword arguments ``handles`` and ``labels`` of a legend: classes, edges, polygons; ``counts`` go in brackets."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def mark(color: Color, shape: str) -> Any:
        return Line2D([], [], linestyle="none", marker=shape, markersize=7, markeredgewidth=0, color=color)

    entries = [(name, mark(color, shape)) for name, color, shape in look.legend]
    entries.append(("edges", Line2D([], [], color=palette.edge, linewidth=2)))
    entries += [(polygon_name(k), Patch(facecolor=palette.polygon_color(k), alpha=0.75)) for k in sorted(lengths)]
    labels = [f"{name} ({counts[name]:,})" if name in counts else name for name, _ in entries]
    return {"handles": [handle for _, handle in entries], "labels": [plain(label) for label in labels]}


def _colors(color: Color, strength: FloatArray, ceiling: float) -> FloatArray:
    """One colour with the opacity of each strength, [n, 4]."""
    return np.column_stack([np.tile(color, (len(strength), 1)), opacity(strength, ceiling)])


def _side(ax: Any) -> float:
    """Inches of the axes' shorter side."""
    box = ax.get_position()
    width, height = ax.figure.bbox.size / ax.figure.dpi
    return float(min(box.width * width, box.height * height))
