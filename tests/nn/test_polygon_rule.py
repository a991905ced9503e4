import pytest
import torch

from latopo import CellComplex, induced_cycles
from latopo.nn import PolygonInference
from latopo.nn.checks import simple_edges
from latopo.nn.polygon_rule import PolygonRule


def fitted(**options):
    """A rule, the scores of all candidate cycles of a random graph, and each one's probability, 0 if not chosen."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(30, 4, generator=generator, dtype=torch.float64)
    pairs = torch.combinations(torch.arange(30))
    edges = simple_edges("test", pairs[torch.rand(len(pairs), generator=generator) < 0.2].t(), 30)
    module = PolygonInference(**options).double().eval()
    with torch.no_grad():
        found = module(x, edges)
        rule = module.rule(x, CellComplex(30, edges, found.polygons), found)
        candidates = induced_cycles(edges, 30)
        scores = module.scores(x, edges, candidates)
    chosen = {tuple(row) for rows in found.polygons.values() for row in rows.tolist()}
    prob = iter([1.0] * len(chosen) if found.prob is None else found.prob.tolist())
    cycles = [tuple(row) for rows in candidates.values() for row in rows.tolist()]
    return rule, scores, torch.tensor([next(prob) if cycle in chosen else 0.0 for cycle in cycles], dtype=torch.float64)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 2.0, "learn_alpha": False},
        {"alpha": 1.0, "learn_alpha": False},
        {"gain": 3.0, "score": "mean"},
        {"polygon_share": 0.3},
        {"polygon_share": 1.0},
        {"sampler": "topk", "k": 12},
        {"sampler": "all"},
    ],
)
def test_candidates_are_as_strong_as_they_were(options):
    """Chosen ones p / max p, all others 0: the rule repeats the choice."""
    rule, scores, prob = fitted(**options)
    assert scores.numel() > 50
    assert prob.count_nonzero() >= 4
    torch.testing.assert_close(rule.strengths(scores), prob / prob.max(), rtol=1e-6, atol=1e-9)


def test_a_budget_thins_the_candidates_and_not_the_rule():
    """What the budget left out in the fitted complex is as strong as what it took: a query has no budget."""
    whole, scores, _ = fitted(gain=0.5)
    thinned, _, prob = fitted(gain=0.5, sampler="budget", k=5)
    assert prob.count_nonzero() == 5
    torch.testing.assert_close(thinned.strengths(scores), whole.strengths(scores), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("sampler", ["entmax", "topk", "all"])
def test_share_of_the_candidates(sampler):
    rule, scores, _ = fitted(sampler=sampler, candidate_budget=40)
    assert rule.share == 40 / scores.numel()
    assert rule.strengths(scores).max() == 1


def test_stronger_than_ever_seen_is_as_strong_as_the_best():
    for options in ({}, {"sampler": "topk", "k": 12}):
        rule, scores, _ = fitted(**options)
        best = scores.max()
        assert rule.strengths(torch.stack([best, best + 1, best + 100])).tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_numbers_by_hand():
    rule = PolygonRule(mean=0.0, deviation=1.0, gain=1.0, alpha=2.0, threshold=0.5, largest=0.5)
    # p = max(s − 0.5, 0), divided by 0.5, at most 1
    assert rule.strengths(torch.tensor([0.4, 0.5, 0.75, 1.0, 9.0])).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    fitted = PolygonRule.fitted(torch.tensor([3.0, 5.0]), torch.tensor([0.25, 0.5]), 1.0, 4.0, 2.0, 2.0, share=0.25)
    # (α − 1) γ (z − μ) / σ − τ = 0.5 at z = 5
    assert fitted == PolygonRule(1.0, 4.0, 2.0, 2.0, threshold=1.5, largest=0.5, share=0.25)
    for cut, weakest in ((True, 0.0), (False, torch.e**-2)):
        softmax = PolygonRule.fitted(torch.tensor([3.0, 5.0]), torch.tensor([0.2, 0.5]), 1.0, 4.0, 2.0, 1.0, cut=cut)
        assert softmax.lowest == (0.5 if cut else None)
        strengths = softmax.strengths(torch.tensor([1.0, 3.0, 5.0]))
        torch.testing.assert_close(strengths, torch.tensor([weakest, torch.e**-1, 1.0]))


def test_scores_that_are_all_equal():
    two = torch.tensor([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]])
    corner = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    x = torch.cat([corner, (1 + 1e-16) * corner.flip(1)])
    for sampler in ("entmax", "topk"):
        module = PolygonInference(gain=50.0, sampler=sampler).double().eval()
        found = module(x, two)
        assert found.prob.tolist() == [0.5, 0.5]
        assert found.deviation == 0
        rule = module.rule(x, CellComplex(6, two, found.polygons), found)
        assert rule.strengths(torch.tensor([-1.0, 5.0])).tolist() == [1.0, 1.0]


def test_without_fitted_polygons_there_are_none():
    path = torch.tensor([[0, 1], [1, 2]])
    for sampler in ("entmax", "all"):
        module, x = PolygonInference(sampler=sampler), torch.randn(3, 2)
        rule = module.rule(x, CellComplex(3, path), module(x, path))
        assert rule == PolygonRule()
        assert rule.strengths(torch.tensor([-1.0, 5.0])).tolist() == [0.0, 0.0]
