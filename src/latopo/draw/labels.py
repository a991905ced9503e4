"""Labels of nodes as colours, marks and entries of a legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from latopo.draw._kernels import FloatArray, IntArray
from latopo.draw.palette import Color, Palette
from latopo.errors import LatopoError

ClassNames = Sequence[str] | Mapping[Any, str]
# Floats with more distinct values than this are a quantity, not classes.
_MOST_FLOAT_CLASSES = 20


@dataclass(frozen=True)
class NodeLook:
    """How each node looks, and the legend for it."""

    color: FloatArray  # [N, 3]
    mark: list[str]  # matplotlib's name of each node's mark, [N]
    legend: list[tuple[str, Color, str]]  # (name, colour, mark), class by class

    def take(self, nodes: IntArray) -> "NodeLook":
        """The look of some nodes; the legend is still that of all."""
        return NodeLook(self.color[nodes], [self.mark[node] for node in nodes.tolist()], self.legend)


def node_look(
    num_nodes: int,
    y: Any,
    palette: Palette,
    class_names: ClassNames | None = None,
    unlabelled: int | None = None,
) -> NodeLook:
    """Colours and marks of ``num_nodes`` nodes with labels ``y`` [N]: classes of any type, or a quantity as floats.

    ``class_names`` are a dictionary by label, or a sequence that labels 0, 1, … index.
    """
    if y is None:
        return NodeLook(np.full((num_nodes, 3), palette.unlabelled), ["o"] * num_nodes, [])
    labels = as_labels(y, num_nodes)
    if is_quantity(labels):
        return _quantity_look(labels, palette)
    return _class_look(labels, palette, class_names, unlabelled)


def as_labels(y: Any, num_nodes: int) -> NDArray[Any]:
    """``y`` as an array of one label per node."""
    labels = np.asarray(y.detach().cpu().numpy() if isinstance(y, Tensor) else y)
    if labels.shape != (num_nodes,):
        raise LatopoError(f"draw: y has shape {list(labels.shape)}, expected one label per node, [{num_nodes}]")
    return labels


def is_quantity(labels: NDArray[Any]) -> bool:
    """Whether labels are measurements: floats that are not whole, or whole but of many values."""
    if labels.dtype.kind != "f":
        return False
    known = labels[~np.isnan(labels)]
    return bool((known != np.round(known)).any()) or np.unique(known).size > _MOST_FLOAT_CLASSES


def class_codes(labels: NDArray[Any], unlabelled: int | None = None) -> tuple[IntArray, list[Any]]:
    """Each label's place among the sorted classes, −1 for ``unlabelled`` and NaN; and the classes."""
    known = labels == labels  # not NaN
    if unlabelled is not None:
        known &= labels != unlabelled
    codes = np.full(labels.shape, -1, np.int64)
    classes, codes[known] = np.unique(labels[known], return_inverse=True)
    return codes, classes.tolist()


def _class_look(labels: NDArray[Any], palette: Palette, names: ClassNames | None, unlabelled: int | None) -> NodeLook:
    codes, classes = class_codes(labels, unlabelled)
    if names is not None and not isinstance(names, Mapping):
        # Names keep their places even if their classes do not occur, so that figures agree in colours.
        for value in classes:
            if not (isinstance(value, int | float) and 0 <= value < len(names)):
                raise LatopoError(
                    f"draw: class_names has {len(names)} names, for labels 0 to {len(names) - 1}, but y holds "
                    f"{value!r}; give a dictionary {{label: name}}"
                )
        codes[codes >= 0] = np.array(classes, np.int64)[codes[codes >= 0]]
        called = list(map(str, names))
    else:
        numbers = {value: f"class {value:g}" for value in classes if isinstance(value, int | float)}
        called = [str({**numbers, **(names or {})}.get(value, value)) for value in classes]
    legend = [(name, palette.class_color(k), palette.class_mark(k)) for k, name in enumerate(called)]
    # The last one serves code −1.
    looks = [*legend, ("unlabelled", palette.unlabelled, "o")]
    color = np.array([look[1] for look in looks])[codes]
    return NodeLook(color, [looks[code][2] for code in codes.tolist()], looks if (codes < 0).any() else legend)


def _quantity_look(values: FloatArray, palette: Palette) -> NodeLook:
    from matplotlib import colormaps

    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    scale = colormaps["viridis"]
    color = scale((np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-300))[:, :3]
    color[np.isnan(values)] = palette.unlabelled
    steps = np.linspace(0, 1, 5)
    legend = [(f"{low + step * (high - low):.3g}", scale(step)[:3], "o") for step in steps]
    return NodeLook(np.asarray(color), ["o"] * len(values), legend)
