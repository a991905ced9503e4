"""``draw``: one complex in a matplotlib figure."""

import os
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from latopo.complex import CellComplex
from latopo.draw import paint
from latopo.draw._kernels import FloatArray, IntArray
from latopo.draw._matplotlib import new_figure, plain, require_matplotlib
from latopo.draw.arrays import CellArrays, cell_arrays
from latopo.draw.labels import ClassNames, NodeLook, node_look
from latopo.draw.layout import layout
from latopo.draw.palette import Palette, get_palette, polygon_name
from latopo.draw.sample import sample_neighborhoods, sample_note, take_nodes
from latopo.draw.save import save_figure
from latopo.errors import LatopoError


@dataclass(frozen=True, eq=False)
class Drawing:
    """What :func:`draw` drew.

    Attributes:
        ax: the matplotlib axes.
        nodes: the ``PathCollection`` of the nodes.
        edges: the ``LineCollection`` of the edges.
        polygons: {length: ``PolyCollection``}, of the lengths that occur.
        legend: the ``Legend``, or None.
        pos: positions of the drawn nodes, [n, 2].
        node_ids: their numbers in the complex, [n]: all, unless the complex was sampled.
    """

    ax: Any
    nodes: Any
    edges: Any
    polygons: dict[int, Any]
    legend: Any
    pos: FloatArray
    node_ids: IntArray

    @property
    def figure(self) -> Any:
        """The figure around the axes."""
        return self.ax.figure.figure

    def save(self, path: str | os.PathLike[str], formats: tuple[str, ...] = ()) -> list[Path]:
        """Write the figure; see :func:`~latopo.draw.save_figure`."""
        return save_figure(self.figure, path, formats)

    def _repr_png_(self) -> bytes | None:
        return notebook_png(self.figure)


def draw(
    complex: CellComplex,
    y: Any = None,
    pos: Any = None,
    ax: Any = None,
    *,
    palette: str | Palette = "paper",
    class_names: ClassNames | None = None,
    unlabelled: int | None = None,
    max_length: int | None = None,
    node_size: float | None = None,
    edge_width: float | None = None,
    legend: bool = True,
    title: str | None = None,
    seed: int = 0,
    max_nodes: int = 5000,
) -> Drawing:
    """Draw a complex: nodes by class, edges, filled polygons by length, the more opaque the more probable.

    Nothing is shown and pyplot is not touched: without ``ax`` a new figure is made, which a notebook displays and
    :meth:`Drawing.save` writes. Opacity is relative: the most probable edge and the most probable polygon are the
    strongest, and the deeper polygons lie on each other, the thinner all are painted.

    Args:
        complex: what to draw.
        y: labels of the nodes [N]: classes (integers, strings) or a quantity (floats).
        pos: positions [N, 2]; by default :func:`~latopo.draw.layout`.
        ax: matplotlib axes to draw into.
        palette: ``"paper"``, ``"colorblind"`` or a :class:`~latopo.draw.Palette`.
        class_names: names of labels 0, 1, …, or a dictionary by label.
        unlabelled: label of nodes that have none; drawn grey.
        max_length: draw no polygons with more sides.
        node_size: area of a node in square points; by default what suits the number of nodes and the axes.
        edge_width: in points; likewise.
        legend: whether to draw one.
        title: above the drawing.
        seed: of layout and sample.
        max_nodes: of a larger complex a part is drawn (:func:`~latopo.draw.sample_neighborhoods`), and the figure says
            so.

    Example:
        >>> import torch
        >>> complex = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> drawing = draw(complex, y=[0, 0, 1], class_names=["cat", "dog"])
        >>> [text.get_text() for text in drawing.legend.get_texts()]
        ['cat', 'dog', 'edges (3)', 'triangles (1)']
    """
    require_matplotlib("draw")
    colors = get_palette(palette, "draw")
    look = node_look(complex.num_nodes, y, colors, class_names, unlabelled)
    given = check_positions(pos, complex.num_nodes, "draw")
    node_ids = sample_neighborhoods(complex, max_nodes, seed)
    part = take_nodes(complex, node_ids)
    position = layout(part, seed) if given is None else given[node_ids]
    if ax is None:
        ax = new_figure(8.2 if legend else 6.5, 6.5).add_subplot()
    cells = cell_arrays(part, max_length)
    drawing = draw_cells(ax, cells, position, look.take(node_ids), colors, node_ids, node_size, edge_width)
    if title is not None:
        ax.set_title(plain(title))
    if len(node_ids) < complex.num_nodes:
        note = sample_note(len(node_ids), complex.num_nodes)
        ax.text(0.5, -0.01, note, transform=ax.transAxes, ha="center", va="top", fontsize="small", style="italic")
    if not legend:
        return drawing
    counts = {"edges": len(cells.edges)} | {polygon_name(k): len(rows) for k, rows in cells.polygons.items()}
    entries = paint.legend_entries(look, colors, cells.polygons, counts)
    return replace(drawing, legend=ax.legend(**entries, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False))


def draw_cells(
    ax: Any,
    cells: CellArrays,
    position: FloatArray,
    look: NodeLook,
    palette: Palette,
    node_ids: IntArray,
    node_size: float | None = None,
    edge_width: float | None = None,
) -> Drawing:
    """Polygons, edges and nodes in ``ax``, without a legend."""
    paint.frame(ax, position)
    polygons = paint.paint_polygons(ax, cells, position, palette)
    edges = paint.paint_edges(ax, cells, position, palette, edge_width)
    nodes = paint.paint_nodes(ax, position, look, node_size)
    return Drawing(ax, nodes, edges, polygons, None, position, node_ids)


def check_positions(pos: Any, num_nodes: int, caller: str) -> FloatArray | None:
    """``pos`` as a float64 array [N, 2], or None."""
    if pos is None:
        return None
    position = np.asarray(pos.detach().cpu() if isinstance(pos, Tensor) else pos, dtype=np.float64)
    if position.shape != (num_nodes, 2) or not np.isfinite(position).all():
        raise LatopoError(
            f"{caller}: pos has shape {list(position.shape)}, expected finite numbers [{num_nodes}, 2]; "
            "latopo.draw.layout(complex) gives such"
        )
    return position


def notebook_png(figure: Any) -> bytes | None:
    """The figure as a notebook shows it; None for a figure of pyplot's, which shows itself."""
    if getattr(figure, "number", None) is not None:
        return None
    image = BytesIO()
    figure.savefig(image, format="png", dpi=110)
    return image.getvalue()
