"""Two-cells that are not polygons, cut into polygons.

A polygon has three corners or more, all different, and no other polygon has the same boundary. A general 2-cell is
glued along any closed walk: around a corner twice, or along one edge forth and back. Such a cell is cut into pentagons
along its boundary and one polygon in the middle,

    wᵢ — wᵢ₊₁ — mᵢ₊₁ — sᵢ — mᵢ  along the side from corner wᵢ to wᵢ₊₁,    m₀ s₀ m₁ s₁ …  in the middle,

with a new node mᵢ beside every corner and sᵢ beside every side. The space is the same, and so is its homology.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from latopo.complex.canonical import Cells
from latopo.complex.cell_input import group_cycles

__all__ = ["add_cells", "not_polygons"]

Cycle = tuple[int, ...]


def add_cells(graph: Cells, cycles: Sequence[Cycle], prob: Tensor | None = None) -> Cells:
    """The graph with 2-cells along closed walks; those that are not polygons are cut.

    Filtrations keep their persistence: of the new edges, two per corner only tie a new node to it and have probability
    1; the third enters with the 2-cell, when its last side is there.

    Example:
        >>> circle = Cells(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {})
        >>> projective_plane = add_cells(circle, [(0, 1, 2, 0, 1, 2)])
        >>> {length: len(rows) for length, rows in projective_plane.polygons.items()}
        {5: 6, 12: 1}
    """
    odd = not_polygons(cycles)
    polygons = [(cycle, number) for number, cycle in enumerate(cycles) if number not in odd]
    num_nodes, ties, rings = graph.num_nodes, [], []
    for number in odd:
        parts, tie, ring = _cut(cycles[number], num_nodes)
        num_nodes += 2 * len(cycles[number])
        polygons += [(part, number) for part in parts]
        ties += tie
        rings += [(pair, number) for pair in ring]
    rows, order = group_cycles([cycle for cycle, _ in polygons])
    new_edges = torch.tensor([*ties, *(pair for pair, _ in rings)], dtype=torch.int64).view(-1, 2).t()
    return Cells(
        num_nodes,
        torch.cat([graph.edge_index, new_edges], dim=1),
        {length: torch.tensor(part) for length, part in rows.items()},
        _edge_probabilities(graph, cycles, prob, len(ties), [number for _, number in rings]),
        None if prob is None else prob[[polygons[place][1] for place in order]],
        induced=False,
    )


def not_polygons(cycles: Sequence[Cycle]) -> dict[int, str]:
    """Numbers of the cycles that cannot be polygons, with the reason.

    Example:
        >>> not_polygons([(0, 1, 2), (2, 1, 0)])
        {1: 'another one has the same boundary'}
    """
    odd, known = {}, set()
    for number, cycle in enumerate(cycles):
        start = cycle.index(min(cycle))
        forward = cycle[start:] + cycle[:start]
        written = min(forward, forward[:1] + forward[:0:-1])
        if len(cycle) < 3:
            odd[number] = "it has fewer than three corners"
        elif len(set(cycle)) < len(cycle):
            odd[number] = "it meets a corner twice"
        elif written in known:
            odd[number] = "another one has the same boundary"
        known.add(written)
    return odd


def _cut(cycle: Cycle, first: int) -> tuple[list[Cycle], list[tuple[int, int]], list[tuple[int, int]]]:
    """Polygons of a 2-cell, new edges that tie new nodes to corners, and the other new edges; nodes from ``first``."""
    count = len(cycle)
    beside_corner = [first + 2 * i for i in range(count)]
    beside_side = [first + 2 * i + 1 for i in range(count)]
    turn = [(i, (i + 1) % count) for i in range(count)]
    pentagons = [(cycle[i], cycle[j], beside_corner[j], beside_side[i], beside_corner[i]) for i, j in turn]
    ties = [*zip(cycle, beside_corner, strict=True), *zip(beside_corner, beside_side, strict=True)]
    return (
        [*pentagons, tuple(range(first, first + 2 * count))],
        ties,
        [(beside_side[i], beside_corner[j]) for i, j in turn],
    )


def _edge_probabilities(
    graph: Cells, cycles: Sequence[Cycle], prob: Tensor | None, num_ties: int, rings: list[int]
) -> Tensor | None:
    """Of the given edges, of ties, and of ring edges, which belong to the 2-cells of these numbers."""
    if not rings or (prob is None and graph.edge_prob is None):
        return graph.edge_prob
    given = torch.ones(graph.edge_index.size(1)).double() if graph.edge_prob is None else graph.edge_prob
    pairs = map(frozenset, graph.edge_index.t().tolist())
    of_side = dict(zip(pairs, given.tolist(), strict=True))
    entry = {
        number: min(
            1.0 if prob is None else float(prob[number]),
            *(
                of_side[frozenset(side)]
                for side in zip(cycles[number], cycles[number][1:] + cycles[number][:1], strict=True)
            ),
        )
        for number in set(rings)
    }
    return torch.cat([given, given.new_ones(num_ties), given.new_tensor([entry[number] for number in rings])])
