import pytest
import torch

from latopo import CellComplex
from latopo.complex import _sides, side_sums
from latopo.complex.boundary import polygon_sides
from latopo.complex.side_sums import sum_over_upper
from latopo.cycles import induced_cycles


def complex_of(max_length, nodes=120, seed=0):
    """Nearest neighbours of points in the plane, with all their induced cycles."""
    x = torch.randn(nodes, 2, generator=torch.Generator().manual_seed(seed))
    near = (torch.cdist(x, x) + 9 * torch.eye(nodes)).topk(4, largest=False).indices
    edges = torch.stack([torch.arange(nodes).repeat_interleave(4), near.flatten()])
    return CellComplex(nodes, edges, induced_cycles(edges, nodes, max_length), validate=False)


def both_ways(cx, x, weight):
    """Sums and gradients, by the compiled loops and by torch's operations."""
    for way in (sum_over_upper, lambda cx, x, weight: cx.upper_product(x, polygon_weight=weight)):
        leaves = [leaf.clone().requires_grad_() for leaf in (x, weight) if leaf is not None]
        found = way(cx, leaves[0], leaves[1] if weight is not None else None)
        yield [found.detach(), *torch.autograd.grad((found * x.sin()).sum(), leaves)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("max_length", "width"), [(3, 5), (4, 1), (4, 7), (4, 32), (6, 32), (9, 64), (6, 7)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_as_torch(dtype, max_length, width, weighted):
    cx, generator = complex_of(max_length), torch.Generator().manual_seed(1)
    x = torch.randn(cx.num_edges, width, generator=generator, dtype=dtype)
    weight = torch.rand(cx.num_polygons, generator=generator, dtype=dtype) if weighted else None
    assert all(cx.polygons[length].size(0) for length in (3, 4)[: max_length - 2])
    for ours, theirs in zip(*both_ways(cx, x, weight), strict=True):
        assert torch.equal(ours, theirs)


def test_the_loops_are_taken(monkeypatch):
    cx, calls, loop = complex_of(4), [], _sides.add_other_sides
    monkeypatch.setattr(side_sums._sides, "add_other_sides", lambda *rest: calls.append(1) or loop(*rest))
    sum_over_upper(cx, torch.randn(cx.num_edges, 3))
    assert len(calls) == 2  # triangles, squares
    sum_over_upper(cx, torch.randn(cx.num_edges))
    sum_over_upper(cx, torch.randn(cx.num_edges, 3, dtype=torch.float16))
    assert len(calls) == 2


def test_gradients():
    cx, generator = complex_of(5, nodes=30), torch.Generator().manual_seed(1)
    x = torch.randn(cx.num_edges, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(cx.num_polygons, generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *leaves: side_sums._UpperSum.apply(*leaves, *sides(cx)), (x, weight))


def sides(cx):
    return cx.polygon_edge_index()[0], [(rows.size(0), length) for length, rows in cx.polygons.items()]


def test_no_polygons_and_wrong_weights():
    path = CellComplex(3, [[0, 1], [1, 2]])
    assert sum_over_upper(path, torch.ones(2, 4)).tolist() == [[0.0] * 4] * 2
    cx = complex_of(4)
    with pytest.raises(ValueError, match="polygon_weight has shape"):
        sum_over_upper(cx, torch.ones(cx.num_edges, 2), torch.ones(3))


@pytest.mark.parametrize("max_length", [3, 6])
def test_sides_are_those_of_a_search_by_keys(monkeypatch, max_length):
    cx = complex_of(max_length)
    compiled = polygon_sides(cx)
    monkeypatch.setattr("latopo.complex.boundary._is_compact", lambda cx: False)
    for ours, theirs in zip(compiled, polygon_sides(cx), strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)


def test_sides_that_are_no_edges():
    wrong = {3: torch.tensor([[0, 1, 2], [0, 2, 7]])}
    cx = CellComplex.from_canonical(4, torch.tensor([[0, 1], [1, 2]]), wrong)
    assert cx.polygon_edge_index()[0].tolist() == [0, 1, -1, -1, -1, -1]
    assert sum_over_upper(CellComplex(4, [[0, 1], [1, 2]]), torch.ones(2, 1)).sum() == 0
