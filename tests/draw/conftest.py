"""Small complexes to draw."""

import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from latopo import CellComplex


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture(scope="session")
def house() -> CellComplex:
    """A square 0-1-2-3 with a roof 2-3-4 on it, and node 5 by itself."""
    edge_index = torch.tensor([[0, 0, 1, 2, 2, 3], [1, 3, 2, 3, 4, 4]])
    polygons = {3: torch.tensor([[2, 3, 4]]), 4: torch.tensor([[0, 1, 2, 3]])}
    edge_prob = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    return CellComplex(6, edge_index, polygons, edge_prob, torch.tensor([0.4, 0.8]))


@pytest.fixture(scope="session")
def empty() -> CellComplex:
    return CellComplex(0, torch.zeros(2, 0, dtype=torch.int64))


@pytest.fixture(scope="session")
def communities() -> Callable[..., tuple[CellComplex, np.ndarray]]:
    """A graph of equal groups, dense inside and thinly linked, and the groups."""

    def build(groups: int = 4, size: int = 30, inside: float = 0.3, across: float = 0.004, seed: int = 0):
        group = np.repeat(np.arange(groups), size)
        draws = np.random.default_rng(seed).random((group.size, group.size))
        edge = np.triu(draws < np.where(group[:, None] == group, inside, across), 1)
        return CellComplex(group.size, torch.from_numpy(np.argwhere(edge).T.copy())), group

    return build
