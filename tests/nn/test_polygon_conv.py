import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import DCM, CellMessages, ComplexNeighborhoods, PolygonConv


@pytest.fixture
def conv():
    torch.manual_seed(0)
    module = PolygonConv(4, max_length=6).double()
    torch.nn.init.normal_(module.length.weight)
    return module


def edge_features(house):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(house.num_edges, 4, generator=generator, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("relaxation", ["none", "weighted"])
def test_equals_the_definition(conv, house, relaxation):
    """The house has the roof 2-3-4 (edges 3, 4, 5) and the square 0-1-2-3 (edges 0, 1, 2, 3)."""
    x = edge_features(house)
    cells = ComplexNeighborhoods.relaxed(house, relaxation)
    edges, polygons = conv(x, cells)
    roof, square = (
        (conv.sides(x[sides].mean(0)) + conv.length.weight[len(sides) - 3]).relu()
        for sides in ([3, 4, 5], [0, 1, 2, 3])
    )
    torch.testing.assert_close(polygons, torch.stack([roof, square]))
    weight = torch.ones(2) if relaxation == "none" else torch.tensor([1.0 * 0.4, 0.3 / 0.9 * 0.1])
    shared = conv.own(x[3]) + (weight[0] * conv.above(roof) + weight[1] * conv.above(square)) / (1 + weight.sum())
    torch.testing.assert_close(edges[3], shared)
    torch.testing.assert_close(edges[6], conv.own(x[6]))  # the tail has no polygon


def test_a_polygon_fades_out_with_its_weight(conv, house):
    x = edge_features(house)
    faint, _ = conv(x, ComplexNeighborhoods(house, None, torch.full((2,), 1e-9, dtype=torch.float64)))
    torch.testing.assert_close(faint, conv.own(x), rtol=0, atol=1e-6)


def test_gradients(conv, house):
    x = edge_features(house)
    assert torch.autograd.gradcheck(lambda x: conv(x, house), (x,))
    weight = torch.tensor([0.9, 0.3], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda weight: conv(x, ComplexNeighborhoods(house, None, weight))[0], (weight,))


def test_lengths_are_told_apart(conv):
    """Of equal features, a triangle and a square differ by their embedding alone."""
    two = CellComplex(7, [[0, 0, 1, 3, 3, 4, 5], [1, 2, 2, 4, 6, 5, 6]], [[0, 1, 2], [3, 4, 5, 6]])
    _, polygons = conv(torch.ones(7, 4, dtype=torch.float64), two)
    assert not torch.allclose(polygons[0], polygons[1])
    torch.nn.init.zeros_(conv.length.weight)
    _, polygons = conv(torch.ones(7, 4, dtype=torch.float64), two)
    torch.testing.assert_close(polygons[0], polygons[1])


def test_no_polygons(conv):
    edges, polygons = conv(torch.ones(1, 4, dtype=torch.float64), CellComplex(2, [[0], [1]]))
    assert (edges.shape, polygons.shape) == ((1, 4), (0, 4))


@pytest.mark.parametrize("relaxation", ["none", "weighted", "straight_through"])
def test_as_an_option_of_the_layer(points, relaxation, silent):
    torch.manual_seed(0)
    layer = DCM(6, 5, max_length=5, gain=2.0, relaxation=relaxation, polygon_features=True).double()
    out, cells = layer(points)
    found = layer.features(points, cells)
    assert torch.equal(found.nodes, out)
    assert found.edges.shape == (cells.num_edges, 5)
    assert found.polygons.shape == (cells.num_polygons, 5)
    assert cells.num_polygons > 3
    (out.square().sum() + found.polygons.square().sum()).backward()
    assert not {name for name in silent(layer) if "polygon_convs" in name and "length" not in name}


def test_a_batch_is_its_graphs(points):
    torch.manual_seed(0)
    layer = DCM(6, 5, gain=2.0, polygon_features=True).double()
    out, _ = layer(points, batch=torch.arange(2).repeat_interleave(20))
    alone = torch.cat([layer(part)[0] for part in points.split(20)])
    torch.testing.assert_close(out, alone, rtol=1e-8, atol=1e-8)


def test_features_without_edges_or_polygons(house):
    x = torch.ones(7, 6, dtype=torch.float64)
    assert CellMessages(6, 5, edges=False).double().features(x, house).edges is None
    assert CellMessages(6, 5).double().features(x, house).polygons is None


def test_clear_errors(house):
    with pytest.raises(LatopoError, match="at least 3 sides, got max_length=2"):
        PolygonConv(4, 2)
    with pytest.raises(LatopoError, match=r"x has shape \[7, 3\], expected \[edges, channels=4\]"):
        PolygonConv(4, 4)(torch.ones(7, 3), house)
    with pytest.raises(LatopoError, match="a polygon has 4 sides, expected at most max_length=3"):
        PolygonConv(4, 3)(torch.ones(7, 4), house)
    with pytest.raises(LatopoError, match="features of polygons need edges=True"):
        CellMessages(6, 5, edges=False, polygons=4)
    assert repr(PolygonConv(4, 5)).startswith("PolygonConv(\n  4, max_length=5")
