import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import DCM
from latopo.nn.relaxation import cell_weights


def complex_with(edge_prob, polygon_prob):
    edge_index = torch.tensor([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
    return CellComplex(4, edge_index, {3: torch.tensor([[0, 1, 2], [1, 2, 3]])}, edge_prob, polygon_prob)


def test_values_and_gradients():
    edge_prob = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5], dtype=torch.float64, requires_grad=True)
    polygon_prob = torch.tensor([0.2, 0.8], dtype=torch.float64, requires_grad=True)
    complex = complex_with(edge_prob, polygon_prob)
    assert cell_weights(complex, "none") == (None, None)
    found = {}
    for relaxation in ("weighted", "straight_through"):
        edges, polygons = cell_weights(complex, relaxation)
        total = (edges * torch.arange(1, 6)).sum() + 3 * polygons[0]
        found[relaxation] = edges, polygons, torch.autograd.grad(total, [edge_prob, polygon_prob], retain_graph=True)
    edges, polygons, gradients = found["weighted"]
    assert torch.equal(edges, edge_prob)
    assert torch.equal(polygons, torch.tensor([0.25, 1.0], dtype=torch.float64))
    # 3 p_0 / p_1 has the derivatives 3 / p_1 and −3 p_0 / p_1².
    torch.testing.assert_close(gradients[1], torch.tensor([3.75, -0.9375], dtype=torch.float64))
    edges, polygons, same = found["straight_through"]
    assert torch.equal(edges, torch.ones(5, dtype=torch.float64))
    assert torch.equal(polygons, torch.ones(2, dtype=torch.float64))
    assert all(torch.equal(a, b) for a, b in zip(gradients, same, strict=True))


def test_absent_probabilities():
    assert cell_weights(complex_with(None, None), "weighted") == (None, None)
    assert cell_weights(complex_with(None, None), "straight_through") == (None, None)
    none = CellComplex(2, torch.tensor([[0], [1]]), {3: torch.zeros(0, 3, dtype=torch.int64)}, None, torch.zeros(0))
    assert cell_weights(none, "weighted")[1].shape == (0,)


def test_unknown():
    with pytest.raises(LatopoError, match="DCM: relaxation must be none, weighted or straight_through, got 'soft'"):
        DCM(4, 4, relaxation="soft")
