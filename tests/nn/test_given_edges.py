"""Given edges in the complex: beside the inferred ones, or alone."""

import pytest
import torch
from torch_geometric.nn import GCNConv

from latopo import CellComplex, induced_cycles
from latopo.errors import LatopoError
from latopo.nn import DCM, AlphaDGM, EntmaxSampler, NoEdges, PolygonInference
from latopo.nn.given_edges import given_probabilities, join_edges

HEXAGON = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 5]])


def layer(given_edges, **options):
    torch.manual_seed(0)
    return DCM(6, 5, given_edges=given_edges, **{"gain": 8.0, **options}).double()


def pairs(edge_index):
    return {tuple(sorted(pair)) for pair in edge_index.t().tolist()}


@pytest.mark.parametrize("relaxation", ["none", "weighted", "straight_through"])
def test_kept_edges_are_in_the_complex(points, ring, relaxation):
    module = layer("keep", relaxation=relaxation)
    found = module.infer(points, ring)
    cells = found.complex.validate()
    assert pairs(cells.edge_index) == pairs(ring) | pairs(found.graph.edge_index)
    assert pairs(found.graph.edge_index) - pairs(ring)
    kept = torch.tensor([tuple(edge) in pairs(ring) for edge in cells.edge_index.t().tolist()])
    assert bool((cells.edge_prob[kept] == 1).all())
    latent = dict(zip(map(tuple, found.graph.edge_index.t().tolist()), found.graph.edge_prob.tolist(), strict=True))
    for edge, prob in zip(cells.edge_index[:, ~kept].t().tolist(), cells.edge_prob[~kept].tolist(), strict=True):
        assert prob == latent[tuple(edge)]
    out, _ = module(points, ring)
    out.square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters() if p.grad is not None)


def test_keeping_starts_as_the_graph_convolution_of_all_edges(points, ring):
    """So the layer can take the place of one."""
    module = layer("keep", concat=False, final_relu=False)
    out, cells = module(points, ring)
    torch.testing.assert_close(out, module.messages.node_convs[0](points, cells.edge_index, cells.edge_prob))
    assert module.messages.gate == 0
    assert layer("only").messages.gate == 0
    assert layer("encode").messages.gate is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("given_edges", ["keep", "only"])
def test_without_inferred_edges_it_starts_as_the_convolution_of_pyg(points, house, given_edges, weighted):
    """With the same weights: values, gradients, edges in both directions."""
    module = layer(given_edges, concat=False, final_relu=False, graph=AlphaDGM(6, sampler=NoEdges()))
    peer = GCNConv(6, 5).double()
    with torch.no_grad():
        peer.lin.weight.copy_(module.messages.node_convs[0].weight.t())
    both = torch.cat([house.edge_index, house.edge_index.flip(0)], dim=1)
    weight = house.edge_prob.repeat(2) if weighted else None
    x, y = points.clone().requires_grad_(), points.clone().requires_grad_()
    ours, cells = module(x, both, edge_weight=weight)
    theirs = peer(y, both, weight)
    assert cells.num_polygons == 2  # they are there, and say nothing yet
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
    ours.square().sum().backward()
    theirs.square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(module.messages.node_convs[0].weight.grad, peer.lin.weight.grad.t())


def test_polygons_close_with_given_edges(points, ring):
    polygons = PolygonInference(4, sampler="all")
    found = layer("keep", polygons=polygons).infer(points, ring)
    expected = induced_cycles(found.complex.edge_index, 40, 4)
    assert all(torch.equal(found.complex.polygons[length], rows) for length, rows in expected.items())
    mixed = [
        row
        for row in expected[3].tolist()
        if 0 < len({(row[0], row[1]), (row[1], row[2]), (row[0], row[2])} & pairs(ring)) < 3
    ]
    assert mixed


def test_encode_is_the_paper(points, ring):
    found = layer("encode", gain=100.0).infer(points, ring)
    assert torch.equal(found.complex.edge_index, found.graph.edge_index)
    assert pairs(ring) - pairs(found.complex.edge_index)


