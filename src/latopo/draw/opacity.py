"""How opaque cells are: by their probability, and by how many there are."""

from collections.abc import Iterable

import numpy as np

from latopo.draw._kernels import BoolArray, FloatArray

# The weakest cell keeps this share of the strongest one's opacity.
_FAINTEST = 0.2
# Below about 3/255 the rounding of pixels decides the colour: a pile of such cells turns grey.
_VISIBLE = 0.012


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
    """Opacity of the strongest polygon: the deeper polygons ([P, k, 2]) lie on each other, the less.

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
    strides = [-(-len(corners) // 4000) for corners in shapes]
    depth = sum(
        stride * _contains(corners[::stride], centers).mean(axis=1).sum()
        for corners, stride in zip(shapes, strides, strict=True)
    )
    return float(min(max(1 - 0.3 ** (1 / max(depth, 1)), _VISIBLE), 0.5))


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
