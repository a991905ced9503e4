from itertools import combinations

import pytest
import torch

from latopo import induced_cycles, segment_entmax
from latopo._segments import Segments
from latopo.cycles import count_induced_cycles
from latopo.errors import LatopoError
from latopo.neighbors import Hyperbolic
from latopo.nn import PolygonInference
from latopo.nn.polygon_inference import gain_for_share


@pytest.fixture
def grid():
    """The 6 × 6 grid with the diagonals of three of its squares: 22 squares and 6 triangles."""
    number = torch.arange(36).view(6, 6)
    across = torch.stack([number[:, :-1].flatten(), number[:, 1:].flatten()])
    down = torch.stack([number[:-1].flatten(), number[1:].flatten()])
    diagonal = torch.tensor([[0, 14, 28], [7, 21, 35]])
    return torch.cat([across, down, diagonal], dim=1)


@pytest.fixture
def features():
    return torch.randn(36, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def score_by_loop(x, cycle, score):
    sides = [x[u] + x[v] for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
    terms = [-(a - b).norm().item() for a, b in combinations(sides, 2)]
    return {"sum": sum(terms), "mean": sum(terms) / len(terms), "distance": -sum(terms) / len(terms)}[score]


def all_scores(x, edge_index, score="sum"):
    cycles = [row for rows in induced_cycles(edge_index, 36).values() for row in rows.tolist()]
    return cycles, torch.tensor([score_by_loop(x, cycle, score) for cycle in cycles], dtype=torch.float64)


def as_lists(polygons):
    return [row for rows in polygons.values() for row in rows.tolist()]


@pytest.mark.parametrize("score", ["sum", "mean", "distance"])
def test_equals_a_loop_over_polygons(grid, features, score):
    cycles, scores = all_scores(features, grid, score)
    assert len(cycles) == 28
    standard = (scores - scores.mean()) / scores.std(correction=0)
    prob = segment_entmax(2.0 * standard, torch.tensor([0, 28]))
    found = PolygonInference(gain=2.0, score=score).double()(features, grid)
    assert as_lists(found.polygons) == [cycle for cycle, p in zip(cycles, prob, strict=True) if p > 0]
    torch.testing.assert_close(found.prob, prob[prob > 0])
    assert 0 < found.prob.numel() < 28
    assert (found.num_candidates, found.num_scored) == (28, 28)
    assert found.mean == pytest.approx(scores.mean().item())
    assert found.deviation == pytest.approx(scores.std(correction=0).item())
    assert found.gain == 2.0


def test_any_form_of_edges(grid, features):
    module = PolygonInference(gain=2.0).double()
    expected = module(features, grid)
    messy = torch.cat([grid.flip(0), grid[:, 5:9], torch.tensor([[3], [3]])], dim=1)
    messy = messy[:, torch.randperm(messy.size(1), generator=torch.Generator().manual_seed(0))]
    found = module(features, messy)
    assert as_lists(found.polygons) == as_lists(expected.polygons)
    torch.testing.assert_close(found.prob, expected.prob)


def test_gradcheck(grid, features):
    module = PolygonInference(gain=2.0).double()
    assert torch.autograd.gradcheck(lambda x: module(x, grid).prob, features.clone().requires_grad_())


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, {"gain.shift", "alpha.raw"}),
        ({"polygon_share": 0.5}, {"alpha.raw"}),
        ({"sampler": "budget", "k": 8}, {"gain.shift", "alpha.raw"}),
        ({"sampler": "topk", "k": 8}, {"gain.shift"}),
        ({"similarity": Hyperbolic()}, {"gain.shift", "alpha.raw", "similarity.log_curvature"}),
        ({"sampler": "all"}, set()),
        ({"max_length": 2}, set()),
    ],
)
def test_every_parameter_learns(grid, features, silent, options, names):
    torch.manual_seed(0)
    module = PolygonInference(**options).double()
    assert {name for name, _ in module.named_parameters()} == names
    if names:
        prob = module(features, grid).prob
        (prob * torch.randn(prob.shape, generator=torch.Generator().manual_seed(1))).sum().backward()
        assert silent(module) == set()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [1.25, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("count", [3, 100, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gain_for_share_is_exact(share, alpha, count, dtype):
    scores = torch.randn(count, generator=torch.Generator().manual_seed(count), dtype=dtype)
    kept = segment_entmax(gain_for_share(scores, share, alpha) * scores, torch.tensor([0, count]), alpha) > 0
    assert int(kept.sum()) == max(round(share * count), 1)


def test_gain_for_share_of_nothing_is_some_gain():
    assert gain_for_share(torch.zeros(0), 0.5, 1.5) > 0
    assert gain_for_share(torch.zeros(0), 0.5, 1.5, Segments(torch.zeros(0, dtype=torch.int64), 3)).shape == (3,)


def test_gain_for_share_with_ties():
    # The best score is shared by more entries than are wanted: those are kept, and no others.
    scores = torch.tensor([2.0] * 10 + [1.999] + [-1.0] * 10)
    gain = gain_for_share(scores, share=0.2, alpha=1.5)
    kept = segment_entmax(gain * scores, torch.tensor([0, 21])) > 0
    assert kept.tolist() == [True] * 10 + [False] * 11
    assert torch.isfinite(gain_for_share(torch.zeros(5), 0.2, 1.5))


def test_gain_for_share_refuses_softmax():
    with pytest.raises(LatopoError, match=r"alpha must be > 1, got 1\.0"):
        gain_for_share(torch.ones(3), 0.5, 1.0)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_polygon_share(grid, features, share):
    found = PolygonInference(polygon_share=share).double()(features, grid)
    assert found.prob.numel() == max(round(28 * share), 1)
    _, scores = all_scores(features, grid)
    best = scores.topk(found.prob.numel()).indices.sort().values
    assert torch.equal(found.prob.argsort(descending=True), scores[best].argsort(descending=True))


def test_all_takes_every_candidate(grid, features):
    found = PolygonInference(sampler="all")(features, grid)
    assert as_lists(found.polygons) == as_lists(induced_cycles(grid, 36))
    assert found.prob is None
    assert found.num_scored == 28


def test_topk(grid, features):
    module = PolygonInference(sampler="topk", k=7).double()
    cycles, scores = all_scores(features, grid)
    torch.manual_seed(0)
    first, second = module(features, grid), module(features, grid)
    assert first.prob.numel() == second.prob.numel() == 7
    assert as_lists(first.polygons) != as_lists(second.polygons)
    best = sorted(scores.topk(7).indices.tolist())
    module.eval()
    assert as_lists(module(features, grid).polygons) == [cycles[at] for at in best]
    standard = (scores - scores.mean()) / scores.std(correction=0)
    torch.testing.assert_close(module(features, grid).prob, standard.softmax(0)[best])
    assert PolygonInference(sampler="topk").double()(features, grid).prob.numel() == 28  # one per node: 36


def test_budget(grid, features):
    module = PolygonInference(sampler="budget", k=5, gain=0.5).double()
    whole = PolygonInference(gain=0.5).double()(features, grid)
    assert whole.prob.numel() > 12
    torch.manual_seed(0)
    sizes = torch.tensor([module(features, grid).prob.numel() for _ in range(80)]).double()
    assert sizes.std() > 0
    assert abs(sizes.mean().item() - 5) < 1
    best = module.eval()(features, grid)
    assert torch.equal(best.prob.sort().values, whole.prob.sort().values[-5:])


def test_candidate_budget_is_respected_and_reported():
    clique = torch.combinations(torch.arange(30)).t()
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
    module = PolygonInference(3, polygon_share=1.0, candidate_budget=200)
    found = module(x, clique)
    assert found.num_candidates == sum(count_induced_cycles(clique, 30, 3).values()) == 4060
    assert found.num_scored == found.prob.numel() == 200
    module.eval()
    assert as_lists(module(x, clique).polygons) == as_lists(module(x, clique).polygons)
    module.train()
    torch.manual_seed(0)
    assert as_lists(module(x, clique).polygons) != as_lists(module(x, clique).polygons)
    exact = PolygonInference(3, candidate_budget=4060)(x, clique)
    assert exact.num_candidates == exact.num_scored == 4060


def test_no_candidates(features):
    path = torch.stack([torch.arange(35), torch.arange(1, 36)])
    for edge_index in (path, path[:, :0]):
        found = PolygonInference().double()(features, edge_index)
        assert found.prob.shape == (0,)
        assert as_lists(found.polygons) == []
        assert found.num_candidates == 0


def test_below_three_there_are_none(grid, features):
    found = PolygonInference(max_length=2)(features, grid)
    assert found.polygons == {}
    assert found.prob.shape == (0,)


def test_equal_scores_share_alike():
    two = torch.tensor([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]])
    x = torch.zeros(6, 3, requires_grad=True)
    found = PolygonInference(gain=50.0)(x, two)
    assert torch.equal(found.prob, torch.tensor([0.5, 0.5]))
    found.prob.square().sum().backward()
    assert torch.equal(x.grad, torch.zeros(6, 3))


def test_one_candidate_has_probability_one(features):
    x = features[:3].clone().requires_grad_()
    found = PolygonInference().double()(x, torch.tensor([[0, 0, 1], [1, 2, 2]]))
    assert found.prob.tolist() == [1.0]
    found.prob.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_reset_and_repr():
    module = PolygonInference(alpha=1.7, gain=3.0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1.0)
    module.reset_parameters()
    assert module.gain().item() == 3.0
    assert module.alpha().item() == pytest.approx(1.7)
    assert repr(module).startswith("PolygonInference(\n  max_length=4, sampler='entmax', score='sum'\n")
    assert "polygon_share=0.5" in repr(PolygonInference(polygon_share=0.5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "best"}, "sampler must be"),
        ({"score": "max"}, "score must be sum, mean, per-length"),
        ({"polygon_share": 0.0}, "polygon_share must be in"),
        ({"polygon_share": 0.5, "sampler": "all"}, "polygon_share must be in"),
        ({"candidate_budget": 0}, "candidate_budget must be a whole number of at least 1"),
        ({"sampler": "topk", "k": 0}, "k must be at least 1"),
        ({"k": 5}, "k must be at least 1 and goes with sampler topk, budget or pursuit, got 5 with 'entmax'"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(LatopoError, match=message):
        PolygonInference(**options)


def test_bad_edges(features):
    with pytest.raises(LatopoError, match="PolygonInference: edge_index holds vertex 36"):
        PolygonInference()(features, torch.tensor([[0], [36]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_keeps_what_single_precision_keeps(grid, features, dtype):
    x = features.to(dtype)
    module = PolygonInference(polygon_share=0.5)
    half, whole = module(x, grid), module(x.float(), grid)
    assert as_lists(half.polygons) == as_lists(whole.polygons)
    assert len(as_lists(half.polygons)) == 14
    assert half.prob.dtype == dtype
    torch.testing.assert_close(half.prob.float(), whole.prob, rtol=0.01, atol=0)


def test_scores_beyond_all_numbers_raise(grid, features):
    with pytest.raises(LatopoError, match=r"the scores of the cycles are not finite.*scale the input"):
        PolygonInference()(1e30 * features.float(), grid)


@pytest.mark.parametrize(("step", "equal"), [(1e-16, True), (5e-14, False)])
def test_scores_count_as_equal_only_within_rounding(step, equal):
    # Ten triangles of one shape whose sizes differ in the last digits.
    corner = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    size = 1 + step * torch.arange(10, dtype=torch.float64)
    first = 3 * torch.arange(10)
    edges = torch.cat([torch.stack([first + u, first + v]) for u, v in ((0, 1), (0, 2), (1, 2))], dim=1)
    found = PolygonInference(gain=5.0).double()((size[:, None, None] * corner).view(30, 2), edges)
    assert (len(as_lists(found.polygons)) == 10) is equal


def test_alpha_is_checked_at_once():
    with pytest.raises(LatopoError, match=r"PolygonInference: alpha must be a finite number of at least 1, got 0.2"):
        PolygonInference(alpha=0.2, learn_alpha=False)
    assert "α=2.0" in repr(PolygonInference(alpha=2.0, learn_alpha=False))
