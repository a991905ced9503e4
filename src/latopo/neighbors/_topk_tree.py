"""The choices of the Gumbel top-k trick by a walk over a tree of boxes: the same ones as over all pairs.

No noise is above 37, so a row need only look into boxes that are near enough to beat its k-th best so far with that.
Scores and noise are those of :mod:`latopo.neighbors._topk`; what a tile says of a distance only passes columns over.
"""

import numpy as np

from latopo._numba import UNCOUNTED, njit
from latopo.neighbors._curved import CurvedPoints, scores_between
from latopo.neighbors._kernels import EUCLIDEAN, FloatArray, IntArray
from latopo.neighbors._support import similarity_of
from latopo.neighbors._topk import BEYOND, ROOM, hopeless, insert, noise_of, reach_of, upper_tail
from latopo.neighbors._tree import Single, Tree, near_leaves_of, outside, squares_to

_SLACK = 2.0**-22  # of a point's distance from the centre: rounding of a distance, however near the points
_TINY = 2e-18  # distances below that have squares that single precision rounds, or does not have


@njit(nogil=True, cache=True, **UNCOUNTED)
def _limit(floor: float, rate: float, noise: bool, slack: float, relative: float) -> float:
    """The computed square beyond which no score, with its noise, gets above the floor."""
    return ((slack - reach_of(floor, rate, noise)) * (1 + 2 * relative)) ** 2


@njit(nogil=True, cache=True, **UNCOUNTED)
def _highest(square: float, rate: float, slack: float) -> float:
    """A score that none of this computed square exceeds."""
    return -rate * max(np.sqrt(square) * (1 - ROOM) - slack, 0.0) ** 2


@njit(nogil=True, cache=True, **UNCOUNTED)
def _add_best(
    points: FloatArray, own: int, ids: IntArray, squares: Single, limit: float, rate: float, slack: float, noise: bool,
    seed: np.uint64, best: FloatArray, chosen: IntArray, taken: int,
) -> int:  # fmt: skip
    """Put the columns of a leaf to their places among the best of a row; returns how many there are now."""
    k, factor, count = best.shape[0], points.dtype.type(-rate), points.shape[0]
    for at in range(ids.shape[0]):
        j = ids[at]
        if squares[at] > limit or j == own:
            continue
        tail = 0.0
        if noise:
            lead = best[k - 1] - _highest(squares[at], rate, slack) if taken == k else -np.inf
            if lead > BEYOND:
                continue
            tail = upper_tail(seed, own * count + j)
            if hopeless(lead, tail):
                continue
        z = similarity_of(points[own], points[j], EUCLIDEAN)
        value = float(z * z * factor)
        taken = insert(best, chosen, taken, value + noise_of(tail) if noise else value, j)
    return taken


@njit(nogil=True, cache=True)
def choose_leaves(
    first: int, last: int, tree: Tree, points: FloatArray, rate: float, relative: float, noise: bool, seed: np.uint64,
    out: IntArray, looked: IntArray,
) -> None:  # fmt: skip
    """Columns of the k largest scores plus noise for each row of the leaves ``first`` to ``last`` (excluded).

    Ascending, into ``out`` [N, k]; adds to ``looked`` [1] how many distances were begun.
    """
    tiles, low, high, order, length, depth = tree
    count, leaves, size, k = order.shape[0], tiles.shape[0], tiles.shape[2], out.shape[1]
    stack, leaf_ids = np.empty(2 * depth + 2, np.int64), np.empty(leaves, np.int64)
    leaf_squares, squares = np.empty(leaves, np.float32), np.empty(size, np.float32)
    best, taken, limits = np.empty((size, k), np.float64), np.zeros(size, np.int64), np.empty(size, np.float64)
    for leaf in range(first, last):
        ids, widest, rows = order[leaf * count >> depth : (leaf + 1) * count >> depth], 0.0, tiles[leaf].T.copy()
        for at in range(ids.shape[0]):
            i, slack = ids[at], _SLACK * length[ids[at]] + _TINY
            squares_to(rows[at], tiles[leaf], np.inf, squares)
            looked[0] += size
            taken[at] = _add_best(points, i, ids, squares, np.inf, rate, slack, noise, seed, best[at], out[i], 0)
            full = taken[at] == k
            limits[at] = _limit(best[at, k - 1], rate, noise, slack, relative) if full else np.inf
            widest = max(widest, limits[at])
        others = near_leaves_of(low, high, depth, leaf, widest, stack, leaf_ids, leaf_squares)
        by_distance = np.argsort(leaf_squares[:others])
        for at in range(ids.shape[0]):
            i, slack, limit, point = ids[at], _SLACK * length[ids[at]] + _TINY, limits[at], rows[at]
            for step in by_distance:
                other = leaf_ids[step]
                if leaf_squares[step] > limit:
                    break
                if outside(point, low, high, leaves - 1 + other) > limit:
                    continue
                looked[0] += size
                if squares_to(point, tiles[other], limit, squares) > limit:
                    continue
                near = order[other * count >> depth : (other + 1) * count >> depth]
                taken[at] = _add_best(
                    points, i, near, squares, limit, rate, slack, noise, seed, best[at], out[i], taken[at]
                )
                if taken[at] == k:
                    limit = _limit(best[at, k - 1], rate, noise, slack, relative)
            out[i].sort()


