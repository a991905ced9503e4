"""Labels of the nodes as colours, marks and lines of a legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from latopo.draw._kernels import FloatArray, IntArray
from latopo.draw.palette import Color, Palette
from latopo.errors import LatopoError

ClassNames = Sequence[str] | Mapping[Any, str]
# More different numbers than this among floats are a quantity, not classes.
_MOST_FLOAT_CLASSES = 20


@dataclass(frozen=True)
class NodeLook:
    """How each node looks, and the legend of it.

    Attributes:
        color: [N, 3].
        mark: matplotlib's name of each node's mark, [N].
        legend: (name, colour, mark), class by class.
    """

    color: FloatArray
    mark: list[str]
    legend: list[tuple[str, Color, str]]

    def take(self, nodes: IntArray) -> "NodeLook":
        """The look of some nodes; the legend stays that of all."""
        return NodeLook(self.color[nodes], [self.mark[node] for node in nodes.tolist()], self.legend)


def node_look(
    num_nodes: int,
    y: Any,
    palette: Palette,
    class_names: ClassNames | None = None,
    unlabelled: int | None = None,
) -> NodeLook:
    """Colours and marks of ``num_nodes`` nodes with labels ``y`` [N]: classes of any type, or a quantity in floats.

    ``class_names`` are a dictionary by label, or a sequence that labels 0, 1, … index.

    Example:
        >>> from latopo.draw.palette import PALETTES
        >>> look = node_look(3, [1, 0, 1], PALETTES["paper"], ["no", "yes"])
        >>> [name for name, _, _ in look.legend]
        ['no', 'yes']
    """
    if y is None:
        return NodeLook(np.full((num_nodes, 3), palette.unlabelled), ["o"] * num_nodes, [])
    labels = np.asarray(y.detach().cpu().numpy() if isinstance(y, Tensor) else y)
    if labels.shape != (num_nodes,):
        raise LatopoError(f"draw: y has shape {list(labels.shape)}, expected one label per node, [{num_nodes}]")
    if labels.dtype.kind == "f" and _is_quantity(labels):
        return _quantity_look(labels, palette)
    return _class_look(labels, palette, class_names, unlabelled)


def _is_quantity(labels: FloatArray) -> bool:
    known = labels[~np.isnan(labels)]
    return bool((known != np.round(known)).any()) or np.unique(known).size > _MOST_FLOAT_CLASSES


def _class_look(labels: Any, palette: Palette, names: ClassNames | None, unlabelled: int | None) -> NodeLook:
    known = np.ones(labels.shape, dtype=bool) if unlabelled is None else labels != unlabelled
    known &= labels == labels  # not NaN
    values = np.unique(labels[known])
    if isinstance(names, Mapping) or names is None:
        named = [(value, str((names or {}).get(value, _default_name(value)))) for value in values.tolist()]
    else:
        named = _indexed_names(values, names)
    number = {value: place for place, (value, _) in enumerate(named)}
    places = [number[value] if is_known else -1 for value, is_known in zip(labels.tolist(), known, strict=True)]
    legend = [(name, palette.class_color(k), palette.class_mark(k)) for k, (_, name) in enumerate(named)]
    # The last one serves place −1.
    looks = [*legend, ("unlabelled", palette.unlabelled, "o")]
    color = np.array([looks[place][1] for place in places]).reshape(-1, 3)
    shown = legend if known.all() else looks
    return NodeLook(color, [looks[place][2] for place in places], shown)


def _default_name(value: Any) -> str:
    return f"class {value:g}" if isinstance(value, int | float) else str(value)


def _indexed_names(values: Any, names: Sequence[str]) -> list[tuple[Any, str]]:
    # All names keep their place, also those of classes that do not occur, so that figures agree in colours.
    wrong = [value for value in values.tolist() if not (isinstance(value, int | float) and 0 <= value < len(names))]
    if wrong:
        raise LatopoError(
            f"draw: class_names has {len(names)} names for labels 0 to {len(names) - 1}, but y holds {wrong[0]!r}; "
            "give a dictionary {label: name}"
        )
    return list(enumerate(map(str, names)))


def _quantity_look(values: FloatArray, palette: Palette) -> NodeLook:
    from matplotlib import colormaps

    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    scale = colormaps["viridis"]
    color = scale((np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-300))[:, :3]
    color[np.isnan(values)] = palette.unlabelled
    steps = np.linspace(0, 1, 5)
    legend = [(f"{low + step * (high - low):.3g}", scale(step)[:3], "o") for step in steps]
    return NodeLook(np.asarray(color), ["o"] * len(values), legend)
