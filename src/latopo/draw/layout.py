"""Positions of the nodes: a force layout of each connected component, the components packed into a square.

igraph was tried here: its force layouts turn Cora into a hairball, scatter isolated nodes far away, and are slower up
to 600 nodes; and a notebook's drawing should not need an extra.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from latopo._parallel import row_blocks
from latopo.draw._kernels import FloatArray, IntArray, count_common, pack_discs, settle
from latopo.draw.drawable import Drawable

_PIVOTS = 40
_MOST_HOPS = 10**6  # counted at a time
_STEPS = 300
_GRAVITY = 0.1
# Share of an edge's pull that it has even if its ends share no neighbour.
_BASE_PULL = 0.3
# Of the grid on which components are packed, in each direction.
_MOST_POINTS = 100


def layout(complex: Drawable, seed: int = 0) -> FloatArray:
    """Positions that show the communities of a complex: [N, 2] float64, centred, longest side from −1 to 1.

    Each component starts at a classical scaling of its hop distances to a few pivots, then settles under forces: edges
    pull, the more strongly the more neighbours their ends share (if edges inside communities and edges between them
    pulled alike, the picture would be a hairball); nodes push with their degrees, so that hubs get room. Then the
    components are packed, isolated nodes last.

    The same complex and seed give the same bits on the same machine. Made for up to 5,000 nodes (Cora's 2,708 take half
    a second); the time grows as N². For more nodes see :func:`~latopo.draw.sample_neighborhoods`.

    Example:
        >>> from latopo import CellComplex
        >>> import torch
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> layout(path).shape
        (3, 2)
    """
    if complex.num_nodes == 0:
        return np.zeros((0, 2))
    graph = _weighted_graph(complex)
    count, component = connected_components(graph, directed=False)
    order = np.argsort(component, kind="stable")
    components = np.split(order, np.searchsorted(component[order], np.arange(1, count)))
    position = np.zeros((complex.num_nodes, 2))
    generator = np.random.default_rng(seed)
    for nodes in components:
        if nodes.size > 1:
            position[nodes] = _place(graph[nodes][:, nodes] if count > 1 else graph, generator)
    position = pack(position, components, _typical_length(position, complex))
    low, high = position.min(axis=0), position.max(axis=0)
    return (position - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-300)


def pack(position: FloatArray, components: list[IntArray], gap: float) -> FloatArray:
    """Shift components (lists of nodes) of ``position`` [N, 2] so that their discs are ``gap`` apart."""
    position = position.copy()
    radius = np.empty(len(components))
    for number, nodes in enumerate(components):
        position[nodes] -= (position[nodes].max(axis=0) + position[nodes].min(axis=0)) / 2
        radius[number] = np.linalg.norm(position[nodes], axis=1).max() + gap / 2
    order = np.argsort(-radius, kind="stable")
    # 16 Σr² is more than the area from which placed discs bar a smaller one, 4π Σr²: there is always a free point.
    half = 2 * float(np.linalg.norm(radius))
    pitch = max(gap, half / max(_MOST_POINTS / 2, len(components) ** 0.5))
    for number, shift in zip(order, pack_discs(radius[order], pitch, int(half / pitch) + 1), strict=True):
        position[components[number]] += shift
    return position


def _typical_length(position: FloatArray, complex: Drawable) -> float:
    u, v = complex.edge_index.cpu().numpy()
    return float(np.median(np.linalg.norm(position[u] - position[v], axis=1))) if u.size else 1.0


def _weighted_graph(complex: Drawable) -> csr_array:
    u, v = complex.edge_index.cpu().numpy()
    size = complex.num_nodes
    graph = csr_array((np.ones(2 * u.size), (np.r_[u, v], np.r_[v, u])), shape=(size, size))
    graph.sort_indices()
    common = count_common(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    degree = np.diff(graph.indptr)
    # Jaccard's index of the two neighbourhoods, the ends themselves left out.
    union = np.repeat(degree, degree) + degree[graph.indices] - 2 - common
    graph.data = _BASE_PULL + (1 - _BASE_PULL) * common / np.maximum(union, 1)
    return graph


def _place(graph: csr_array, generator: np.random.Generator) -> FloatArray:
    position = np.ascontiguousarray(_initial(graph, generator).T, np.float32)
    mass = (np.diff(graph.indptr) + 1).astype(np.float32)
    cooling = 0.3 * (1 - np.arange(_STEPS, dtype=np.float32) / _STEPS) ** 2 + np.float32(0.001)
    ptr, neighbor = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    settle(position, mass, ptr, neighbor, graph.data.astype(np.float32), _GRAVITY, cooling)
    return position.T.astype(np.float64)


def _initial(graph: csr_array, generator: np.random.Generator) -> FloatArray:
    size = graph.shape[0]
    narrow = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)  # older versions of scipy take no others
    paths = csr_array((graph.data, *narrow), shape=graph.shape)
    pivots = generator.permutation(size)[:_PIVOTS]
    blocks = row_blocks(pivots.size, _MOST_HOPS // size)  # a call does not answer Ctrl-C
    hops = np.vstack([dijkstra(paths, unweighted=True, indices=pivots[first:last]) for first, last in blocks]).T
    squares = hops**2
    centered = squares.mean(axis=0) + squares.mean(axis=1, keepdims=True) - squares.mean() - squares
    # einsum, not @: BLAS may add in another order with another number of threads.
    axes = np.linalg.eigh(np.einsum("nj,nk->jk", centered, centered))[1][:, -2:]
    position = np.einsum("nj,jk->nk", centered, axes)
    position *= hops.max() / max(np.abs(position).max(), 1e-300)
    # Twins, at equal distances from all pivots, must not start on one spot.
    return position + 0.1 * generator.standard_normal((size, 2))
