"""``draw_evolution``: the paper's figure of a complex that changes during training."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from latopo.draw._kernels import FloatArray
from latopo.draw.drawable import Drawable
from latopo.draw.figure import Shown, new_figure, plain
from latopo.draw.labels import ClassNames, as_labels, class_codes, is_quantity
from latopo.draw.paint import Drawing, View
from latopo.draw.palette import Palette
from latopo.errors import LatopoError

_MOST_BINS = 40


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A complex at one moment of training.

    Example:
        >>> from latopo import CellComplex
        >>> Snapshot(CellComplex(2, torch.tensor([[0], [1]])), epoch=40, polygon_share=0.9).caption()
        'Epoch 40, $\\\\%_p = 90$'
    """

    complex: Any
    epoch: int | None = None  #: when; None for the input
    title: str | None = None  #: instead of "Input" or "Epoch …"
    polygon_share: float | None = None  #: of the candidates, that were kept; the paper's %_p is 100 times that

    @property
    def moment(self) -> str:
        """What to call it."""
        if self.title is not None:
            return self.title
        return "Input" if self.epoch is None else f"Epoch {self.epoch}"

    def caption(self, y: Any = None, unlabelled: int | None = None) -> str:
        """Title, share of polygons and, with classes, homophily, in matplotlib's formulas."""
        parts = [plain(self.moment)]
        if self.polygon_share is not None:
            parts.append(rf"$\%_p = {_percent(self.polygon_share)}$")
        labels = None if y is None else as_labels(y, self.complex.num_nodes)
        if labels is not None and not is_quantity(labels):
            codes = torch.from_numpy(class_codes(labels, unlabelled)[0]).to(self.complex.device)
            homophily = self.complex.edge_homophily(codes, unlabelled=-1)
            parts.append("no edges" if math.isnan(homophily) else f"$h = {homophily:.2f}$")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Evolution(Shown):
    """What :func:`draw_evolution` drew."""

    drawings: list[Drawing]  #: one per snapshot
    histograms: list[Any]  #: the axes of the degree distributions
    pos: FloatArray  #: the common positions of the drawn nodes, [n, 2]

    @property
    def figure(self) -> Any:
        """The figure that holds them all."""
        return self.drawings[0].figure


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
    """Draw snapshots side by side, nodes at fixed positions, each above its degree distribution and caption.

    The caption gives the share of candidate polygons kept (%_p) and the edge homophily h, as in the paper's figure of
    Texas. These and the degrees are those of the whole complex, even if only a part is drawn.

    Args:
        snapshots: moments of one training run: complexes on the same nodes.
        y: labels of the nodes [N].
        pos: positions [N, 2]; by default the :func:`~latopo.draw.layout` of one snapshot.
        layout_from: which snapshot that is; by default the last, so that its communities show.
        palette: as in :func:`~latopo.draw.draw`, like ``class_names``, ``unlabelled``, ``seed`` and ``max_nodes``.
        class_names: see there.
        unlabelled: see there.
        columns: snapshots per row.
        seed: see there.
        max_nodes: see there.

    Example:
        >>> from latopo import CellComplex
        >>> square = torch.tensor([[0, 0, 1, 2], [1, 3, 2, 3]])
        >>> before = Snapshot(CellComplex(4, square))
        >>> after = Snapshot(CellComplex(4, square, {4: torch.tensor([[0, 1, 2, 3]])}), epoch=9, polygon_share=1.0)
        >>> evolution = draw_evolution([before, after], y=[0, 0, 1, 1])
        >>> len(evolution.drawings), sorted(evolution.drawings[1].polygons)
        (2, [4])
    """
    if len({snapshot.complex.num_nodes for snapshot in snapshots}) != 1:
        sizes = sorted({snapshot.complex.num_nodes for snapshot in snapshots})
        raise LatopoError(
            f"draw_evolution: snapshots have {sizes} nodes, expected one or more snapshots on the same nodes"
        )
    model = snapshots[layout_from].complex
    view = View.of("draw_evolution", model, y, pos, palette, class_names, unlabelled, seed, max_nodes)
    figure, above, below = _panels(len(snapshots), columns)
    drawings = [view.paint(ax, snapshot.complex) for ax, snapshot in zip(above, snapshots, strict=True)]
    _draw_degrees(below, [snapshot.complex for snapshot in snapshots], view.palette)
    for number, (snapshot, ax) in enumerate(zip(snapshots, below, strict=True)):
        letter = f"({chr(ord('a') + number)}) " if 1 < len(snapshots) <= 26 else ""
        ax.set_xlabel(f"degree\n{letter}{snapshot.caption(y, unlabelled)}", linespacing=1.8)
    entries = view.legend_entries({length for drawing in drawings for length in drawing.polygons})
    legend_columns = min(len(entries["labels"]), max(2, int(figure.get_figwidth() / 1.3)))
    figure.legend(**entries, loc="outside lower center", ncols=legend_columns, frameon=False)
    if view.note is not None:
        figure.suptitle(view.note, fontsize="small", style="italic")
    return Evolution(drawings, below, view.position)


def _panels(count: int, columns: int) -> tuple[Any, list[Any], list[Any]]:
    """A figure with large axes over small ones for each snapshot; the figure, the large axes and the small ones."""
    if columns < 1:
        raise LatopoError(f"draw_evolution: columns is {columns}, expected at least 1")
    width = min(count, columns)
    height = -(-count // width)
    figure = new_figure(3.6 * width, 5.2 * height + 0.5)
    grid = figure.add_gridspec(2 * height, width, height_ratios=[3.4, 1] * height)
    places = [divmod(number, width) for number in range(count)]
    above, below = ([figure.add_subplot(grid[2 * row + k, column]) for row, column in places] for k in (0, 1))
    return figure, above, below


def _draw_degrees(axes: Sequence[Any], complexes: Sequence[Drawable], palette: Palette) -> None:
    """Histograms of the degrees in per cent of the nodes, with common bins and scales.

    The last bar holds all degrees beyond the 99 % quantile of every snapshot: one hub must not squeeze the rest.
    """
    degrees = [complex.node_degree().cpu().numpy() for complex in complexes]
    usual = max(int(np.quantile(degree, 0.99)) if len(degree) else 0 for degree in degrees)
    step = 1 + usual // _MOST_BINS
    starts = np.arange(0, usual + 1 + step, step)
    for ax in axes[1:]:  # before the bars, so that the scales suit all of them
        ax.sharex(axes[0])
        ax.sharey(axes[0])
    for ax, degree in zip(axes, degrees, strict=True):
        bar = np.minimum(degree // step, len(starts) - 1)
        share = 100 * np.bincount(bar, minlength=len(starts)) / max(len(degree), 1)
        ax.bar(starts, share, width=0.9 * step, color=palette.edge)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize="small")
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


def _percent(share: float) -> str:
    """Whole per cents, but never 0 for what is more than nothing."""
    percent = 100 * share
    return f"{percent:.0f}" if percent >= 1 or percent == 0 else f"{percent:.1g}"
