"""The cells of a complex as numpy arrays, and how opaque each is: by its probability, and by how many there are."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from latopo.draw._kernels import BoolArray, FloatArray, IntArray
from latopo.draw.drawable import Drawable

# The weakest cell keeps this share of the strongest one's opacity.
_FAINTEST = 0.2
# Below about 3/255 the rounding of pixels decides the colour: a pile of such cells turns grey.
_VISIBLE = 0.012


@dataclass(frozen=True)
class CellArrays:
    """What is drawn.

    Attributes:
        edges: [E, 2].
        edge_strength: [E], probability over the largest one; 1 without probabilities.
        polygons: {length: [P_k, k]}, only lengths that occur.
        polygon_strength: {length: [P_k]}, as for edges; the largest one is over all lengths.
    """

    edges: IntArray
    edge_strength: FloatArray
    polygons: dict[int, IntArray]
    polygon_strength: dict[int, FloatArray]


def cell_arrays(cx: Drawable, max_length: int | None = None) -> CellArrays:
    """Edges and polygons (up to ``max_length`` sides) of a complex on any device.

    Example:
        >>> from latopo import CellComplex
        >>> import torch
        >>> cx = CellComplex(3, torch.tensor([[0, 1], [1, 2]]), edge_prob=torch.tensor([0.2, 0.4]))
        >>> cell_arrays(cx).edge_strength
        array([0.5, 1. ])
    """
    sizes = [len(rows) for rows in cx.polygons.values()]
    strengths = np.split(_strength(cx.polygon_prob, cx.num_polygons), np.cumsum(sizes)[:-1])
    polygons, polygon_strength = {}, {}
    for (length, rows), strength in zip(cx.polygons.items(), strengths, strict=False):
        if len(rows) and (max_length is None or length <= max_length):
            polygons[length], polygon_strength[length] = rows.cpu().numpy(), strength
    edges = np.ascontiguousarray(cx.edge_index.cpu().numpy().T)
    return CellArrays(edges, _strength(cx.edge_prob, len(edges)), polygons, polygon_strength)


def _strength(prob: Tensor | None, count: int) -> FloatArray:
    if prob is None or count == 0:
        return np.ones(count)
    values = prob.detach().cpu().double().numpy()  # double: numpy has no bfloat16
    return np.asarray(values / max(float(values.max()), 1e-300))


def opacity(strength: FloatArray, ceiling: float) -> FloatArray:
    """Opacities from a fifth of ``ceiling`` (strength 0) to ``ceiling`` (strength 1), never too faint for a pixel.

    Example:
        >>> opacity(np.array([0.0, 0.5, 1.0]), 0.5)
        array([0.1, 0.3, 0.5])
    """
    return np.maximum(ceiling * (_FAINTEST + (1 - _FAINTEST) * strength), min(_VISIBLE, ceiling))


def edge_opacity(count: int) -> float:
    """Opacity of the strongest of ``count`` edges: thousands of lines must not become one patch.

    Example:
        >>> edge_opacity(100), edge_opacity(35_000)
        (0.85, 0.1)
    """
    return min(0.85, 3500 / max(count, 1))


def overlap_opacity(outlines: Iterable[FloatArray]) -> float:
    """Opacity of the strongest polygon: the deeper polygons ([P, k, 2]) are stacked, the fainter each is.

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
    depth = 0.0
    for corners in shapes:
        stride = -(-len(corners) // 4000)
        depth += stride * float(_contains(corners[::stride], centers).mean(axis=1).sum())
    return min(max(1 - 0.3 ** (1 / max(depth, 1)), _VISIBLE), 0.5)


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