def test_the_skeleton_alone(ring):
    """A ring of a molecule is a polygon; no edge is inferred, and nothing that would infer one is learned."""
    x = torch.randn(12, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    two = torch.cat([HEXAGON, HEXAGON + 6], dim=1)
    module = layer("only", max_length=6)
    out, cells = module(x, two, torch.arange(2).repeat_interleave(6))
    assert torch.equal(cells.edge_index, CellComplex(12, two).edge_index)
    assert cells.polygons[6].tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert cells.polygon_prob.tolist() == [1.0, 1.0]
    assert not any("sampler" in name for name, _ in module.named_parameters())
    out.sum().backward()


def test_only_chooses_among_the_rings_of_each_graph(ring):
    x = torch.randn(8, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wheel = torch.tensor([[0] * 7 + [1, 2, 3, 4, 5, 6, 1], [1, 2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7, 7]])
    module = layer("only", polygons=PolygonInference(4, polygon_share=0.3))
    _, cells = module(x, wheel)
    assert 0 < cells.num_polygons < 7


def test_weights_of_kept_edges():
    x = torch.randn(6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight = torch.linspace(0.1, 0.6, 6, dtype=torch.float64, requires_grad=True)
    out, cells = layer("only")(x, HEXAGON, edge_weight=weight)
    order = [0, 5, 1, 2, 3, 4]
    assert torch.equal(cells.edge_prob, weight[order])
    out.square().sum().backward()
    assert bool((weight.grad != 0).all())


def test_weights_of_both_directions_are_averaged():
    edges, prob = given_probabilities(
        "DCM", torch.tensor([[1, 0, 2, 1], [0, 1, 2, 2]]), torch.tensor([0.2, 0.4, 0.9, 1.0]), 3, torch.zeros(0)
    )
    assert edges.tolist() == [[0, 1], [1, 2]]
    torch.testing.assert_close(prob, torch.tensor([0.3, 1.0]))


def test_an_edge_of_both_has_the_larger_probability():
    ends = torch.tensor([[0], [1]])
    for given in (0.3, 0.9):
        edges, prob = join_edges(ends, torch.tensor([0.5]), ends, torch.tensor([given]), 2)
        assert (edges.tolist(), prob.tolist()) == ([[0], [1]], [max(torch.tensor(given).item(), 0.5)])


@pytest.mark.parametrize("given_edges", ["keep", "only"])
def test_kept_edges_of_a_batch_are_those_of_each_graph(points, ring, given_edges):
    module = layer(given_edges)
    second = torch.tensor([[0, 3], [7, 24]])
    alone = [module(points, ring), module(points[:25], second)]
    batch = torch.tensor([0] * 40 + [1] * 25)
    out, cells = module(torch.cat([points, points[:25]]), torch.cat([ring, second + 40], dim=1), batch)
    torch.testing.assert_close(out, torch.cat([x for x, _ in alone]), rtol=1e-8, atol=1e-8)
    assert cells.split() == [part for _, part in alone]


def test_clear_errors(points, ring):
    with pytest.raises(LatopoError, match="given_edges must be encode, keep or only, got 'both'"):
        layer("both")
    with pytest.raises(LatopoError, match="no given edges to keep, edge_index is None"):
        layer("keep")(points)
    with pytest.raises(LatopoError, match="edge_weight goes with kept edges"):
        layer("encode")(points, ring, edge_weight=torch.ones(ring.size(1)))
    with pytest.raises(LatopoError, match=r"edge_weight must be floating point of shape \[60\]"):
        layer("keep")(points, ring, edge_weight=torch.ones(3))
    with pytest.raises(LatopoError, match=r"expected numbers in \[0, 1\]"):
        layer("keep")(points, ring, edge_weight=torch.full((60,), 2.0))
    with pytest.raises(LatopoError, match="'only' infers no edges"):
        layer("only", graph=AlphaDGM(6, sampler=EntmaxSampler()))
    assert layer("only", graph=AlphaDGM(6, sampler=NoEdges())).given_edges == "only"
    assert "given_edges='keep'" in repr(layer("keep"))
