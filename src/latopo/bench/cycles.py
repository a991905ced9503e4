"""``induced_cycles`` against igraph's ``simple_cycles`` with a chord filter and networkx's ``chordless_cycles``."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from latopo.bench.harness import Measurement, best_times
from latopo.cycles import induced_cycles

__all__ = ["measure"]

MAX_LENGTH = 4


def measure(quick: bool = False) -> list[Measurement]:
    """Time triangles and chordless squares of the 8-nearest-neighbour graph of Gaussian points in 8 dimensions.

    2,708 points (15,713 edges; 12,451 triangles, 9,089 chordless squares), or 500 and no bar if ``quick``. Both sides
    start from a graph in their own form; compilation is not counted, the peers' counts are checked against ours.
    """
    count = 500 if quick else 2708
    edge_index = neighbour_graph(count)
    (ours,) = best_times(lambda: induced_cycles(edge_index, count, MAX_LENGTH), repeats=20)
    found = {length: len(rows) for length, rows in induced_cycles(edge_index, count, MAX_LENGTH).items()}
    rows = []
    note = f"{edge_index.size(1):,} edges, {found[3]:,} triangles, {found[4]:,} chordless squares"
    for peer, prepare, bar, repeats in (
        ("igraph simple_cycles + chord filter", _igraph, 10.0, 3),
        ("networkx chordless_cycles", _networkx, 1000.0, 1),
    ):
        seconds, lengths = _time_peer(prepare(edge_index, count), repeats)
        if {length: lengths.count(length) for length in found} != found:
            raise RuntimeError(f"bench: {peer} finds other cycles than induced_cycles")
        name = f"induced cycles up to {MAX_LENGTH}, 8-NN graph of {count:,} points"
        rows.append(Measurement(name, ours, peer, seconds, bar=None if quick else bar, note=note))
    return rows


def neighbour_graph(count: int, neighbours: int = 8, dimensions: int = 8) -> Tensor:
    """The union of the directed nearest-neighbour edges of Gaussian points, as ``edge_index`` [2, E], u < v.

    Example:
        >>> neighbour_graph(2708).shape
        torch.Size([2, 15713])
    """
    from scipy.spatial import cKDTree

    points = np.random.default_rng(0).standard_normal((count, dimensions))
    nearest = cKDTree(points).query(points, neighbours + 1)[1][:, 1:]
    ends = np.stack([np.repeat(np.arange(count), neighbours), nearest.ravel()])
    return torch.from_numpy(np.unique(np.sort(ends, axis=0), axis=1))


def _time_peer(search: Callable[[], list[int]], repeats: int) -> tuple[float, list[int]]:
    answers: list[list[int]] = []
    (seconds,) = best_times(lambda: answers.append(search()), repeats=repeats)
    return seconds, answers[-1]


def _igraph(edge_index: Tensor, count: int) -> Callable[[], list[int]]:
    import igraph

    edges = edge_index.T.tolist()
    graph = igraph.Graph(count, edges)
    adjacent = {(u, v) for u, v in edges} | {(v, u) for u, v in edges}

    def search() -> list[int]:
        cycles = graph.simple_cycles(min=3, max=MAX_LENGTH)
        return [len(c) for c in cycles if len(c) == 3 or not ((c[0], c[2]) in adjacent or (c[1], c[3]) in adjacent)]

    return search


def _networkx(edge_index: Tensor, count: int) -> Callable[[], list[int]]:
    import networkx

    graph = networkx.Graph(edge_index.T.tolist())
    return lambda: [len(cycle) for cycle in networkx.chordless_cycles(graph, MAX_LENGTH)]
