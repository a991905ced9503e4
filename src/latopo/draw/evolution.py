"""``draw_evolution``: the paper's figure of a complex that changes over the training."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from latopo.complex import CellComplex
from latopo.draw import paint
from latopo.draw._kernels import FloatArray
from latopo.draw._matplotlib import new_figure, plain, require_matplotlib
from latopo.draw.arrays import cell_arrays
from latopo.draw.draw import Drawing, check_positions, draw_cells, notebook_png
from latopo.draw.labels import ClassNames, NodeLook, as_labels, class_codes, is_quantity, node_look
from latopo.draw.layout import layout
from latopo.draw.palette import Palette, get_palette
from latopo.draw.sample import sample_neighborhoods, sample_note, take_nodes
from latopo.draw.save import save_figure
from latopo.errors import LatopoError

_MOST_BINS = 40


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A complex at one moment of the training.

    Attributes:
        complex: the complex.
        epoch: when; None is the input.
        title: instead of "Input" or "Epoch …".
        polygon_share: share of the candidate polygons that were kept, from 0 to 1; the paper's %_p is 100 times that.

    Example:
        >>> Snapshot(CellComplex(2, torch.tensor([[0], [1]])), epoch=40, polygon_share=0.9).caption()
        'Epoch 40, $\\\\%_p = 90$'
    """

    complex: CellComplex
    epoch: int | None = None
    title: str | None = None
    polygon_share: float | None = None

    def caption(self, y: Any = None, unlabelled: int | None = None) -> str:
        """Title, share of polygons and, with classes, homophily, in matplotlib's formulas."""
        moment = "Input" if self.epoch is None else f"Epoch {self.epoch}"
        parts = [plain(moment if self.title is None else self.title)]
        if self.polygon_share is not None:
            parts.append(rf"$\%_p = {_percent(self.polygon_share)}$")
        labels = None if y is None else as_labels(y, self.complex.num_nodes)
        if labels is not None and not is_quantity(labels):
            parts.append(self._homophily(labels, unlabelled))
        return ", ".join(parts)

    def _homophily(self, labels: NDArray[Any], unlabelled: int | None) -> str:
        codes = torch.from_numpy(class_codes(labels, unlabelled)[0]).to(self.complex.device)
        homophily = self.complex.edge_homophily(codes, unlabelled=-1)
        return "no edges" if math.isnan(homophily) else f"$h = {homophily:.2f}$"


@dataclass(frozen=True, eq=False)
class Evolution:
    """What :func:`draw_evolution` drew.

    Attributes:
        figure: the matplotlib figure.
        drawings: one per snapshot.
        histograms: the axes of the degree distributions.
        pos: the common positions of the drawn nodes, [n, 2].
    """

    figure: Any
    drawings: list[Drawing]
    histograms: list[Any]
    pos: FloatArray

    def save(self, path: str | os.PathLike[str], formats: tuple[str, ...] = ()) -> list[Path]:
        """Write the figure; see :func:`~latopo.draw.save_figure`."""
        return save_figure(self.figure, path, formats)

    def _repr_png_(self) -> bytes | None:
        return notebook_png(self.figure)


def draw_evolution(
    snapshots: Sequence[Snapshot],
    y: Any = None,
    *,
    pos: Any = None,
    layout_from: int = -1,
    palette: str | Palette = "paper",
    class_names: ClassNames | None = None,
    unlabelled: int | None = None,
    columns: int = 4,
    seed: int = 0,
    max_nodes: int = 5000,
) -> Evolution:
    """Draw snapshots beside each other, nodes at fixed positions, each over its degree distribution and caption.

    The caption gives the share of candidate polygons kept (%_p) and the edge homophily h, as in the paper's figure of
    Texas. These and the degrees are those of the whole complex, also where only a part is drawn.

    Args:
        snapshots: moments of one training: complexes on the same nodes.
        y: labels of the nodes [N].
        pos: positions [N, 2]; by default the :func:`~latopo.draw.layout` of one snapshot.
        layout_from: which one; the last by default, whose communities then show.
        palette: as in :func:`~latopo.draw.draw`, like ``class_names``, ``unlabelled``, ``seed`` and ``max_nodes``.
        class_names: see there.
        unlabelled: see there.
        columns: snapshots in one row.
        seed: see there.
        max_nodes: see there.

    Example:
        >>> square = torch.tensor([[0, 0, 1, 2], [1, 3, 2, 3]])
        >>> before = Snapshot(CellComplex(4, square))
        >>> after = Snapshot(CellComplex(4, square, {4: torch.tensor([[0, 1, 2, 3]])}), epoch=9, polygon_share=1.0)
        >>> evolution = draw_evolution([before, after], y=[0, 0, 1, 1])
        >>> len(evolution.drawings), sorted(evolution.drawings[1].polygons)
        (2, [4])
    """
    require_matplotlib("draw_evolution")
    num_nodes = _common_size(snapshots)
    colors = get_palette(palette, "draw_evolution")
    look = node_look(num_nodes, y, colors, class_names, unlabelled)
    given = check_positions(pos, num_nodes, "draw_evolution")
    model = snapshots[layout_from].complex
    node_ids = sample_neighborhoods(model, max_nodes, seed)
    position = layout(take_nodes(model, node_ids), seed) if given is None else given[node_ids]
    figure, panels = _panels(len(snapshots), columns)
    drawings = []
    for snapshot, (ax, _) in zip(snapshots, panels, strict=True):
        cells = cell_arrays(take_nodes(snapshot.complex, node_ids))
        drawings.append(draw_cells(ax, cells, position, look.take(node_ids), colors, node_ids))
    histograms = [below for _, below in panels]
    _draw_degrees(histograms, [snapshot.complex for snapshot in snapshots], colors)
    for number, (snapshot, below) in enumerate(zip(snapshots, histograms, strict=True)):
        letter = f"({chr(ord('a') + number)}) " if 1 < len(snapshots) <= 26 else ""
        below.set_xlabel(f"degree\n{letter}{snapshot.caption(y, unlabelled)}", linespacing=1.8)
    _add_legend(figure, look, colors, drawings)
    if len(node_ids) < num_nodes:
        figure.suptitle(sample_note(len(node_ids), num_nodes), fontsize="small", style="italic")
    return Evolution(figure, drawings, histograms, position)


