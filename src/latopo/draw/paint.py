"""One complex in matplotlib axes: the cells as collections, and the entries of a legend."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from torch import Tensor

from latopo.draw._kernels import FloatArray, IntArray
from latopo.draw.cells import CellGroup, cell_groups, edge_opacity, opacity, overlap_opacity
from latopo.draw.drawable import Drawable
from latopo.draw.figure import Shown, plain, require_matplotlib
from latopo.draw.labels import ClassNames, NodeLook, node_look
from latopo.draw.layout import layout
from latopo.draw.palette import Color, Palette, get_palette, polygon_name
from latopo.draw.sample import sample_neighborhoods, sample_note, take_nodes
from latopo.errors import LatopoError

# More cells than this become an image inside SVG and PDF: viewers choke on more outlines.
_MOST_OUTLINES = 20_000


@dataclass(frozen=True, eq=False)
class Drawing(Shown):
    """What :func:`~latopo.draw.draw` drew."""

    ax: Any  #: the matplotlib axes
    nodes: Any  #: the ``PathCollection`` of the nodes
    edges: Any  #: the ``LineCollection`` of the edges
    polygons: dict[int, Any]  #: {length: ``PolyCollection``}, of the lengths that occur
    legend: Any  #: the ``Legend``, or None
    pos: FloatArray  #: positions of the drawn nodes, [n, 2]
    node_ids: IntArray  #: their numbers in the complex, [n]: all, unless the complex was sampled

    def circle(self, nodes: Any) -> None:
        """Draw a ring around some nodes, by their numbers in the complex; those that are not drawn are left out."""
        chosen = self.pos[np.isin(self.node_ids, np.asarray(nodes))]
        size = 3 * float(self.nodes.get_sizes()[0]) + 30
        self.ax.scatter(*chosen.T, s=size, facecolors="none", edgecolors="black", linewidths=1.3, zorder=4)


@dataclass(frozen=True)
class View:
    """What all drawings of complexes on the same nodes share: which nodes, where, and how they look."""

    palette: Palette
    look: NodeLook
    node_ids: IntArray
    position: FloatArray
    note: str | None

    @classmethod
    def of(
        cls,
        caller: str,
        cx: Drawable,
        y: Any,
        pos: Any,
        palette: str | Palette,
        class_names: ClassNames | None,
        unlabelled: int | None,
        seed: int,
        max_nodes: int,
    ) -> "View":
        """The view of a complex, with its layout unless ``pos`` is given; of a large complex, the view of a sample."""
        require_matplotlib(caller)
        colors = get_palette(palette, caller)
        look = node_look(cx.num_nodes, y, colors, class_names, unlabelled)
        given = _check_positions(caller, pos, cx.num_nodes)
        node_ids = sample_neighborhoods(cx, max_nodes, seed)
        position = layout(take_nodes(cx, node_ids), seed) if given is None else given[node_ids]
        note = None if len(node_ids) == cx.num_nodes else sample_note(len(node_ids), cx.num_nodes)
        return cls(colors, look, node_ids, position, note)

    def paint(
        self,
        ax: Any,
        cx: Drawable,
        max_length: int | None = None,
        node_size: float | None = None,
        edge_width: float | None = None,
    ) -> Drawing:
        """Polygons, edges and nodes in ``ax``, without a legend."""
        groups = cell_groups(take_nodes(cx, self.node_ids), max_length)
        drawn_edges = groups.pop(2)
        _frame(ax, self.position)
        polygons = _paint_polygons(ax, groups, self.position, self.palette)
        edges = _paint_edges(ax, drawn_edges, self.position, self.palette, edge_width)
        nodes = _paint_nodes(ax, self.position, self.look.take(self.node_ids), node_size)
        return Drawing(ax, nodes, edges, polygons, None, self.position, self.node_ids)

    def legend_entries(
        self, lengths: Iterable[int], counts: Mapping[str, int] = MappingProxyType({})
    ) -> dict[str, list[Any]]:
        """Keyword arguments of a legend: classes, edges, polygons of these lengths; ``counts`` go in brackets."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        def node(color: Color, mark: str) -> Any:
            return Line2D([], [], linestyle="none", marker=mark, markersize=7, markeredgewidth=0, color=color)

        entries = [(name, node(color, mark)) for name, color, mark in self.look.legend]
        entries.append(("edges", Line2D([], [], color=self.palette.edge, linewidth=2)))
        for length in sorted(lengths):
            entries.append((polygon_name(length), Patch(facecolor=self.palette.polygon_color(length), alpha=0.75)))
        labels = [f"{name} ({counts[name]:,})" if name in counts else name for name, _ in entries]
        return {"handles": [handle for _, handle in entries], "labels": [plain(label) for label in labels]}


