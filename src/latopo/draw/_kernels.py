"""Compiled parts of the layout: common neighbours, the force layout, and the packing of components.

All in one thread: a layout has the same bits on every run, and Cora's takes half a second. Kernels work for a
fraction of a second and come back to Python, which answers Ctrl-C.
"""

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from latopo._numba import njit
from latopo._parallel import row_blocks

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# Keeps the push of two nodes on one spot finite.
_SOFTENING = np.float32(1e-4)
_SLICE = 2**27  # pairs of nodes, neighbours or points of a grid that one call of a kernel looks at


def count_common(ptr: IntArray, neighbor: IntArray) -> FloatArray:
    """For each entry of a symmetric CSR graph with sorted rows, the number of neighbours that its two ends share."""
    common, degree = np.zeros(neighbor.size), np.diff(ptr)
    row = np.repeat(np.arange(ptr.size - 1), degree)
    work = np.cumsum(degree[row] + degree[neighbor])
    cuts = np.searchsorted(work, np.arange(_SLICE, work[-1], _SLICE)) + 1 if work.size else ()
    for first, last in pairwise([0, *cuts, neighbor.size]):
        _count_common(ptr, neighbor, row, first, last, common)
    return common


@njit(nogil=True, cache=True)
def _count_common(ptr: IntArray, neighbor: IntArray, row: IntArray, first: int, last: int, common: FloatArray) -> None:
    for entry in range(first, last):
        a, b = ptr[row[entry]], ptr[neighbor[entry]]
        a_stop, b_stop = ptr[row[entry] + 1], ptr[neighbor[entry] + 1]
        while a < a_stop and b < b_stop:
            step = neighbor[a] - neighbor[b]
            common[entry] += step == 0
            a += step <= 0
            b += step >= 0


# With these two options, and only with both, the loop uses vector instructions: all pairs are then faster than a tree
# up to 5,000 nodes, and simpler.
@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _push(i: int, x: SingleArray, y: SingleArray, mass: SingleArray) -> tuple[np.float32, np.float32]:
    push_x = push_y = np.float32(0)
    for j in range(x.size):
        dx, dy = x[i] - x[j], y[i] - y[j]
        push = mass[j] / (dx * dx + dy * dy + _SOFTENING)
        push_x += push * dx
        push_y += push * dy
    return push_x, push_y


def settle(
    position: SingleArray,
    mass: SingleArray,
    ptr: IntArray,
    neighbor: IntArray,
    weight: SingleArray,
    gravity: float,
    temperatures: Iterable[float],
) -> None:
    """Move ``position`` [2, N], in place, by one step of the force layout per temperature.

    Edges pull with weight × distance, all pairs push with mass × mass / distance, gravity pulls with mass × distance to
    the origin. No node moves farther than the temperature times the size of the layout.
    """
    nodes = row_blocks(mass.size, _SLICE // mass.size)
    move, size = np.empty_like(position), _size(position)
    for temperature in map(float, temperatures):
        for first, last in nodes:
            _find_moves(position, mass, ptr, neighbor, weight, gravity, temperature * size, first, last, move)
        size = _apply_moves(position, move)


@njit(nogil=True, cache=True)
def _size(position: SingleArray) -> float:
    return math.sqrt((position**2).sum() / position.shape[1])


@njit(nogil=True, cache=True)
def _apply_moves(position: SingleArray, move: SingleArray) -> float:
    """Move the nodes and centre them; returns the size of the layout."""
    position += move
    x, y = position[0], position[1]
    x -= x.mean()
    y -= y.mean()
    return _size(position)


@njit(nogil=True, cache=True)
def _find_moves(
    position: SingleArray,
    mass: SingleArray,
    ptr: IntArray,
    neighbor: IntArray,
    weight: SingleArray,
    gravity: float,
    limit: float,
    first: int,
    last: int,
    move: SingleArray,
) -> None:
    """The moves of the nodes from ``first`` to ``last``, none of them farther than ``limit``."""
    x, y = position[0], position[1]  # and not unpacked, which numba takes for strided
    for i in range(first, last):
        push_x, push_y = _push(i, x, y, mass)
        stiffness = gravity * mass[i]
        force_x, force_y = mass[i] * push_x - stiffness * x[i], mass[i] * push_y - stiffness * y[i]
        for k in range(ptr[i], ptr[i + 1]):
            force_x += weight[k] * (x[neighbor[k]] - x[i])
            force_y += weight[k] * (y[neighbor[k]] - y[i])
            stiffness += weight[k]
        # Divided by the stiffness: a step to the balance point if the others stood still, whatever the degree. Half of
        # it at most: all nodes move at once, and two that pull at each other would swap places.
        length = math.sqrt(force_x**2 + force_y**2) / stiffness
        share = min(0.5, limit / max(length, 1e-30)) / stiffness
        move[0, i], move[1, i] = share * force_x, share * force_y


def pack_discs(radius: FloatArray, pitch: float, reach: int) -> FloatArray:
    """Centres [C, 2] of discs that do not overlap, in a square as small as can be.

    One after the other, each takes the free point of a grid (−``reach`` to ``reach``, ``pitch`` apart) at which the
    longer side of the picture grows least; of several such points, the one nearest to the middle.
    """
    at = pitch * np.arange(-reach, reach + 1)
    room = np.full((at.size, at.size), np.inf)  # from each point to the nearest disc
    centre = np.zeros((radius.size, 2))
    corners = np.zeros((2, 2))  # of the picture
    for first, last in row_blocks(radius.size, _SLICE // room.size):
        _place_discs(radius, at, first, last, room, corners, centre)
    return centre


@njit(nogil=True, cache=True)
def _place_discs(
    radius: FloatArray, at: FloatArray, first: int, last: int, room: FloatArray, corners: FloatArray, centre: FloatArray
) -> None:
    low, high = corners[0], corners[1]
    for disc in range(first, last):
        r, best, middle = radius[disc], np.inf, (low + high) / 2
        for a in range(at.size):
            for b in range(at.size):
                if room[a, b] >= r:
                    width = max(high[0], at[a] + r) - min(low[0], at[a] - r)
                    height = max(high[1], at[b] + r) - min(low[1], at[b] - r)
                    cost = max(width, height) + 1e-3 * math.sqrt((at[a] - middle[0]) ** 2 + (at[b] - middle[1]) ** 2)
                    if cost < best:
                        best, centre[disc, 0], centre[disc, 1] = cost, at[a], at[b]
        for a in range(at.size):
            for b in range(at.size):
                away = math.sqrt((at[a] - centre[disc, 0]) ** 2 + (at[b] - centre[disc, 1]) ** 2)
                room[a, b] = min(room[a, b], away - r)
        low[:], high[:] = np.minimum(low, centre[disc] - r), np.maximum(high, centre[disc] + r)
