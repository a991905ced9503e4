import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.draw import sample_neighborhoods
from latopo.draw.sample import take_nodes
from latopo.errors import LatopoError


def ring(num_nodes: int) -> CellComplex:
    ends = torch.arange(num_nodes)
    return CellComplex(num_nodes, torch.stack([ends, (ends + 1) % num_nodes]).sort(dim=0).values)


def test_small_complexes_are_whole(house: CellComplex) -> None:
    assert sample_neighborhoods(house, 6).tolist() == list(range(6))
    assert take_nodes(house, np.arange(6)) is house


@pytest.mark.parametrize("max_nodes", [1, 7, 100, 399])
def test_exactly_as_many_as_asked_for(max_nodes: int) -> None:
    nodes = sample_neighborhoods(ring(400), max_nodes, seed=1)
    assert len(nodes) == max_nodes
    assert (np.diff(nodes) > 0).all()
    assert nodes.tolist() == sample_neighborhoods(ring(400), max_nodes, seed=1).tolist()


def test_patches_keep_most_edges() -> None:
    """Of a ring, 100 of 1,000 nodes in twenty arcs of five have 80 edges or more; a uniform sample would have 10."""
    part = take_nodes(ring(1000), sample_neighborhoods(ring(1000), 100))
    assert part.num_edges >= 80


def test_isolated_nodes_are_taken_too() -> None:
    alone = CellComplex(50, torch.zeros(2, 0, dtype=torch.int64))
    assert len(sample_neighborhoods(alone, 30)) == 30


def test_no_nodes_asked_for(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match="max_nodes is 0, expected at least 1"):
        sample_neighborhoods(house, 0)