def _common_size(snapshots: Sequence[Snapshot]) -> int:
    sizes = {snapshot.complex.num_nodes for snapshot in snapshots}
    if len(sizes) != 1:
        raise LatopoError(
            f"draw_evolution: snapshots have {sorted(sizes)} nodes, expected one or more snapshots on the same nodes"
        )
    return sizes.pop()


def _panels(count: int, columns: int) -> tuple[Any, list[tuple[Any, Any]]]:
    """A figure with a large axes over a small one for each snapshot."""
    if columns < 1:
        raise LatopoError(f"draw_evolution: columns is {columns}, expected at least 1")
    width = min(count, columns)
    height = -(-count // width)
    figure = new_figure(3.6 * width, 5.2 * height + 0.5)
    grid = figure.add_gridspec(2 * height, width, height_ratios=[3.4, 1] * height)
    places = [divmod(number, width) for number in range(count)]
    pairs = [(grid[2 * row, column], grid[2 * row + 1, column]) for row, column in places]
    return figure, [(figure.add_subplot(above), figure.add_subplot(below)) for above, below in pairs]


def _draw_degrees(axes: Sequence[Any], complexes: Sequence[CellComplex], palette: Palette) -> None:
    """Histograms of the degrees in per cent of the nodes, with common bins and scales.

    The last bar gathers all degrees beyond the 99 % quantile of every snapshot: one hub must not squeeze the others.
    """
    degrees = [complex.node_degree().cpu().numpy() for complex in complexes]
    usual = max(int(np.quantile(degree, 0.99)) if len(degree) else 0 for degree in degrees)
    step = 1 + usual // _MOST_BINS
    starts = np.arange(0, usual + 1 + step, step)
    for ax, degree in zip(axes, degrees, strict=True):
        bar = np.minimum(degree // step, len(starts) - 1)
        share = 100 * np.bincount(bar, minlength=len(starts)) / max(len(degree), 1)
        ax.bar(starts, share, width=0.9 * step, color=palette.edge)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize="small")
        ax.sharex(axes[0])
        ax.sharey(axes[0])
    axes[0].set_xticks(*_degree_ticks(int(starts[-1])))
    axes[0].set_ylabel("% of nodes")


def _degree_ticks(last: int) -> tuple[list[int], list[str]]:
    """Round numbers below the last bar, and that bar's "≥".

    Example:
        >>> _degree_ticks(23)
        ([0, 5, 10, 15, 20, 23], ['0', '5', '10', '15', '20', '≥23'])
    """
    spacing = next(n * 10**k for k in range(20) for n in (1, 2, 5) if last <= 5 * n * 10**k)
    ticks = list(range(0, last - spacing // 2, spacing))
    return [*ticks, last], [*map(str, ticks), f"≥{last}"]


def _add_legend(figure: Any, look: NodeLook, palette: Palette, drawings: Sequence[Drawing]) -> None:
    lengths = {length for drawing in drawings for length in drawing.polygons}
    entries = paint.legend_entries(look, palette, lengths)
    columns = min(len(entries["labels"]), max(2, int(figure.get_figwidth() / 1.3)))
    figure.legend(**entries, loc="outside lower center", ncols=columns, frameon=False)


def _percent(share: float) -> str:
    """Whole per cents, but never 0 for what is more than nothing."""
    percent = 100 * share
    return f"{percent:.0f}" if percent >= 1 or percent == 0 else f"{percent:.1g}"
