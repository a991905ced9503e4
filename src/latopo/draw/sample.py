"""A part of a complex that is too large to draw: neighbourhoods of random nodes."""

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from latopo.draw._kernels import IntArray
from latopo.draw.drawable import Drawable
from latopo.errors import LatopoError

_NEIGHBORHOODS = 20


def sample_neighborhoods(complex: Drawable, max_nodes: int, seed: int = 0) -> IntArray:
    """Node numbers, increasing: all of them if there are at most ``max_nodes``, else that many in connected patches.

    A uniform sample of nodes would lose nearly all edges and polygons; here random nodes are taken with what is around
    them, breadth first, a twentieth of ``max_nodes`` each.

    Example:
        >>> from latopo import CellComplex
        >>> import torch
        >>> path = CellComplex(6, torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]))
        >>> sample_neighborhoods(path, 6)
        array([0, 1, 2, 3, 4, 5])
        >>> sample_neighborhoods(path, 2).size
        2
    """
    if max_nodes < 1:
        raise LatopoError(f"sample_neighborhoods: max_nodes is {max_nodes}, expected at least 1")
    if complex.num_nodes <= max_nodes:
        return np.arange(complex.num_nodes)
    u, v = complex.edge_index.cpu().numpy()
    graph = csr_array((np.ones(u.size), (u, v)), shape=(complex.num_nodes, complex.num_nodes))
    graph = csr_array(graph + graph.T)
    taken = np.zeros(complex.num_nodes, dtype=bool)
    patch, room = -(-max_nodes // _NEIGHBORHOODS), max_nodes
    for start in np.random.default_rng(seed).permutation(complex.num_nodes):
        if room and not taken[start]:
            around = breadth_first_order(graph, start, return_predecessors=False)
            fresh = around[~taken[around]][: min(patch, room)]
            taken[fresh] = True
            room -= fresh.size
    return np.flatnonzero(taken)


def take_nodes(complex: Drawable, node_ids: IntArray) -> Any:
    """The cells among some nodes; the complex itself if those are all."""
    if len(node_ids) == complex.num_nodes:
        return complex
    return complex.subcomplex(torch.from_numpy(node_ids).to(complex.device))


def sample_note(drawn: int, total: int) -> str:
    """What a figure says about a sample."""
    return f"{drawn:,} of {total:,} nodes: neighbourhoods of random nodes, with all cells among them"
