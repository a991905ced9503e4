"""One pass over many graphs is a call for each of them: values and gradients, to 1e-8."""

import copy
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import Hyperbolic
from latopo.nn import DCM, AlphaDGM, BudgetSampler, EntmaxSampler, PolygonInference, TopKSampler


def split_batch(x, edge_index, ptr):
    """Features and edges of each graph, its nodes numbered from 0."""
    for low, high in pairwise(ptr.tolist()):
        if edge_index is None:
            yield x[low:high], None
        else:
            inside = (edge_index[0] >= low) & (edge_index[0] < high)
            yield x[low:high], edge_index[:, inside] - low


def one_by_one(layer, x, edge_index, ptr):
    """What a layer says of each graph, joined."""
    parts = [layer(*part) for part in split_batch(x, edge_index, ptr)]
    return torch.cat([out for out, _ in parts]), CellComplex.disjoint_union([cells for _, cells in parts])


class Scale(nn.Module):
    """An encoder whose equal rows stay bit-identical: matrix products may round them in several ways."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 2.0, 3))

    def forward(self, x, edge_index):
        return x * self.weight


def make(encoder=None, edges=None, similarity="euclidean", relaxation="weighted", seed=0, **polygons):
    torch.manual_seed(seed)
    graph = AlphaDGM(
        3, 8, sampler=EntmaxSampler(gain=2.0) if edges is None else edges, encoder=encoder, similarity=similarity
    )
    options = {"max_length": 5, "gain": 0.5} | polygons
    return DCM(3, 4, relaxation=relaxation, graph=graph, polygons=PolygonInference(**options)).double()


def clouds(sizes, seed=0, kinds=None):
    """Random clouds; of kind 1 with every second point a copy of the one before, of kind 2 all points equal."""
    x = torch.randn(sum(sizes), 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    for (low, high), kind in zip(pairwise(ptr.tolist()), kinds or [0] * len(sizes), strict=True):
        if kind == 1:
            x[low + 1 : high : 2] = x[low : high - 1 : 2].clone()
        elif kind == 2:
            x[low:high] = x[low : low + 1].clone()
    return x, ptr


def batch_of(ptr):
    return torch.repeat_interleave(ptr.diff())


def compare(layer, x, edge_index, ptr):
    """Both ways from the same state; the complex with many graphs is returned."""
    answers = []
    for together in (True, False):
        module, points = copy.deepcopy(layer), x.clone().requires_grad_()
        if together:
            out, cells = module(points, edge_index, batch_of(ptr))
        else:
            out, cells = one_by_one(module, points, edge_index, ptr)
        weight = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
        learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
        gradients = torch.autograd.grad((weight * out).sum(), [points, *learned], allow_unused=True)
        answers.append((out, cells, gradients))
    (out, cells, gradients), (expected, union, wanted) = answers
    cells.validate()
    assert cells == union
    torch.testing.assert_close(out, expected, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(cells.edge_prob, union.edge_prob, rtol=1e-8, atol=1e-8)
    if union.polygon_prob is not None:
        torch.testing.assert_close(cells.polygon_prob, union.polygon_prob, rtol=1e-8, atol=1e-8)
    for ours, theirs in zip(gradients, wanted, strict=True):
        # A call without a graph's worth of edges leaves no gradient at all where the other has zeros.
        ours, theirs = (torch.zeros(1) if each is None else each for each in (ours, theirs))
        torch.testing.assert_close(*torch.broadcast_tensors(ours.double(), theirs.double()), rtol=1e-8, atol=1e-8)
    return cells


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(0, 1000),
    st.sampled_from(["none", "weighted", "straight_through"]),
)
def test_any_clouds(shapes, seed, relaxation):
    """None, one, two, many points; copies; constant clouds."""
    sizes, kinds = zip(*[(9, 0), *shapes], strict=True)
    x, ptr = clouds(sizes, seed, kinds)
    # A batch vector cannot tell empty graphs after the last point.
    ptr = ptr[: int((ptr < ptr[-1]).sum()) + 1] if ptr[-1] else ptr[:1]
    compare(make(Scale(), relaxation=relaxation), x, None, ptr)


@pytest.mark.parametrize("similarity", ["squared", "cosine", "inner", Hyperbolic(1.0)])
@pytest.mark.parametrize("given", [True, False])
def test_similarities_and_given_edges(similarity, given):
    x, ptr = clouds([20, 1, 12, 2, 25])
    pairs = [torch.combinations(torch.arange(low, high)).view(-1, 2)[::3].t() for low, high in pairwise(ptr.tolist())]
    edges = torch.cat(pairs, dim=1)
    cells = compare(make(similarity=similarity), x, edges if given else None, ptr)
    assert cells.num_polygons > 10


@pytest.mark.parametrize(
    "polygons",
    [
        {"polygon_share": 0.4},
        {"score": "mean"},
        {"score": "per-length"},
        {"score": "per-length", "polygon_share": 0.4},
        {"sampler": "all"},
        {"sampler": "topk", "k": 3},
        {"sampler": "topk"},
        {"sampler": "budget", "k": 2},
        {"candidate_budget": 7},
        {"max_length": 2},
    ],
)
def test_polygon_inferences(polygons):
    x, ptr = clouds([20, 3, 12, 0, 25])
    cells = compare(make(**polygons).eval(), x, None, ptr)
    assert (cells.num_polygons > 0) == (polygons != {"max_length": 2})


@pytest.mark.parametrize(
    "sampler",
    [
        EntmaxSampler(degree=4.0),
        EntmaxSampler(gain=3.0, degree=4.0, hold_degree=True),
        TopKSampler(3),
        BudgetSampler(15.0, EntmaxSampler(gain=2.0)),
    ],
)
def test_samplers(sampler):
    x, ptr = clouds([3, 20, 12, 1, 0, 25])
    assert compare(make(edges=sampler).eval(), x, None, ptr).num_edges > 30


def test_large_clouds_go_by_themselves(monkeypatch):
    monkeypatch.setattr("latopo.neighbors.grouped._SMALL", {True: 15, False: 15})
    x, ptr = clouds([20, 3, 12, 0, 25, 16, 1])
    compare(make(), x, None, ptr)


def test_a_held_degree_moves_once_by_all_graphs_with_enough_points():
    layer = make(edges=EntmaxSampler(gain=1.0, degree=4.0, hold_degree=True))
    sampler = layer.topology.graph.sampler
    sampler.calibrated.fill_(True)
    x, ptr = clouds([3, 20, 12])
    chosen = int((layer.infer(x, batch=batch_of(ptr)).graph.row >= 3).sum())
    assert chosen > 40
    assert float(sampler.gain()) == pytest.approx((chosen / 32 / 4.0) ** 0.2)


def test_limits_are_those_of_each_graph():
    x, ptr = clouds([20, 20, 20])
    found = make().infer(x, batch=batch_of(ptr)).graph
    largest = int(torch.bincount(batch_of(ptr)[found.row]).max())
    make(edges=EntmaxSampler(gain=2.0, max_edges=largest)).infer(x, batch=batch_of(ptr))
    with pytest.raises(TooManyCellsError, match=f"has {largest} directed edges, more than max_edges={largest - 1}"):
        make(edges=EntmaxSampler(gain=2.0, max_edges=largest - 1)).infer(x, batch=batch_of(ptr))


def test_statistics_of_each_graph():
    x, ptr = clouds([20, 15])
    found = make(score="per-length").infer(x, batch=batch_of(ptr)).polygons
    assert found.mean.shape == found.deviation.shape == (2, 3)
    assert found.gain.tolist() == [0.5, 0.5]
    assert sum(found.counts.values()) == found.prob.numel()


def test_no_points_at_all():
    out, cells = make()(torch.zeros(0, 3, dtype=torch.float64), batch=torch.zeros(0, dtype=torch.int64))
    assert out.shape == (0, 8)
    assert (cells.num_nodes, cells.num_graphs) == (0, 0)


def test_graphs_without_points_are_counted():
    x, _ = clouds([5])
    _, cells = make()(x, batch=torch.tensor([1, 1, 1, 4, 4]))
    assert [part.num_nodes for part in cells.split()] == [0, 3, 0, 0, 2]


def test_clear_errors():
    x, ptr = clouds([2, 1])
    with pytest.raises(LatopoError, match=r"DCM: edge \(1, 2\) runs between two graphs"):
        make()(x, torch.tensor([[0, 1], [1, 2]]), batch_of(ptr))
    with pytest.raises(LatopoError, match="DCM: edge_index holds vertex 3"):
        make()(x, torch.tensor([[0], [3]]), batch_of(ptr))
    with pytest.raises(LatopoError, match="DCM: batch must ascend"):
        make()(x, None, torch.tensor([0, 1, 0]))
    topology = make().eval()
    with pytest.raises(LatopoError, match="queries join one graph"):
        topology.topology.fit(topology.infer(x, batch=batch_of(ptr)))
