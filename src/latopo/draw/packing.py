"""Components beside each other, close and without overlap, whatever their shape."""

import numpy as np
from scipy.ndimage import binary_dilation, binary_fill_holes

from latopo.draw._kernels import FloatArray, IntArray, pack_shapes

# Squares along the longest side of the largest component; bounds the memory of the grid.
_MOST_SQUARES = 600


def pack(position: FloatArray, components: list[IntArray], edges: IntArray) -> FloatArray:
    """Shift components (lists of nodes) of ``position`` [N, 2] so that they lie close together, the largest first.

    Each is drawn, with its edges [E, 2], on a grid of squares half a typical edge wide; its holes are filled, so that
    nothing foreign lands inside; and it goes where none of its squares is taken.

    Example:
        >>> alone = [np.array([0]), np.array([1])]
        >>> bool(np.ptp(pack(np.zeros((2, 2)), alone, np.zeros((0, 2), np.int64))) > 0)
        True
    """
    position = position.copy()
    for nodes in components:
        position[nodes] -= (position[nodes].max(axis=0) + position[nodes].min(axis=0)) / 2
    side = _square_side(position, edges)
    of_node = np.empty(len(position), np.int64)
    for number, nodes in enumerate(components):
        of_node[nodes] = number
    points = np.concatenate([position, _points_along(position, edges, side)])
    owner = np.concatenate([of_node, np.repeat(of_node[edges[:, 0]], _point_counts(position, edges, side))])
    by_owner = np.argsort(owner, kind="stable")
    split = np.split(points[by_owner], np.cumsum(np.bincount(owner))[:-1])
    shapes = [_shape(np.round(part / side).astype(np.int64)) for part in split]
    order = sorted(range(len(shapes)), key=lambda number: (-len(shapes[number]), number))
    for number, shift in zip(order, _shifts([shapes[number] for number in order]), strict=True):
        position[components[number]] += side * shift
    return position


def _square_side(position: FloatArray, edges: IntArray) -> float:
    if len(edges) == 0:
        return 1.0
    lengths = np.linalg.norm(position[edges[:, 0]] - position[edges[:, 1]], axis=1)
    return max(0.5 * float(np.median(lengths)), float(np.ptp(position, axis=0).max()) / _MOST_SQUARES)


def _point_counts(position: FloatArray, edges: IntArray, side: float) -> IntArray:
    lengths = np.linalg.norm(position[edges[:, 0]] - position[edges[:, 1]], axis=1)
    return np.ceil(lengths / side).astype(np.int64)


def _points_along(position: FloatArray, edges: IntArray, side: float) -> FloatArray:
    """Points on the edges, a square apart."""
    count = _point_counts(position, edges, side)
    first = np.cumsum(count) - count
    share = (np.arange(count.sum()) - np.repeat(first, count)) / np.repeat(count, count)
    start, end = (np.repeat(position[edges[:, k]], count, axis=0) for k in (0, 1))
    return start + share[:, None] * (end - start)


def _shape(squares: IntArray) -> IntArray:
    """The squares [S, 2], a little wider and without holes."""
    low = squares.min(axis=0) - 1
    image = np.zeros(squares.max(axis=0) - low + 3, dtype=bool)
    image[tuple((squares - low).T)] = True
    image = binary_fill_holes(binary_dilation(image, np.ones((3, 3))))
    return np.argwhere(image) + low


def _shifts(shapes: list[IntArray]) -> IntArray:
    sizes = [len(shape) for shape in shapes]
    reach = 2 * int(sum(sizes) ** 0.5) + 2 * max(int(np.abs(shape).max()) for shape in shapes) + 2
    return pack_shapes(np.cumsum([0, *sizes]), np.concatenate(shapes), reach)
