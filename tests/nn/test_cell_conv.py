import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import CellConv
from latopo.nn.neighborhoods import effective_polygon_weight


def edge_features(complex, width=4):
    return torch.randn(complex.num_edges, width, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def dense_normalised(adjacency):
    """D^-1/2 A D^-1/2 with the degrees 1 + row sums."""
    scale = (1 + adjacency.sum(1)).rsqrt()
    return scale[:, None] * adjacency * scale


def dense_upper(complex, polygon_weight):
    """Upper adjacency from its definition: polygon by polygon, pair by pair."""
    matrix = torch.zeros(complex.num_edges, complex.num_edges, dtype=torch.float64)
    edge, polygon = complex.polygon_edge_index()
    for number, weight in enumerate(polygon_weight):
        sides = edge[polygon == number].tolist()
        for e in sides:
            for f in sides:
                if e != f:
                    matrix[e, f] += weight
    return matrix


def test_equals_dense_adjacencies(house):
    conv, x = CellConv(4, 3).double(), edge_features(house)
    upper = dense_normalised(house.upper_adjacency(dtype=torch.float64).to_dense())
    lower = dense_normalised(house.lower_adjacency(dtype=torch.float64).to_dense())
    expected = upper @ x @ conv.upper.weight.t() + lower @ x @ conv.lower.weight.t() + conv.skip(x)
    torch.testing.assert_close(conv(x, house), expected)


def test_weights_equal_dense_adjacencies(house):
    conv, x = CellConv(4, 3).double(), edge_features(house)
    edge_weight, polygon_weight = house.edge_prob, house.polygon_prob
    # Roof 23 24 34: smallest side .4; square 01 12 23 03: smallest side .1.
    effective = torch.tensor([0.9 * 0.4, 0.3 * 0.1], dtype=torch.float64)
    torch.testing.assert_close(effective_polygon_weight(house, edge_weight, polygon_weight), effective)
    upper = dense_normalised(dense_upper(house, effective))
    # A neighbour f weighs w_f in e's sum and degree, so the matrix is not symmetric, and its scaling is.
    shares = house.lower_adjacency(dtype=torch.float64).to_dense() * edge_weight
    scale = (1 + shares.sum(1)).rsqrt()
    lower = scale[:, None] * shares * scale
    expected = upper @ x @ conv.upper.weight.t() + lower @ x @ conv.lower.weight.t() + conv.skip(x)
    torch.testing.assert_close(conv(x, house, edge_weight, polygon_weight), expected)


def test_gradcheck(house):
    conv = CellConv(2, 2).double()
    inputs = [edge_features(house, 2), house.edge_prob.clone(), house.polygon_prob.clone()]
    inputs = [part.requires_grad_() for part in inputs]
    assert torch.autograd.gradcheck(lambda *args: conv(args[0], house, *args[1:]), inputs)


def without_edge(complex, gone):
    """The complex without an edge and the polygons on it, and the mask of the edges that stay."""
    rest = torch.arange(complex.num_edges) != gone
    ends = set(complex.edge_index[:, gone].tolist())
    keep = {
        length: torch.tensor([ends not in sides(row) for row in rows.tolist()])
        for length, rows in complex.polygons.items()
    }
    polygons = {length: rows[keep[length]] for length, rows in complex.polygons.items()}
    smaller = CellComplex(complex.num_nodes, complex.edge_index[:, rest], polygons)
    return smaller, rest, torch.cat(list(keep.values()))


def sides(row):
    return [set(pair) for pair in zip(row, row[1:] + row[:1], strict=True)]


@pytest.mark.parametrize("gone", range(7))  # 6, the tail, is the only one that is in no polygon
def test_edge_fades_out(house, gone):
    conv, x = CellConv(4, 3).double(), edge_features(house)
    faint = house.edge_prob.clone()
    faint[gone] = 1e-9
    smaller, rest, polygons = without_edge(house, gone)
    expected = conv(x[rest], smaller, house.edge_prob[rest], house.polygon_prob[polygons])
    torch.testing.assert_close(conv(x, house, faint, house.polygon_prob)[rest], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("gone", [0, 1])
def test_polygon_fades_out(house, gone):
    conv, x = CellConv(4, 3).double(), edge_features(house)
    faint = house.polygon_prob.clone()
    faint[gone] = 1e-9
    kept = {length: rows for length, rows in house.polygons.items() if length != 3 + gone}
    smaller = CellComplex(house.num_nodes, house.edge_index, kept)
    expected = conv(x, smaller, house.edge_prob, house.polygon_prob[1 - gone : 2 - gone])
    torch.testing.assert_close(conv(x, house, house.edge_prob, faint), expected, atol=1e-6, rtol=0)


def test_a_single_cell_learns():
    triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
    path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
    polygon_weight = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    edge_weight = torch.tensor([1.0, 0.5], dtype=torch.float64, requires_grad=True)
    conv = CellConv(4, 1).double()
    conv(edge_features(triangle), triangle, None, polygon_weight)[0].sum().backward()
    conv(edge_features(path), path, edge_weight)[0].sum().backward()
    assert abs(polygon_weight.grad.item()) > 1e-3
    assert abs(edge_weight.grad[1].item()) > 1e-3


def test_a_hub_needs_no_adjacency(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("message passing must not build an adjacency")

    monkeypatch.setattr(CellComplex, "lower_adjacency", refuse)
    monkeypatch.setattr(CellComplex, "upper_adjacency", refuse)
    leaves = 20_000  # a lower adjacency would have 4·10⁸ entries
    rim = torch.arange(1, 1001, 2)
    spokes = torch.stack([torch.zeros(leaves, dtype=torch.int64), torch.arange(1, leaves + 1)])
    edge_index = torch.cat([spokes, torch.stack([rim, rim + 1])], dim=1)
    triangles = torch.stack([torch.zeros_like(rim), rim, rim + 1], dim=1)
    star = CellComplex(leaves + 1, edge_index, {3: triangles})
    x = torch.ones(star.num_edges, 4, requires_grad=True)
    weight = torch.full((star.num_edges,), 0.5)
    out = CellConv(4, 4)(x, star, weight, torch.ones(star.num_polygons))
    out.sum().backward()
    assert torch.isfinite(out).all()
    assert torch.isfinite(x.grad).all()


def test_no_edges_no_polygons():
    none = CellComplex(3, torch.zeros(2, 0, dtype=torch.int64))
    assert CellConv(4, 2)(torch.zeros(0, 4), none, torch.zeros(0), torch.zeros(0)).shape == (0, 2)
    path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
    conv, x = CellConv(4, 2), torch.ones(2, 4)
    expected = (x / 2) @ conv.lower.weight.t() + conv.skip(x)
    torch.testing.assert_close(conv(x, path), expected)


def test_reset_and_repr():
    conv = CellConv(2, 3)
    before = [linear.weight.detach().clone() for linear in (conv.upper, conv.lower, conv.skip)]
    with torch.no_grad():
        conv.skip.bias.fill_(5.0)
    conv.reset_parameters()
    for old, linear in zip(before, (conv.upper, conv.lower, conv.skip), strict=True):
        assert not torch.equal(old, linear.weight)
    assert torch.equal(conv.skip.bias, torch.zeros(3))
    assert repr(conv).startswith("CellConv(\n  2, 3")
    assert CellConv(2, 3, bias=False).skip.bias is None


def test_wrong_shape(house):
    with pytest.raises(LatopoError, match=r"CellConv: x has shape \[7, 3\], expected \[edges, in_channels=4\]"):
        CellConv(4, 2)(torch.ones(7, 3), house)
    with pytest.raises(LatopoError, match="x has 6 rows, expected one for each of 7 edges"):
        CellConv(4, 2)(torch.ones(6, 4), house)
