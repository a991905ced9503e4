"""Any ``edge_index`` as the simple undirected graph that it stands for, in compressed rows."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from latopo._arguments import check_dense, check_tensor
from latopo.errors import LatopoError

IntArray = npt.NDArray[np.int64]


class SimpleGraph(NamedTuple):
    """A simple undirected graph in compressed rows, its vertices renamed so that degrees never increase.

    Attributes:
        ptr: [N + 1], row v of ``col`` is ``col[ptr[v]:ptr[v + 1]]``.
        col: [2E], the neighbours of each vertex, ascending in each row.
        label: [N], the place of each vertex in ``names``.
        names: [N], the caller's names, ascending. Vertices without an edge may be left out: a name may be any number,
            and memory grows with the edges.
    """

    ptr: IntArray
    col: IntArray
    label: IntArray
    names: IntArray


def simple_graph(edge_index: Tensor, num_nodes: int) -> SimpleGraph:
    """The simple graph under ``edge_index`` [2, E]: directions, repetitions and self-loops do not matter.

    Vertices are renamed by descending degree (ties: by name). A search from its smallest vertex then starts at hubs and
    never passes through a vertex of higher degree than its start, so a star costs O(E) and not O(E²).

    Example:
        >>> graph = simple_graph(torch.tensor([[0, 2, 2, 1], [2, 0, 1, 1]]), 3)
        >>> graph.label.tolist(), graph.ptr.tolist(), graph.col.tolist()
        ([2, 0, 1], [0, 2, 3, 4], [1, 2, 0, 0])
        >>> simple_graph(torch.tensor([[7], [10**9]]), 2**40).names.tolist()
        [7, 1000000000]
    """
    ends = edge_index.detach().to(device="cpu", dtype=torch.int64).numpy()
    if num_nodes > 4 * ends.size + 16:
        names, places = np.unique(ends, return_inverse=True)
        ends = places.reshape(ends.shape)
    else:
        names = np.arange(num_nodes)
    count = names.size
    low, high = _distinct_pairs(ends, count)
    degree = np.bincount(low, minlength=count) + np.bincount(high, minlength=count)
    label = np.argsort(-degree, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[label] = np.arange(count)
    keys = np.concatenate([rank[low] * count + rank[high], rank[high] * count + rank[low]])
    keys.sort()
    ptr = np.concatenate([[0], np.cumsum(degree[label])])
    return SimpleGraph(ptr, keys % max(count, 1), label, names)


def _distinct_pairs(ends: IntArray, count: int) -> tuple[IntArray, IntArray]:
    low, high = ends.min(axis=0), ends.max(axis=0)
    keys = (low * count + high)[low < high]
    keys.sort()  # and not np.unique, whose hash table is many times slower
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: keys.size]]
    return keys // max(count, 1), keys % max(count, 1)


def check_edge_index(caller: str, edge_index: Tensor, num_nodes: int | None) -> int:
    """The number of nodes, after checking ``edge_index``; the error carries the name of the ``caller``.

    Example:
        >>> check_edge_index("induced_cycles", torch.tensor([[0, 1], [1, 4]]), None)
        5
    """
    if isinstance(edge_index, Tensor):
        check_tensor(caller, "edge_index", edge_index)
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.size(0) != 2:
        came = f"shape {list(edge_index.shape)}" if isinstance(edge_index, Tensor) else type(edge_index).__name__
        raise LatopoError(
            f"{caller}: edge_index must be a tensor of shape [2, num_edges], got {came}; transpose a list of pairs"
        )
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise LatopoError(f"{caller}: edge_index must hold integers, got {edge_index.dtype}; use edge_index.long()")
    check_dense(caller, "edge_index", edge_index)
    if edge_index.dtype in (torch.uint16, torch.uint32, torch.uint64):  # for which torch has next to no operations
        raise LatopoError(f"{caller}: edge_index is {edge_index.dtype}; use edge_index.long()")
    low, high = (int(end) for end in edge_index.aminmax()) if edge_index.numel() else (0, -1)
    if num_nodes is None:
        num_nodes = high + 1
    if isinstance(num_nodes, bool) or not isinstance(num_nodes, int) or num_nodes < 0:
        raise LatopoError(f"{caller}: num_nodes must be an integer of at least 0 or None, got {num_nodes!r}")
    if low < 0 or high >= num_nodes:
        wrong = low if low < 0 else high
        raise LatopoError(
            f"{caller}: edge_index holds vertex {wrong}, expected 0 to {num_nodes - 1}; raise num_nodes or renumber"
        )
    return num_nodes
