"""Compiled parts of the layout: distances, steps of the force layout, and the packing of shapes.

All in one thread: a layout has the same bits on every run, and Cora's takes a second.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# A leaf counts as one point where its radius is below this share of its distance.
_OPENING = 0.7
# Keeps the push of two nodes on one spot finite.
_SOFTENING = 1e-4
_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


@numba.njit(nogil=True, cache=True)
def count_common(ptr: IntArray, neighbor: IntArray) -> FloatArray:
    """For each entry of a symmetric CSR graph with sorted rows, the number of neighbours that its two ends share."""
    common = np.zeros(neighbor.size)
    for i in range(ptr.size - 1):
        for entry in range(ptr[i], ptr[i + 1]):
            a, b = ptr[i], ptr[neighbor[entry]]
            a_stop, b_stop = ptr[i + 1], ptr[neighbor[entry] + 1]
            while a < a_stop and b < b_stop:
                step = neighbor[a] - neighbor[b]
                common[entry] += step == 0
                a += step <= 0
                b += step >= 0
    return common


@numba.njit(nogil=True, cache=True)
def pivot_distances(ptr: IntArray, neighbor: IntArray, first: int, count: int) -> FloatArray:
    """Hops from each node of a connected graph to ``count`` pivots, [N, count]: ``first``, then always the farthest."""
    size = ptr.size - 1
    hops = np.empty((size, count))
    nearest = np.full(size, np.inf)
    queue = np.empty(size, np.int64)
    pivot = first
    for k in range(count):
        hops[:, k] = -1.0
        hops[pivot, k] = 0.0
        queue[0], head, tail = pivot, 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            for j in neighbor[ptr[i] : ptr[i + 1]]:
                if hops[j, k] < 0:
                    hops[j, k] = hops[i, k] + 1
                    queue[tail] = j
                    tail += 1
        nearest = np.minimum(nearest, hops[:, k])
        pivot = int(np.argmax(nearest))
    return hops


@numba.njit(nogil=True, cache=True)
def settle(
    position: FloatArray,
    mass: FloatArray,
    ptr: IntArray,
    neighbor: IntArray,
    weight: FloatArray,
    leaf_ptr: IntArray,
    leaf_node: IntArray,
    gravity: float,
    temperature: float,
    steps: int,
) -> None:
    """Move ``position`` [N, 2], in place, by ``steps`` steps of the force layout.

    Edges pull with weight × distance, all pairs push with mass × mass / distance, gravity pulls with mass × distance to
    the origin. A leaf of nodes (``leaf_node[leaf_ptr[l]:leaf_ptr[l + 1]]``) that is far away pushes as one point. No
    node moves farther than ``temperature`` times the size of the layout.
    """
    move = np.empty_like(position)
    leaf = np.empty((leaf_ptr.size - 1, 4))
    for _ in range(steps):
        _measure_leaves(position, mass, leaf_ptr, leaf_node, leaf)
        for i in range(mass.size):
            push_x, push_y = _push(position[i, 0], position[i, 1], position, mass, leaf_ptr, leaf_node, leaf)
            pull_x, pull_y, stiffness = _pull(i, position, ptr, neighbor, weight)
            hold = gravity * mass[i]
            # Divided by the stiffness: a step to the balance point if the others stood still, whatever the degree.
            move[i, 0] = (pull_x + mass[i] * push_x - hold * position[i, 0]) / (stiffness + hold)
            move[i, 1] = (pull_y + mass[i] * push_y - hold * position[i, 1]) / (stiffness + hold)
        _step(position, move, temperature)


@numba.njit(nogil=True, cache=True)
def _step(position: FloatArray, move: FloatArray, temperature: float) -> None:
    limit = temperature * math.sqrt((position**2).sum() / position.shape[0])
    for i in range(position.shape[0]):
        length = math.sqrt(move[i, 0] ** 2 + move[i, 1] ** 2)
        # Half a step at most: all nodes move at once, and two that pull at each other would swap places.
        share = min(0.5, limit / max(length, 1e-300))
        position[i, 0] += share * move[i, 0]
        position[i, 1] += share * move[i, 1]


@numba.njit(nogil=True, cache=True)
def _pull(
    i: int, position: FloatArray, ptr: IntArray, neighbor: IntArray, weight: FloatArray
) -> tuple[float, float, float]:
    x, y, stiffness = 0.0, 0.0, 0.0
    for k in range(ptr[i], ptr[i + 1]):
        x += weight[k] * (position[neighbor[k], 0] - position[i, 0])
        y += weight[k] * (position[neighbor[k], 1] - position[i, 1])
        stiffness += weight[k]
    return x, y, stiffness


@numba.njit(nogil=True, cache=True)
def _push(
    x: float,
    y: float,
    position: FloatArray,
    mass: FloatArray,
    leaf_ptr: IntArray,
    leaf_node: IntArray,
    leaf: FloatArray,
) -> tuple[float, float]:
    push_x, push_y = 0.0, 0.0
    for number in range(leaf.shape[0]):
        dx, dy = x - leaf[number, 0], y - leaf[number, 1]
        squared = dx * dx + dy * dy
        if leaf[number, 2] < _OPENING * _OPENING * squared:
            push_x += leaf[number, 3] / squared * dx
            push_y += leaf[number, 3] / squared * dy
            continue
        for k in range(leaf_ptr[number], leaf_ptr[number + 1]):
            # The node itself may be among them, at distance 0: no push.
            dx, dy = x - position[leaf_node[k], 0], y - position[leaf_node[k], 1]
            push = mass[leaf_node[k]] / (dx * dx + dy * dy + _SOFTENING)
            push_x += push * dx
            push_y += push * dy
    return push_x, push_y


@numba.njit(nogil=True, cache=True)
def _measure_leaves(
    position: FloatArray, mass: FloatArray, leaf_ptr: IntArray, leaf_node: IntArray, leaf: FloatArray
) -> None:
    # Columns of leaf: centre x and y, squared radius, mass.
    leaf[:] = 0.0
    for number in range(leaf.shape[0]):
        for i in leaf_node[leaf_ptr[number] : leaf_ptr[number + 1]]:
            leaf[number, 0] += mass[i] * position[i, 0]
            leaf[number, 1] += mass[i] * position[i, 1]
            leaf[number, 3] += mass[i]
        leaf[number, 0] /= leaf[number, 3]
        leaf[number, 1] /= leaf[number, 3]
        for i in leaf_node[leaf_ptr[number] : leaf_ptr[number + 1]]:
            dx, dy = position[i, 0] - leaf[number, 0], position[i, 1] - leaf[number, 1]
            leaf[number, 2] = max(leaf[number, 2], dx * dx + dy * dy)


@numba.njit(nogil=True, cache=True)
def pack_shapes(ptr: IntArray, square: IntArray, reach: int) -> IntArray:
    """Shifts [C, 2] that put shapes on a grid, close together, none on another.

    Shape c consists of the squares ``square[ptr[c]:ptr[c + 1]]`` [S, 2] around its own origin; the grid goes from
    −``reach`` to ``reach``. Each shape takes the first site that is free, along the seeds of a sunflower whose heart is
    the balance point of all squares taken before.
    """
    taken = np.zeros((2 * reach + 1, 2 * reach + 1), np.bool_)
    shift = np.zeros((ptr.size - 1, 2), np.int64)
    heart, total, seed = np.zeros(2), np.zeros(2), 0
    for shape in range(ptr.size - 1):
        here = square[ptr[shape] : ptr[shape + 1]]
        before = square[ptr[max(shape - 1, 0)] : ptr[shape]]
        # The same shape again, as isolated nodes are, is refused wherever it was: it goes on from there.
        if shape and (here.size != before.size or not (here == before).all()):
            heart, seed = total / ptr[shape], 0
        while True:
            distance = 0.5 * math.sqrt(seed)
            dx = round(heart[0] + distance * math.cos(seed * _GOLDEN_ANGLE))
            dy = round(heart[1] + distance * math.sin(seed * _GOLDEN_ANGLE))
            if _is_free(taken, here, dx + reach, dy + reach):
                break
            seed += 1
        for k in range(len(here)):
            taken[here[k, 0] + dx + reach, here[k, 1] + dy + reach] = True
            total += here[k]
        shift[shape, 0], shift[shape, 1] = dx, dy
        total[0] += dx * len(here)
        total[1] += dy * len(here)
    return shift


@numba.njit(nogil=True, cache=True)
def _is_free(taken: BoolArray, square: IntArray, dx: int, dy: int) -> bool:
    for k in range(len(square)):  # noqa: SIM110 (numba has no generators)
        if taken[square[k, 0] + dx, square[k, 1] + dy]:
            return False
    return True
