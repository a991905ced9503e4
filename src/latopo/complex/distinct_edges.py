"""The edges under a list of pairs, each once."""

import numpy as np
import torch
from torch import Tensor

from latopo.complex.canonical import edge_keys

__all__ = ["distinct_edges"]


@torch.no_grad()
def distinct_edges(pairs: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """The undirected edges among the pairs [2, D] of different nodes, and which of them each pair is.

    On the CPU by two counting sorts, in O(D + num_nodes).

    Returns:
        edges [2, E], u < v, sorted, and numbers of edges [D].

    Example:
        >>> distinct_edges(torch.tensor([[0, 2, 1], [1, 1, 0]]), num_nodes=3)
        (tensor([[0, 1],
                [1, 2]]), tensor([0, 1, 0]))
    """
    if pairs.device.type == "cpu":
        return _sorted_twice(pairs, num_nodes)
    keys, number = torch.unique(edge_keys(pairs, num_nodes), return_inverse=True)
    return torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)]), number


def _sorted_twice(pairs: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    from latopo.cycles._order import lexicographic_order  # brings the compiler, which takes a moment to load

    ends = pairs.numpy()
    low, high = ends.min(axis=0), ends.max(axis=0)
    order = lexicographic_order(np.stack([low, high], axis=1), num_nodes)
    low, high = low[order], high[order]
    first = np.ones(order.size, np.bool_)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    number = np.empty_like(order)
    number[order] = np.cumsum(first) - 1
    return torch.from_numpy(np.stack([low[first], high[first]])), torch.from_numpy(number)
