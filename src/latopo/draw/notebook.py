"""A complex as a small HTML drawing, for notebooks: no matplotlib, no script, nothing from outside."""

from html import escape

import numpy as np

from latopo.draw._kernels import FloatArray, IntArray
from latopo.draw.cells import CellGroup, cell_groups, edge_opacity, opacity, overlap_opacity
from latopo.draw.drawable import Drawable
from latopo.draw.layout import layout
from latopo.draw.palette import PALETTES, Color, polygon_name
from latopo.draw.sample import sample_neighborhoods, sample_note, take_nodes

_SIZE = 280
_MOST_NODES = 300
# Of each kind, only the most probable: a notebook stores what it shows.
_MOST_CELLS = 1000
_PALETTE = PALETTES["paper"]


def to_html(complex: Drawable) -> str:
    """Counts and an inline SVG of the complex; a large one is drawn in part, and the text says so.

    Example:
        >>> from latopo import CellComplex
        >>> import torch
        >>> html = to_html(CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])}))
        >>> html.count("<circle"), html.count("<polygon"), html.count("<line"), "triangles" in html
        (3, 1, 3, True)
    """
    node_ids = sample_neighborhoods(complex, _MOST_NODES)
    part = take_nodes(complex, node_ids)
    groups = cell_groups(part)
    notes = [] if len(node_ids) == complex.num_nodes else [sample_note(len(node_ids), complex.num_nodes)]
    if max(len(cells.corners) for cells in groups.values()) > _MOST_CELLS:
        notes.append(f"at most the {_MOST_CELLS:,} most probable edges, and polygons of each length")
    drawing = _svg(groups, layout(part)) if complex.num_nodes else ""
    rows = "".join(_row(name, count, color) for name, count, color in _counts(complex))
    note = f"<div><small>Drawn: {escape('; '.join(notes))}.</small></div>" if notes else ""
    table = f"<div><b>{escape(type(complex).__name__)}</b><table>{rows}</table>{note}</div>"
    return f'<div style="display:flex;gap:1em;align-items:center;flex-wrap:wrap">{drawing}{table}</div>'


def _counts(complex: Drawable) -> list[tuple[str, int, Color | None]]:
    polygons = [(polygon_name(k), len(rows), _PALETTE.polygon_color(k)) for k, rows in complex.polygons.items()]
    return [("nodes", complex.num_nodes, None), ("edges", complex.num_edges, _PALETTE.edge), *polygons]


def _row(name: str, count: int, color: Color | None) -> str:
    swatch = "" if color is None else f'<span style="color:{_css(color)}">■</span> '
    return f'<tr><td style="text-align:left">{swatch}{escape(name)}</td><td>{count:,}</td></tr>'


def _svg(groups: dict[int, CellGroup], position: FloatArray) -> str:
    # Screens count downwards. A margin of 8 keeps whole nodes inside.
    point = np.round((position * [1, -1] + 1) / 2 * (_SIZE - 16) + 8, 1)
    radius = min(max(30 / len(position) ** 0.5, 1.8), 5)
    edges = groups.pop(2)
    ceiling = overlap_opacity(point[cells.corners] for cells in groups.values())
    polygons = [
        _polygon(point[row], length, shade)
        for length, cells in sorted(groups.items(), reverse=True)
        for row, shade in _strongest(cells, ceiling)
    ]
    # With a quarter of a figure's room, lines are as crowded as four times as many in a figure.
    lines = [
        '<line x1="{}" y1="{}" x2="{}" y2="{}" opacity="{:.2f}"/>'.format(*point[row].flatten(), shade)
        for row, shade in _strongest(edges, edge_opacity(4 * len(edges.corners)))
    ]
    circles = [f'<circle cx="{x}" cy="{y}" r="{radius:.1f}"/>' for x, y in point]
    # Grey, not black or white: a notebook may be light or dark.
    return (
        f'<svg role="img" aria-label="drawing of a cell complex" width="{_SIZE}" height="{_SIZE}" '
        f'viewBox="0 0 {_SIZE} {_SIZE}">{"".join(polygons)}<g stroke="{_css(_PALETTE.edge)}">{"".join(lines)}</g>'
        f'<g fill="#808890">{"".join(circles)}</g></svg>'
    )


def _strongest(cells: CellGroup, ceiling: float) -> list[tuple[IntArray, float]]:
    """The corners of the strongest cells, in their order, with opacities."""
    kept = np.sort(np.argsort(-cells.strength, kind="stable")[:_MOST_CELLS])
    return list(zip(cells.corners[kept], opacity(cells.strength[kept], ceiling).tolist(), strict=True))


def _polygon(corners: FloatArray, length: int, shade: float) -> str:
    points = " ".join(f"{x},{y}" for x, y in corners)
    return f'<polygon points="{points}" fill="{_css(_PALETTE.polygon_color(length))}" opacity="{shade:.3f}"/>'


def _css(color: Color) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)
