"""``induced_cycles`` against igraph's ``simple_cycles`` with a chord filter and networkx's ``chordless_cycles``."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from latopo.bench.harness import Measurement, best_runs
from latopo.cycles import induced_cycles

__all__ = ["chordless_cycles", "measure", "neighbour_graph"]

MAX_LENGTH = 4


def measure(quick: bool = False) -> list[Measurement]:
    """Time triangles and chordless squares of the 8-nearest-neighbour graph of Gaussian points in 8 dimensions.

    2,708 points (15,713 edges; 12,451 triangles, 9,089 chordless squares), or 500 if ``quick``. Compilation
    is not counted; the peers' counts are checked against ours.
    """
    import igraph
    import networkx

    count = 500 if quick else 2708
    edge_index = neighbour_graph(count)
    edges = edge_index.T.tolist()
    by_igraph, by_networkx = igraph.Graph(count, edges), networkx.Graph(edges)
    ((ours, cycles),) = best_runs(lambda: induced_cycles(edge_index, count, MAX_LENGTH), repeats=20)
    found = Counter({length: len(rows) for length, rows in cycles.items()})
    name = f"induced cycles up to {MAX_LENGTH}, 8-NN graph of {count:,} points"
    note = f"{len(edges):,} edges, {found[3]:,} triangles, {found[4]:,} chordless squares"
    peers: dict[str, tuple[Callable[[], list[Any]], float, int]] = {
        "igraph simple_cycles + chord filter": (lambda: chordless_cycles(by_igraph, MAX_LENGTH), 10.0, 3),
        "networkx chordless_cycles": (lambda: list(networkx.chordless_cycles(by_networkx, MAX_LENGTH)), 1000.0, 1),
    }
    rows = []
    for peer, (search, bar, repeats) in peers.items():
        ((seconds, theirs),) = best_runs(search, repeats=repeats)
        if Counter(map(len, theirs)) != found:
            raise RuntimeError(f"bench: {peer} finds other cycles than induced_cycles")
        rows.append(Measurement(name, ours, peer, seconds, bar=bar, note=note))
    return rows


def neighbour_graph(count: int, neighbours: int = 8, dimensions: int = 8) -> Tensor:
    """The union of the directed nearest-neighbour edges of Gaussian points, as ``edge_index`` [2, E], u < v."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(0).standard_normal((count, dimensions))
    nearest = cKDTree(points).query(points, neighbours + 1)[1][:, 1:]
    ends = np.stack([np.repeat(np.arange(count), neighbours), nearest.ravel()])
    return torch.from_numpy(np.unique(np.sort(ends, axis=0), axis=1))


def chordless_cycles(graph: Any, longest: int) -> list[tuple[int, ...]]:
    """Induced cycles of an igraph graph: all simple cycles, without those that have a chord."""
    adjacent = set(graph.get_edgelist())
    adjacent |= {(v, u) for u, v in adjacent}
    apart = {k: [(a, b) for a, b in combinations(range(k), 2) if b - a not in (1, k - 1)] for k in range(longest + 1)}
    cycles = map(tuple, graph.simple_cycles(min=3, max=longest))
    return [c for c in cycles if not (apart[len(c)] and any((c[a], c[b]) in adjacent for a, b in apart[len(c)]))]
