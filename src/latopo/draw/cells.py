"""The cells of a complex as numpy arrays, and how opaque each is: by its probability, and by how many there are."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from torch import Tensor

from latopo.draw._kernels import BoolArray, FloatArray, IntArray
from latopo.draw.drawable import Drawable

# The weakest cell keeps this share of the strongest one's opacity.
_FAINTEST = 0.2
# Below about 3/255 the rounding of pixels decides the colour: a pile of such cells turns grey.
_VISIBLE = 0.012


class CellGroup(NamedTuple):
    """Cells of one length."""

    corners: IntArray  # [n, k]; k = 2 for edges
    prob: FloatArray | None  # [n]
    strength: FloatArray  # [n], probability over that of the strongest edge or polygon; 1 without probabilities


def cell_groups(cx: Drawable, max_length: int | None = None) -> dict[int, CellGroup]:
    """The edges (2) and the polygons of each length that occurs, up to ``max_length``; of a complex on any device."""
    edges = CellGroup(np.ascontiguousarray(cx.edge_index.cpu().numpy().T), *_strengths(cx.edge_prob, cx.num_edges))
    prob, strength = _strengths(cx.polygon_prob, cx.num_polygons)
    groups, stop = {2: edges}, 0
    for length, rows in cx.polygons.items():
        part = slice(stop, stop := stop + len(rows))
        if len(rows) and (max_length is None or length <= max_length):
            groups[length] = CellGroup(rows.cpu().numpy(), None if prob is None else prob[part], strength[part])
    return groups


def _strengths(prob: Tensor | None, count: int) -> tuple[FloatArray | None, FloatArray]:
    if prob is None:
        return None, np.ones(count)
    values = prob.detach().cpu().double().numpy()  # double: numpy has no bfloat16
    return values, values / max(values.max(initial=0.0), 1e-300)


def opacity(strength: FloatArray, ceiling: float) -> FloatArray:
    """Opacities from a fifth of ``ceiling`` (strength 0) to ``ceiling`` (strength 1), never too faint for a pixel."""
    return np.maximum(ceiling * (_FAINTEST + (1 - _FAINTEST) * strength), min(_VISIBLE, ceiling))


def edge_opacity(count: int) -> float:
    """Opacity of the strongest of ``count`` edges: thousands of lines must not become one patch."""
    return min(0.85, 3500 / max(count, 1))


def overlap_opacity(outlines: Iterable[FloatArray]) -> float:
    """Opacity of the strongest polygon: the deeper polygons ([P, k, 2]) are stacked, the fainter each is.

    The depth is the mean number of polygons over a polygon's centre; a pile of that depth is painted to 70 %.
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
