"""A balanced tree of boxes over points, and the rows that are found by walking it, on the CPU.

Node m of level j holds the places ``m N >> j`` to ``(m + 1) N >> j`` of the points' order; the leaves are the last
level. Coordinates are rotated so that the first ones spread most: a few of them make a good box, and a few terms of a
distance are mostly enough to see that it is too large.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from latopo._numba import UNCOUNTED, njit
from latopo.neighbors._kernels import EUCLIDEAN, FAST, FloatArray, IntArray, keep_support
from latopo.neighbors._support import similarity_of

Single = npt.NDArray[np.float32]

_CHUNK = 8  # coordinates between two looks at a distance


class Tree(NamedTuple):
    """Points in the leaves of a balanced tree.

    Attributes:
        tiles: rotated coordinates, leaf by leaf, padded with infinity, [leaves, d, w].
        low, high: the box of every node, root first, [nodes, axes].
        order: numbers of the points in the order of the leaves, [N].
        length: distance of each point from the centre, [N].
        depth: levels below the root.
    """

    tiles: Single
    low: Single
    high: Single
    order: IntArray
    length: Single
    depth: int


@njit(nogil=True, cache=True, **UNCOUNTED)
def _select(keys: Single, ids: IntArray, place: int) -> None:
    """Reorder so that what sorting would put before ``place`` is before it (Hoare's quickselect)."""
    low, high = 0, keys.shape[0] - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@njit(nogil=True, cache=True, **UNCOUNTED)
def _widest(points: Single, ids: IntArray, axes: int) -> int:
    """The axis along which the points spread most."""
    best, chosen = np.float32(-1), 0
    for axis in range(axes):
        low = high = points[ids[0], axis]
        for at in ids:
            low, high = min(low, points[at, axis]), max(high, points[at, axis])
        if high - low > best:
            best, chosen = high - low, axis
    return chosen


@njit(nogil=True, cache=True)
def split(points: Single, order: IntArray, level: int, first: int, last: int, axes: int) -> None:
    """Reorder the points' numbers so that the nodes ``first`` to ``last`` (excluded) of a level are halved.

    Each along the axis on which it spreads most.
    """
    count = order.shape[0]
    for node in range(first, last):
        start, stop = node * count >> level, (node + 1) * count >> level
        ids, keys = order[start:stop], np.empty(stop - start, np.float32)
        axis = _widest(points, ids, axes)
        for at in range(ids.shape[0]):
            keys[at] = points[ids[at], axis]
        _select(keys, ids, ((2 * node + 1) * count >> (level + 1)) - start)


@njit(nogil=True, cache=True)
def fill(points: Single, order: IntArray, depth: int, tiles: Single, low: Single, high: Single) -> None:
    """Write each leaf's coordinates to ``tiles`` [leaves, d, w], and the boxes of all nodes, root first, [nodes, q]."""
    count, leaves, axes = order.shape[0], 1 << depth, low.shape[1]
    for leaf in range(leaves):
        start, stop, node = leaf * count >> depth, (leaf + 1) * count >> depth, leaves - 1 + leaf
        for at in range(start, stop):
            for k in range(points.shape[1]):
                tiles[leaf, k, at - start] = points[order[at], k]
        for k in range(axes):
            low[node, k] = tiles[leaf, k, : stop - start].min()
            high[node, k] = tiles[leaf, k, : stop - start].max()
    for node in range(leaves - 2, -1, -1):
        for k in range(axes):
            low[node, k] = min(low[2 * node + 1, k], low[2 * node + 2, k])
            high[node, k] = max(high[2 * node + 1, k], high[2 * node + 2, k])


@njit(nogil=True, cache=True, **UNCOUNTED)
def _apart(low: Single, high: Single, node: int, other: int) -> Any:
    """The square of the distance between the boxes of two nodes."""
    total = np.float32(0)
    for k in range(low.shape[1]):
        gap = max(max(low[other, k] - high[node, k], low[node, k] - high[other, k]), np.float32(0))
        total += gap * gap
    return total


@njit(nogil=True, cache=True, **UNCOUNTED)
def near_leaves_of(
    low: Single, high: Single, depth: int, leaf: int, limit: float, stack: IntArray, found: IntArray, squares: Single
) -> int:
    """The other leaves whose boxes are within the root of ``limit`` of this leaf's; returns how many."""
    first = (1 << depth) - 1
    own = first + leaf
    stack[0] = 0
    used, count = 1, 0
    while used:
        used -= 1
        node = stack[used]
        square = _apart(low, high, own, node)
        if square > limit or node == own:
            continue
        if node >= first:
            found[count], squares[count] = node - first, square
            count += 1
        else:
            stack[used], stack[used + 1] = 2 * node + 1, 2 * node + 2
            used += 2
    return count


@njit(nogil=True, cache=True, fastmath=FAST, **UNCOUNTED)
def _add_terms(point: Single, tile: Single, k: int, stop: int, out: Single) -> None:
    for axis in range(k, stop):
        own = point[axis]
        column = tile[axis]
        for j in range(out.shape[0]):
            gap = own - column[j]
            out[j] += gap * gap


@njit(nogil=True, cache=True, fastmath=FAST, **UNCOUNTED)
def _add_eight(point: Single, tile: Single, k: int, out: Single) -> None:
    a, b, c, d = point[k], point[k + 1], point[k + 2], point[k + 3]
    e, f, g, h = point[k + 4], point[k + 5], point[k + 6], point[k + 7]
    for j in range(out.shape[0]):
        p, q, r, s = a - tile[k, j], b - tile[k + 1, j], c - tile[k + 2, j], d - tile[k + 3, j]
        t, u, v, w = e - tile[k + 4, j], f - tile[k + 5, j], g - tile[k + 6, j], h - tile[k + 7, j]
        out[j] += (p * p + q * q + r * r + s * s) + (t * t + u * u + v * v + w * w)


@njit(nogil=True, cache=True, fastmath=FAST, **UNCOUNTED)
def _smallest(values: Single) -> Any:
    low = np.float32(np.inf)
    for j in range(values.shape[0]):
        low = min(low, values[j])
    return low


@njit(nogil=True, cache=True, **UNCOUNTED)
def squares_to(point: Single, tile: Single, limit: float, out: Single) -> Any:
    """Squared distances of a point to those of a tile, into ``out``, and the smallest; cut short if all exceed it."""
    out[:] = 0
    smallest = np.float32(0)
    for k in range(0, point.shape[0], _CHUNK):
        if k + _CHUNK <= point.shape[0]:
            _add_eight(point, tile, k, out)
        else:
            _add_terms(point, tile, k, point.shape[0], out)
        smallest = _smallest(out)
        if smallest > limit:
            break
    return smallest


@njit(nogil=True, cache=True, **UNCOUNTED)
def _limit(nearest: float, span: float, kind: int, slack: float, relative: float) -> float:
    """The computed square up to which a column can be in the support, if the nearest one computed is ``nearest``.

    A computed distance t̂ is off by at most ``relative`` t̂ + ``slack``.
    """
    top = np.sqrt(nearest) * (1 + relative) + slack
    reach = top + span if kind == EUCLIDEAN else np.sqrt(top * top + span)
    return ((reach + slack) * (1 + 2 * relative)) ** 2


@njit(nogil=True, cache=True, **UNCOUNTED)
def outside(point: Single, low: Single, high: Single, node: int) -> Any:
    """The square of a point's distance from the box of a node."""
    total = np.float32(0)
    for k in range(low.shape[1]):
        gap = max(max(low[node, k] - point[k], point[k] - high[node, k]), np.float32(0))
        total += gap * gap
    return total


@njit(nogil=True, cache=True, **UNCOUNTED)
def _take(values: Single, ids: IntArray, limit: float, near: Single, found: IntArray, used: int) -> int:
    """Append the columns within the limit; returns how many there are now."""
    for j in range(ids.shape[0]):
        if values[j] <= limit:
            near[used], found[used] = values[j], ids[j]
            used += 1
    return used


@njit(nogil=True, cache=True, **UNCOUNTED)
def _walk(
    point: Single, tiles: Single, low: Single, high: Single, order: IntArray, depth: int, near_leaves: IntArray,
    leaf_squares: Single, best: float, span: float, kind: int, slack: float, relative: float, squares: Single,
    near: Single, found: IntArray, used: int, looked: IntArray,
) -> int:  # fmt: skip
    """Add what the near leaves, nearest first, hold for a point; returns how many columns can be in its support."""
    count, first = order.shape[0], (1 << depth) - 1
    limit = _limit(best, span, kind, slack, relative)
    for step in range(near_leaves.shape[0]):
        leaf = near_leaves[step]
        if leaf_squares[step] > limit:
            break
        if outside(point, low, high, first + leaf) > limit:
            continue
        looked[0] += tiles.shape[2]
        smallest = squares_to(point, tiles[leaf], limit, squares)
        if smallest > limit:
            continue
        if smallest < best:
            best = smallest
            limit = _limit(best, span, kind, slack, relative)
        used = _take(squares, order[leaf * count >> depth : (leaf + 1) * count >> depth], limit, near, found, used)
    kept = 0
    for j in range(used):
        if near[j] <= limit:
            found[kept] = found[j]
            kept += 1
    return kept


@njit(nogil=True, cache=True, error_model="numpy")
def _solve(
    points: FloatArray, i: int, columns: IntArray, kind: int, rate: float, alpha: float, scores: npt.NDArray[np.float64]
) -> tuple[float, int]:  # fmt: skip
    """Move the support of row i among these columns to their front; its largest similarity, and how many they are."""
    columns.sort()
    top = -np.inf
    for j in range(columns.shape[0]):
        scores[j] = similarity_of(points[i], points[columns[j]], kind)
        top = max(top, scores[j])
    for j in range(columns.shape[0]):
        scores[j] = rate * (scores[j] - top)
    return top, keep_support(scores, columns, columns.shape[0], alpha)


@njit(nogil=True, cache=True, error_model="numpy")
def scan_leaves(
    first: int, last: int, tree: Tree, points: FloatArray, kind: int, gain: float, alpha: npt.NDArray[np.float64],
    deviation: FloatArray, wanted: npt.NDArray[np.bool_], relative: float, store: bool, top: FloatArray,
    counts: IntArray, looked: IntArray,
) -> IntArray:  # fmt: skip
    """Support of the wanted rows of the leaves ``first`` to ``last`` (excluded), in the order of the leaves.

    Fills ``top`` and ``counts`` [N], adds to ``looked`` [1] how many distances were begun, and returns the columns
    (nothing if not ``store``).
    """
    tiles, low, high, order, length, depth = tree
    count, leaves, size = order.shape[0], tiles.shape[0], tiles.shape[2]
    stack, leaf_ids = np.empty(2 * depth + 2, np.int64), np.empty(leaves, np.int64)
    leaf_squares = np.empty(leaves, np.float32)
    near, found, scores = np.empty(count, np.float32), np.empty(count, np.int64), np.empty(count, np.float64)
    own, squares, nearest = np.empty((size, size), np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    support, stored = np.empty(1024 if store else 0, np.int64), 0
    for leaf in range(first, last):
        ids, widest = order[leaf * count >> depth : (leaf + 1) * count >> depth], 0.0
        rows = tiles[leaf].T.copy()
        for at in range(ids.shape[0]):
            i = ids[at]
            squares_to(rows[at], tiles[leaf], np.inf, own[at])
            own[at, at] = np.inf
            nearest[at] = _smallest(own[at])
            if wanted[i]:
                span, slack = deviation[i] / (gain * (alpha[i] - 1)), 2.0**-22 * length[i]
                widest = max(widest, _limit(nearest[at], span, kind, slack, relative))
        others = near_leaves_of(low, high, depth, leaf, widest, stack, leaf_ids, leaf_squares)
        by_distance = np.argsort(leaf_squares[:others])
        near_leaves, near_squares = leaf_ids[by_distance], leaf_squares[by_distance]
        for at in range(ids.shape[0]):
            i = ids[at]
            if not wanted[i]:
                continue
            span, slack = deviation[i] / (gain * (alpha[i] - 1)), 2.0**-22 * length[i]
            used = _take(own[at], ids, _limit(nearest[at], span, kind, slack, relative), near, found, 0)
            looked[0] += size
            used = _walk(
                rows[at], tiles, low, high, order, depth, near_leaves, near_squares, nearest[at], span, kind, slack,
                relative, squares, near, found, used, looked,
            )  # fmt: skip
            top[i], counts[i] = _solve(points, i, found[:used], kind, gain / float(deviation[i]), alpha[i], scores)
            if store:
                if stored + counts[i] > support.shape[0]:
                    larger = np.empty(2 * (stored + counts[i]), np.int64)
                    larger[:stored] = support[:stored]
                    support = larger
                support[stored : stored + counts[i]] = found[: counts[i]]
                stored += counts[i]
    return support[:stored].copy()
