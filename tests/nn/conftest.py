"""Small complexes and points on which every count is known, and the gradient check that all layers must pass."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from latopo import CellComplex, induced_cycles


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors here are tiny: on a busy machine threads that wait for each other would cost several times more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def house() -> CellComplex:
    """A square 0-1-2-3, a roof 2-3-4, a tail 4-5, and node 6 alone; edges 01 03 12 23 24 34 45."""
    edge_index = torch.tensor([[0, 0, 1, 2, 2, 3, 4], [1, 3, 2, 3, 4, 4, 5]])
    polygons = {3: torch.tensor([[2, 3, 4]]), 4: torch.tensor([[0, 1, 2, 3]])}
    edge_prob = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], dtype=torch.float64)
    return CellComplex(7, edge_index, polygons, edge_prob, torch.tensor([0.9, 0.3], dtype=torch.float64))


@pytest.fixture
def points() -> Tensor:
    """Points [40, 6] on which gain 5 gives a graph with many triangles and squares."""
    return torch.randn(40, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def ring() -> Tensor:
    """An input graph on 40 nodes in both directions: a cycle through the first 30, the others isolated."""
    start = torch.arange(30)
    edge_index = torch.stack([start, (start + 1) % 30])
    return torch.cat([edge_index, edge_index.flip(0)], dim=1)


@pytest.fixture
def silent() -> Callable[[nn.Module], set[str]]:
    """The parameters of a module that got no gradient: None, or below 1e-9 of the largest; all must be finite."""

    def names(module: nn.Module) -> set[str]:
        sizes = {}
        for name, parameter in module.named_parameters():
            gradient = parameter.grad if parameter.grad is not None else torch.zeros(1)
            assert torch.isfinite(gradient).all(), name
            sizes[name] = float(gradient.abs().max())
        largest = max(sizes.values())
        assert largest > 0
        return {name for name, size in sizes.items() if size <= 1e-9 * largest}

    return names


@pytest.fixture
def random_complex() -> Callable[[int], CellComplex]:
    """A complex on 12 nodes by its seed: random edges, half of their cycles up to length 5, random probabilities."""

    def make(seed: int) -> CellComplex:
        generator = torch.Generator().manual_seed(seed)
        pairs = torch.combinations(torch.arange(12))
        edges = pairs[torch.rand(len(pairs), generator=generator) < 0.3].t()
        cycles = induced_cycles(edges, 12, 5).items()
        polygons = {length: rows[torch.rand(len(rows), generator=generator) < 0.5] for length, rows in cycles}
        count = sum(len(rows) for rows in polygons.values())
        probs = [torch.rand(size, generator=generator, dtype=torch.float64) for size in (edges.size(1), count)]
        return CellComplex(12, edges, polygons, *probs)

    return make
