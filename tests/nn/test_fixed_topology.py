"""A topology that stays; tests/compatibility has it with PyG's explainers and with exports."""

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import FixedTopology


@pytest.fixture
def cells():
    return CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 2]], [[0, 1, 2]], torch.tensor([0.2, 0.4, 0.6, 0.8]))


def test_it_is_the_given_complex(cells):
    found = FixedTopology(cells)(torch.randn(4, 3))
    assert found.complex == cells
    assert found.polygons is None
    certain = FixedTopology(CellComplex(4, cells.edge_index))(torch.randn(4, 3))
    assert certain.complex.edge_prob.tolist() == [1, 1, 1, 1]
    assert repr(cells) in repr(FixedTopology(cells))


def test_an_explainers_mask_weakens_edges_by_the_mean_of_both_directions(cells):
    topology, mask = FixedTopology(cells), torch.tensor([0.0, 1, 1, 1, 1, 1, 1, 1])
    topology.edges.explain, topology.edges._apply_sigmoid, topology.edges._edge_mask = True, False, mask
    assert torch.allclose(topology(torch.randn(4, 3)).complex.edge_prob, cells.edge_prob * torch.tensor([0.5, 1, 1, 1]))
    topology.edges._apply_sigmoid, topology.edges._edge_mask = True, torch.zeros(8)
    assert torch.allclose(topology(torch.randn(4, 3)).complex.edge_prob, cells.edge_prob / 2)
    topology.edges._edge_mask = torch.ones(4)
    with pytest.raises(LatopoError, match="masks 4 edges, expected both directions of 4"):
        topology(torch.randn(4, 3))


def test_other_points_are_refused(cells):
    with pytest.raises(LatopoError, match="x has 5 rows, but the complex 4 nodes"):
        FixedTopology(cells)(torch.randn(5, 3))
