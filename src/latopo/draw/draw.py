"""``draw``: one complex in a matplotlib figure."""

from dataclasses import replace
from typing import Any

from latopo.draw.drawable import Drawable
from latopo.draw.figure import current_axes, plain
from latopo.draw.labels import ClassNames
from latopo.draw.paint import Drawing, View
from latopo.draw.palette import Palette, polygon_name

__all__ = ["draw"]


def draw(
    complex: Drawable,
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
    """Draw a complex: nodes by class, edges, filled polygons by length, the more probable, the more opaque.

    Without ``ax`` the drawing goes to pyplot's current axes if pyplot is in use, so that ``plt.savefig`` saves it, and
    to a new figure otherwise, which a notebook displays and :meth:`Drawing.save` writes. Opacity is relative: the most
    probable edge and the most probable polygon are the strongest, and the more polygons lie on each other, the fainter
    they all are.

    Args:
        complex: what to draw.
        y: labels of the nodes [N]: classes (integers, strings) or a quantity (floats).
        pos: positions [N, 2]; by default :func:`~latopo.draw.layout`.
        ax: matplotlib axes to draw into.
        palette: ``"paper"``, ``"colorblind"`` or a :class:`~latopo.draw.Palette`.
        class_names: names of labels 0, 1, …, or a dictionary by label.
        unlabelled: label of nodes that have none; drawn grey.
        max_length: draw no polygons with more sides.
        node_size: area of a node in square points; by default it suits the number of nodes and the axes.
        edge_width: in points; by default likewise.
        legend: whether to draw one.
        title: above the drawing.
        seed: of layout and sample.
        max_nodes: a larger complex is drawn in part (:func:`~latopo.draw.sample_neighborhoods`), and the figure says
            so.

    Example:
        >>> from latopo import CellComplex
        >>> import torch
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> drawing = draw(triangle, y=[0, 0, 1], class_names=["cat", "dog"])
        >>> [text.get_text() for text in drawing.legend.get_texts()]
        ['cat', 'dog', 'edges (3)', 'triangles (1)']
    """
    view = View.of("draw", complex, y, pos, palette, class_names, unlabelled, seed, max_nodes)
    if ax is None:
        ax = current_axes(8.2 if legend else 6.5, 6.5)
    drawing = view.paint(ax, complex, max_length, node_size, edge_width)
    if title is not None:
        ax.set_title(plain(title))
    if view.note is not None:
        ax.text(0.5, -0.01, view.note, transform=ax.transAxes, ha="center", va="top", fontsize="small", style="italic")
    if not legend:
        return drawing
    counts = {polygon_name(length): len(drawn.get_paths()) for length, drawn in drawing.polygons.items()}
    entries = view.legend_entries(drawing.polygons, counts | {"edges": len(drawing.edges.get_paths())})
    return replace(drawing, legend=ax.legend(**entries, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False))