@njit(nogil=True, cache=True, **UNCOUNTED)
def _add_possible(
    own: int, first: int, last: int, order: IntArray, squares: Single, limit: float, curved: CurvedPoints,
    rate: float, slack: float, noise: bool, seed: np.uint64, floor: float, best: FloatArray, places: IntArray,
    taken: int, possible: IntArray, most: FloatArray, used: int,
) -> tuple[int, int]:  # fmt: skip
    """Append the columns of a leaf that may be among the best of a row, with the most that their values can be.

    In the order, ``own`` is the row's place, and the leaf has those from ``first`` to ``last`` (excluded). ``best`` are
    the largest of what the values are at least, of which the row has ``taken``, at ``places``; ``possible`` and
    ``most`` have room for all columns, and the row has ``used`` of them. Returns both numbers as they are now.
    """
    k, count, i = best.shape[0], order.shape[0], order[own]
    for place in range(first, last):
        square, j, gumbel = squares[place - first], order[place], 0.0
        if square > limit or j == i:
            continue
        lead = floor - _highest(square, rate, slack)
        if noise:
            if lead > BEYOND:
                continue
            tail = upper_tail(seed, i * count + j)
            if hopeless(lead, tail):
                continue
            gumbel = noise_of(tail)
        if gumbel < lead:
            continue
        low, high = scores_between(own, place, curved, rate, floor - gumbel)
        if high + gumbel < floor:
            continue
        possible[used], most[used] = j, high + gumbel
        used += 1
        taken = insert(best, places, taken, low + gumbel, place)
        if taken == k:
            floor = max(floor, best[k - 1])
    return taken, used


@njit(nogil=True, cache=True)
def find_in_leaves(
    first: int, last: int, tree: Tree, curved: CurvedPoints, room: float, rate: float, relative: float, noise: bool,
    seed: np.uint64, k: int, counts: IntArray,
) -> IntArray:  # fmt: skip
    """Columns that may have one of the k largest values, if distances are those in the tree, less ``room``, or more.

    For the rows of the leaves ``first`` to ``last`` (excluded), in the order of the leaves, which is that of
    ``curved``, too; their numbers go into ``counts`` [N].
    """
    tiles, low, high, order, length, depth = tree
    count, leaves, size = order.shape[0], tiles.shape[0], tiles.shape[2]
    stack, leaf_ids = np.empty(2 * depth + 2, np.int64), np.empty(leaves, np.int64)
    leaf_squares, squares, limits = np.empty(leaves, np.float32), np.empty(size, np.float32), np.empty(size, np.float64)
    best, places, floors = np.empty(k, np.float64), np.empty(k, np.int64), np.empty(size, np.float64)
    possible, most = np.empty(count, np.int64), np.empty(count, np.float64)
    found, used = np.empty(1024, np.int64), 0
    for leaf in range(first, last):
        start, stop, rows = leaf * count >> depth, (leaf + 1) * count >> depth, tiles[leaf].T.copy()
        for own in range(start, stop):
            at, slack = own - start, _SLACK * length[order[own]] + _TINY + room
            squares_to(rows[at], tiles[leaf], np.inf, squares)
            nearest = float(np.sort(squares[: stop - start])[min(k, stop - start - 1)])
            taken, _ = _add_possible(
                own, start, stop, order, squares, nearest, curved, rate, slack, noise, seed, -np.inf, best, places, 0,
                possible, most, 0,
            )  # fmt: skip
            floors[at] = best[k - 1] if taken == k else -np.inf
            limits[at] = _limit(floors[at], rate, noise, slack, relative)
        others = near_leaves_of(low, high, depth, leaf, limits[: stop - start].max(), stack, leaf_ids, leaf_squares)
        leaf_ids[others], leaf_squares[others] = leaf, 0
        by_distance = np.argsort(leaf_squares[: others + 1])
        for own in range(start, stop):
            at, slack = own - start, _SLACK * length[order[own]] + _TINY + room
            point, limit, floor, taken, count_possible = rows[at], limits[at], floors[at], 0, 0
            for step in by_distance:
                other = leaf_ids[step]
                if leaf_squares[step] > limit:
                    break
                if outside(point, low, high, leaves - 1 + other) > limit:
                    continue
                if squares_to(point, tiles[other], limit, squares) > limit:
                    continue
                taken, count_possible = _add_possible(
                    own, other * count >> depth, (other + 1) * count >> depth, order, squares, limit, curved, rate,
                    slack, noise, seed, floor, best, places, taken, possible, most, count_possible,
                )  # fmt: skip
                if taken == k and best[k - 1] > floor:
                    floor = best[k - 1]
                    limit = _limit(floor, rate, noise, slack, relative)
            kept = possible[:count_possible][most[:count_possible] >= floor]
            if used + kept.shape[0] > found.shape[0]:
                larger = np.empty(2 * (used + kept.shape[0]), np.int64)
                larger[:used] = found[:used]
                found = larger
            found[used : used + kept.shape[0]] = kept
            counts[order[own]] = kept.shape[0]
            used += kept.shape[0]
    return found[:used].copy()
