"""The chordless cycles of many graphs in one search."""

import torch
from torch import Tensor

from latopo.cycles.induced_cycles import sample_induced_cycles

__all__ = ["grouped_cycles"]


def grouped_cycles(
    edge_index: Tensor, ptr: Tensor, max_length: int, budget: int, seed: int = 0
) -> tuple[dict[int, Tensor], int]:
    """The induced cycles of each of several graphs, at most ``budget`` of each, and how many there are in all.

    They are searched for in all graphs at once. Only if there are more than the budget in all of them together, each
    graph is searched for itself, and one that has more than the budget gets a uniform sample.

    Args:
        edge_index: [2, E], u < v, sorted; no edge runs between two graphs.
        ptr: graph g has the nodes ``ptr[g]`` to ``ptr[g + 1]``, int64 [G + 1].
        max_length: the largest cycle length, at least 3.
        budget: the most cycles of one graph.
        seed: of the samples.

    Example:
        >>> two_triangles = torch.tensor([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]])
        >>> grouped_cycles(two_triangles, torch.tensor([0, 3, 6]), 3, budget=1)
        ({3: tensor([[0, 1, 2],
                [3, 4, 5]])}, 2)
    """

    def search(edges: Tensor, num_nodes: int) -> tuple[dict[int, Tensor], int]:
        generator = torch.Generator().manual_seed(seed)
        return sample_induced_cycles(edges, num_nodes, max_length, budget=budget, generator=generator)

    bounds = ptr.tolist()
    cycles, total = search(edge_index, bounds[-1])
    if total <= budget:
        return cycles, total
    starts = torch.searchsorted(edge_index[0].contiguous(), ptr).tolist()
    found = []
    for number, first in enumerate(bounds[:-1]):
        edges = edge_index[:, starts[number] : starts[number + 1]] - first
        part, _ = search(edges, bounds[number + 1] - first)
        found.append({length: rows + first for length, rows in part.items()})
    return {length: torch.cat([part[length] for part in found]) for length in cycles}, total
