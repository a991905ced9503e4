"""Positions of the nodes: a force layout of each connected component, the components packed around the largest."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from latopo.complex import CellComplex
from latopo.draw._kernels import FloatArray, IntArray, count_common, pivot_distances, settle
from latopo.draw.packing import pack

_PIVOTS = 40
_ROUNDS = 30
_STEPS_PER_ROUND = 10
_GRAVITY = 0.1
# Share of an edge's pull that it has even if its ends share no neighbour.
_BASE_PULL = 0.3
_LEAF_SIZE = 16


class _Graph(NamedTuple):
    ptr: IntArray
    neighbor: IntArray
    weight: FloatArray


def layout(complex: CellComplex, seed: int = 0) -> FloatArray:
    """Positions that show the communities of a complex: [N, 2] float64, centred, longest side from −1 to 1.

    Each component starts at a classical scaling of its hop distances to a few pivots, then settles under forces: edges
    pull, the more strongly the more neighbours their ends share (what holds a community together and what only passes
    between two pull alike otherwise, and the picture is a ball of hair); nodes push with their degrees, so that hubs
    get room. Then the components are packed, isolated nodes last.

    The same complex and seed give the same bits. Made for up to 5,000 nodes (Cora's 2,708 take about a second); the
    time grows as N^1.5. For more nodes see :func:`~latopo.draw.sample_neighborhoods`.

    Example:
        >>> import torch
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> layout(path).shape
        (3, 2)
    """
    if complex.num_nodes == 0:
        return np.zeros((0, 2))
    graph = _weighted_graph(complex)
    position = np.zeros((complex.num_nodes, 2))
    components = _components(graph, complex.num_nodes)
    generator = np.random.default_rng(seed)
    for nodes in components:
        if nodes.size > 1:
            position[nodes] = _place(_subgraph(graph, nodes), generator)
    return _fit(pack(position, components, complex.edge_index.t().cpu().numpy()))


def _weighted_graph(complex: CellComplex) -> _Graph:
    u, v = complex.edge_index.cpu().numpy()
    size = complex.num_nodes
    matrix = csr_array((np.ones(2 * u.size), (np.r_[u, v], np.r_[v, u])), shape=(size, size))
    matrix.sort_indices()
    ptr, neighbor = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    common = count_common(ptr, neighbor)
    degree = np.diff(ptr)
    # Jaccard's index of the two neighbourhoods, the ends themselves left out.
    union = np.repeat(degree, degree) + degree[neighbor] - 2 - common
    return _Graph(ptr, neighbor, _BASE_PULL + (1 - _BASE_PULL) * common / np.maximum(union, 1))


def _components(graph: _Graph, size: int) -> list[IntArray]:
    matrix = csr_array((graph.weight, graph.neighbor, graph.ptr), shape=(size, size))
    count, component = connected_components(matrix, directed=False)
    order = np.argsort(component, kind="stable")
    return np.split(order, np.searchsorted(component[order], np.arange(1, count)))


def _subgraph(graph: _Graph, nodes: IntArray) -> _Graph:
    # A whole component in increasing order: rows are gathered, neighbours renumbered, nothing is lost.
    degree = np.diff(graph.ptr)[nodes]
    ptr = np.concatenate([[0], np.cumsum(degree)])
    entry = np.repeat(graph.ptr[nodes] - ptr[:-1], degree) + np.arange(ptr[-1])
    return _Graph(ptr, np.searchsorted(nodes, graph.neighbor[entry]), graph.weight[entry])


def _place(graph: _Graph, generator: np.random.Generator) -> FloatArray:
    position = _initial(graph, generator)
    mass = np.diff(graph.ptr) + 1.0
    # Small components are many, and soon at rest.
    rounds = _ROUNDS if len(position) > _LEAF_SIZE else _ROUNDS // 3
    for done in np.arange(rounds) / rounds:
        temperature = 0.3 * (1 - done) ** 2 + 0.001
        settle(position, mass, *graph, *_leaves(position), _GRAVITY, temperature, _STEPS_PER_ROUND)
        position -= position.mean(axis=0)
    return position


def _initial(graph: _Graph, generator: np.random.Generator) -> FloatArray:
    size = graph.ptr.size - 1
    hops = pivot_distances(graph.ptr, graph.neighbor, int(generator.integers(size)), min(_PIVOTS, size))
    squares = hops**2
    centered = squares.mean(axis=0) + squares.mean(axis=1, keepdims=True) - squares.mean() - squares
    # einsum, not @: BLAS may add in another order with another number of threads.
    axes = np.linalg.eigh(np.einsum("nj,nk->jk", centered, centered))[1][:, -2:]
    position = np.einsum("nj,jk->nk", centered, axes)
    position *= hops.max() / max(np.abs(position).max(), 1e-300)
    # Twins, at equal distances from all pivots, must not start on one spot.
    return position + 0.1 * generator.standard_normal((size, 2))


def _leaves(position: FloatArray) -> tuple[IntArray, IntArray]:
    """Nodes in leaves of about equal number: columns by x, each cut into rows by y; pointers [L + 1] and nodes [N]."""
    size = len(position)
    columns = max(1, round((size / _LEAF_SIZE) ** 0.5))
    if columns == 1:
        return np.array([0, size]), np.arange(size)
    rank = np.empty(size, np.int64)
    rank[np.argsort(position[:, 0], kind="stable")] = np.arange(size)
    column = rank * columns // size
    node = np.lexsort((position[:, 1], column))
    first = np.searchsorted(column[node], np.arange(columns + 1))
    inner = first[:-1, None] + np.diff(first)[:, None] * np.arange(columns) // columns
    return np.append(inner, size), node


def _fit(position: FloatArray) -> FloatArray:
    low, high = position.min(axis=0), position.max(axis=0)
    return (position - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-300)
