"""Small complexes whose every number is known, and random ones."""

from collections.abc import Callable

import networkx as nx
import pytest
import torch

from latopo import CellComplex


@pytest.fixture(scope="session")
def house() -> CellComplex:
    """A square 0-1-2-3 with a roof 2-3-4 on it, and node 5 by itself; edges 01 03 12 23 24 34."""
    edge_index = torch.tensor([[0, 0, 1, 2, 2, 3], [1, 3, 2, 3, 4, 4]])
    polygons = {3: torch.tensor([[2, 3, 4]]), 4: torch.tensor([[0, 1, 2, 3]])}
    edge_prob = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], dtype=torch.float64)
    return CellComplex(6, edge_index, polygons, edge_prob, torch.tensor([0.7, 0.8], dtype=torch.float64))


@pytest.fixture(scope="session")
def empty() -> CellComplex:
    return CellComplex(0, torch.zeros(2, 0, dtype=torch.int64))


@pytest.fixture(scope="session")
def from_polygons() -> Callable[[list[list[int]]], CellComplex]:
    """The complex that consists of these polygons, their sides and their vertices."""

    def build(cells: list[list[int]]) -> CellComplex:
        pairs = {tuple(sorted(pair)) for cell in cells for pair in zip(cell, cell[1:] + cell[:1], strict=True)}
        lengths = {len(cell) for cell in cells}
        polygons = {length: torch.tensor([cell for cell in cells if len(cell) == length]) for length in lengths}
        return CellComplex(max(map(max, cells)) + 1, torch.tensor(sorted(pairs)).t(), polygons)

    return build


@pytest.fixture(scope="session")
def random_complex() -> Callable[..., CellComplex]:
    """A random graph with some of its induced cycles as polygons, and random probabilities."""

    def build(seed: int, num_nodes: int = 8, density: float = 0.45, share: float = 0.7) -> CellComplex:
        graph = nx.gnp_random_graph(num_nodes, density, seed=seed)
        generator = torch.Generator().manual_seed(seed)
        cycles = [cycle for cycle in nx.chordless_cycles(graph, length_bound=5) if len(cycle) > 2]
        cycles = [cycle for cycle in cycles if float(torch.rand(1, generator=generator)) < share]
        polygons = {
            length: torch.tensor([cycle for cycle in cycles if len(cycle) == length], dtype=torch.int64).view(
                -1, length
            )
            for length in (3, 4, 5)
        }
        edge_index = torch.tensor(list(graph.edges), dtype=torch.int64).view(-1, 2).t()
        edge_prob = torch.rand(edge_index.size(1), generator=generator, dtype=torch.float64)
        polygon_prob = torch.rand(len(cycles), generator=generator, dtype=torch.float64)
        return CellComplex(num_nodes, edge_index, polygons, edge_prob, polygon_prob)

    return build
