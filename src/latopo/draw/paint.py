"""Cells as matplotlib's collections, and the legend."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from latopo.draw._kernels import BoolArray, FloatArray
from latopo.draw._matplotlib import plain
from latopo.draw.arrays import CellArrays
from latopo.draw.labels import NodeLook
from latopo.draw.palette import Color, Palette, polygon_name

# More cells than this become an image inside SVG and PDF: viewers choke on more outlines.
_MOST_OUTLINES = 20_000
# The weakest cell keeps this share of the strongest one's opacity.
_FAINTEST = 0.2


def paint_polygons(ax: Any, cells: CellArrays, position: FloatArray, palette: Palette) -> dict[int, Any]:
    """Fill the polygons, the longest at the bottom; {length: ``PolyCollection``}."""
    from matplotlib.collections import PolyCollection

    outlines: dict[int, Any] = {length: position[rows] for length, rows in cells.polygons.items()}
    ceiling = overlap_opacity(outlines.values())
    painted = {}
    for length, corners in outlines.items():
        painted[length] = PolyCollection(
            list(corners),
            facecolors=_with_opacity(palette.polygon_color(length), cells.polygon_strength[length], ceiling),
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
        colors=_with_opacity(palette.edge, cells.edge_strength, min(0.85, 3500 / count)),
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


def overlap_opacity(outlines: Iterable[FloatArray]) -> float:
    """Opacity of the strongest polygon: the deeper polygons ([P, k, 2]) lie on each other, the less.

    The depth is the mean number of polygons over a polygon's centre; a pile of that depth is painted to 70 %.

    Example:
        >>> triangle = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
        >>> overlap_opacity([triangle]) > overlap_opacity([np.repeat(triangle, 9, axis=0)])
        True
    """
    shapes = [corners for corners in outlines if len(corners)]
    if not shapes:
        return 0.0
    centers = np.concatenate([corners.mean(axis=1) for corners in shapes])
    # A hundred places and some thousand polygons estimate a mean well enough.
    centers = centers[:: -(-len(centers) // 100)]
    strides = [-(-len(corners) // 4000) for corners in shapes]
    depth = sum(
        stride * _contains(corners[::stride], centers).mean(axis=1).sum()
        for corners, stride in zip(shapes, strides, strict=True)
    )
    return float(min(max(1 - 0.3 ** (1 / max(depth, 1)), 0.012), 0.5))


def _contains(corners: FloatArray, points: FloatArray) -> BoolArray:
    """Whether each polygon [P, k, 2] contains each point [M, 2]; [P, M]. A ray to the right crosses its sides oddly."""
    inside = np.zeros((len(corners), len(points)), dtype=bool)
    x, y = points.T
    for start, end in zip(corners.swapaxes(0, 1), np.roll(corners, -1, axis=1).swapaxes(0, 1), strict=True):
        (x0, y0), (x1, y1) = start.T[:, :, None], end.T[:, :, None]
        # Where y0 = y1 no ray crosses; the 1 only avoids a division by 0.
        rise = np.where(y0 == y1, 1.0, y1 - y0)
        inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / rise)
    return inside


def _with_opacity(color: Color, strength: FloatArray, ceiling: float) -> FloatArray:
    """[n, 4]: one colour, opacity from a fifth of ``ceiling`` (strength 0) to ``ceiling`` (1)."""
    opacity = ceiling * (_FAINTEST + (1 - _FAINTEST) * strength)
    return np.column_stack([np.tile(color, (len(strength), 1)), opacity])


def _side(ax: Any) -> float:
    """Inches of the axes' shorter side."""
    box = ax.get_position()
    width, height = ax.figure.bbox.size / ax.figure.dpi
    return float(min(box.width * width, box.height * height))