def _check_positions(caller: str, pos: Any, num_nodes: int) -> FloatArray | None:
    if pos is None:
        return None
    position = np.asarray(pos.detach().cpu() if isinstance(pos, Tensor) else pos, dtype=np.float64)
    if position.shape != (num_nodes, 2) or not np.isfinite(position).all():
        raise LatopoError(
            f"{caller}: pos has shape {list(position.shape)}, expected finite numbers [{num_nodes}, 2], "
            "such as latopo.draw.layout(complex) gives"
        )
    return position


def _paint_polygons(ax: Any, groups: Mapping[int, CellGroup], position: FloatArray, palette: Palette) -> dict[int, Any]:
    """Fill the polygons, the longest at the bottom."""
    from matplotlib.collections import PolyCollection

    outlines: dict[int, Any] = {length: position[cells.corners] for length, cells in groups.items()}
    ceiling = overlap_opacity(outlines.values())
    painted = {}
    for length, corners in outlines.items():
        painted[length] = PolyCollection(
            list(corners),
            facecolors=_colors(palette.polygon_color(length), groups[length].strength, ceiling),
            linewidths=0,
            zorder=1 - length / 1000,
            rasterized=len(corners) > _MOST_OUTLINES,
        )
        ax.add_collection(painted[length], autolim=False)
    return painted


def _paint_edges(ax: Any, cells: CellGroup, position: FloatArray, palette: Palette, width: float | None) -> Any:
    from matplotlib.collections import LineCollection

    count = max(len(cells.corners), 1)
    edges = LineCollection(
        list(position[cells.corners]),
        colors=_colors(palette.edge, cells.strength, edge_opacity(count)),
        linewidths=_side(ax) * min(max(3 / math.sqrt(count), 0.05), 0.16) if width is None else width,
        zorder=2,
        rasterized=count > _MOST_OUTLINES,
    )
    ax.add_collection(edges, autolim=False)
    return edges


def _paint_nodes(ax: Any, position: FloatArray, look: NodeLook, size: float | None) -> Any:
    """The nodes, with a rim in the background's colour."""
    from matplotlib.markers import MarkerStyle

    if size is None:
        size = min(max(170 * _side(ax) ** 2 / max(len(position), 1), 4), 60)
    rim = 0.7 if size > 12 else 0.3
    nodes = ax.scatter(*position.T, s=size, c=look.color, edgecolors=[ax.get_facecolor()], linewidths=rim, zorder=3)
    styles = {mark: MarkerStyle(mark) for mark in set(look.mark)}
    paths = {mark: style.get_path().transformed(style.get_transform()) for mark, style in styles.items()}
    nodes.set_paths([paths[mark] for mark in look.mark])
    return nodes


def _frame(ax: Any, position: FloatArray) -> None:
    """Equal scales, no axes, and limits that depend on the positions alone."""
    low, high = (position.min(axis=0), position.max(axis=0)) if len(position) else (np.zeros(2), np.zeros(2))
    margin = 0.04 * max(float((high - low).max()), 1e-9)
    ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin), aspect="equal")
    ax.set_axis_off()


def _colors(color: Color, strength: FloatArray, ceiling: float) -> FloatArray:
    """One colour with the opacity of each strength, [n, 4]."""
    return np.column_stack([np.tile(color, (len(strength), 1)), opacity(strength, ceiling)])


def _side(ax: Any) -> float:
    """Inches of the axes' shorter side."""
    box = ax.get_position()
    width, height = ax.figure.bbox.size / ax.figure.dpi
    return float(min(box.width * width, box.height * height))
