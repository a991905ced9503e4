"""Two-cells that are not polygons, cut into polygons.

A polygon has three corners or more, all different, and no other polygon has the same boundary. A general 2-cell is
glued along any closed walk: around a corner twice, or along one edge forth and back. Such a cell is cut into pentagons
along its boundary and one polygon in the middle,

    corner wᵢ — wᵢ₊₁ — mᵢ₊₁ — sᵢ — mᵢ,    middle m₀ s₀ m₁ s₁ …

with a new node mᵢ beside every corner and sᵢ beside every side. Space and homology stay the same.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from latopo.complex.canonical import Cells
from latopo.complex.cell_input import group_cycles
from latopo.errors import LatopoError

__all__ = ["add_cells"]

Cycle = tuple[int, ...]


def add_cells(graph: Cells, cycles: Sequence[Cycle], prob: Tensor | None, allowed: bool) -> Cells:
    """The ``graph`` with 2-cells along the closed walks ``cycles``; those that are not polygons are subdivided.

    New cells enter the filtration when their 2-cell does: new edges get its probability, or its sides' if smaller.

    Example:
        >>> path = Cells(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {})
        >>> projective_plane = add_cells(path, [(0, 1, 2, 0, 1, 2)], None, allowed=True)
        >>> {length: rows.shape[0] for length, rows in projective_plane.polygons.items()}
        {5: 6, 12: 1}
    """
    kept, pairs, numbers = [], [], []
    edge_prob: list[float] = []
    known: set[Cycle] = set()
    sides = _side_probabilities(graph)
    num_nodes = graph.num_nodes
    for number, cycle in enumerate(cycles):
        why = _not_a_polygon(cycle, known)
        if why is None:
            parts: list[Cycle] = [cycle]
            known.add(_canonical(cycle))
        elif not allowed:
            raise LatopoError(
                f"CellComplex: the 2-cell {cycle} is not a polygon ({why}); subdivide=True cuts such cells into "
                "polygons, which leaves the space and its homology as they are"
            )
        else:
            parts, added = _collar(cycle, num_nodes)
            num_nodes += 2 * len(cycle)
            pairs += added
            edge_prob += len(added) * [_entry(cycle, sides, 1.0 if prob is None else float(prob[number]))]
        kept += parts
        numbers += len(parts) * [number]
    rows, order = group_cycles(kept)
    return Cells(
        num_nodes,
        torch.cat([graph.edge_index, torch.tensor(pairs, dtype=torch.int64).view(-1, 2).t()], dim=1),
        {length: torch.tensor(part) for length, part in rows.items()},
        None if graph.edge_prob is None else torch.cat([graph.edge_prob, graph.edge_prob.new_tensor(edge_prob)]),
        None if prob is None else prob[torch.tensor(numbers, dtype=torch.int64)][order],
        induced=False,
    )


def _not_a_polygon(cycle: Cycle, known: set[Cycle]) -> str | None:
    if len(cycle) < 3:
        return "it has fewer than three corners"
    if len(set(cycle)) < len(cycle):
        return "it meets a corner twice"
    return "another one has the same boundary" if _canonical(cycle) in known else None


def _canonical(cycle: Cycle) -> Cycle:
    start = cycle.index(min(cycle))
    forward = cycle[start:] + cycle[:start]
    return min(forward, forward[:1] + forward[:0:-1])


def _collar(cycle: Cycle, first: int) -> tuple[list[Cycle], list[tuple[int, int]]]:
    """The polygons and the new edges of a 2-cell; new nodes are numbered from ``first``, in the order of the middle."""
    middle = tuple(range(first, first + 2 * len(cycle)))
    at_corner, at_side = middle[::2], middle[1::2]
    following = [(*range(1, len(cycle)), 0)[i] for i in range(len(cycle))]
    pentagons = [(cycle[i], cycle[j], at_corner[j], at_side[i], at_corner[i]) for i, j in enumerate(following)]
    ring = list(zip(middle, middle[1:] + middle[:1], strict=True))
    return [*pentagons, middle], [*zip(cycle, at_corner, strict=True), *ring]


def _side_probabilities(cells: Cells) -> dict[frozenset[int], float]:
    if cells.edge_prob is None:
        return {}
    pairs = cells.edge_index.t().tolist()
    return {frozenset(pair): value for pair, value in zip(pairs, cells.edge_prob.tolist(), strict=True)}


def _entry(cycle: Cycle, sides: dict[frozenset[int], float], prob: float) -> float:
    return min([prob, *(sides.get(frozenset(pair), 1.0) for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True))])
