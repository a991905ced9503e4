from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import CellComplex
from latopo.report import Points
from latopo.report.facts import (
    chance_agreement,
    measure_complex,
    ring_purity,
    strongest_polygons,
    value_agreement,
    with_strengths,
)


@given(st.lists(st.integers(-1, 3), min_size=4, max_size=9), st.integers(2, 4))
@settings(deadline=None)
def test_chance_agreement_counts_all_groups(labels, length):
    groups = list(combinations([label for label in labels if label >= 0], length))
    chance = chance_agreement(np.array(labels), length)
    if not groups:
        assert np.isnan(chance)
    else:
        assert chance == pytest.approx(np.mean([len(set(group)) == 1 for group in groups]))


def test_purity_leaves_unknown_classes_out(run):
    purity = measure_complex(run.complex, run.points).purity
    # Edges 45 and 25 touch the node of unknown class; of the other five only 23 joins two classes.
    assert (purity[2].pure, purity[2].counted) == (4, 5)
    assert (purity[3].length, purity[3].pure, purity[3].counted, purity[3].share) == (3, 1, 1, 1.0)
    assert (purity[4].length, purity[4].counted, purity[4].share) == (4, 0, None)


def test_polygons_of_all_lengths_are_pooled():
    edges = torch.tensor([[0, 0, 1, 2, 3, 4, 2], [1, 2, 2, 3, 4, 5, 5]])
    cx = CellComplex(6, edges, {3: torch.tensor([[0, 1, 2]]), 4: torch.tensor([[2, 3, 4, 5]])})
    facts = measure_complex(cx, Points(np.array([0, 0, 0, 0, 0, 1]), ("a", "b")))
    pooled = facts.polygon_purity
    assert (pooled.pure, pooled.counted) == (1, 2)
    assert pooled.chance == pytest.approx((facts.purity[3].chance + facts.purity[4].chance) / 2)


def test_chance_of_lengths_that_cannot_be_counted_does_not_spoil_the_pool(run):
    few = Points(np.array([0, 0, 0, -1, -1, -1]), ("a",))  # no four points of known class: the square's chance is NaN
    assert measure_complex(run.complex, few).polygon_purity.chance == 1.0


def test_rings_include_those_that_are_not_polygons():
    two_triangles = torch.tensor([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
    cx = CellComplex(4, two_triangles, {3: torch.tensor([[0, 1, 2]])})
    points = Points(np.array([0, 0, 0, 1]), ("a", "b"))
    facts = measure_complex(cx, points)
    assert facts.share(3) == 1.0
    assert ring_purity(cx, facts, points)[3].share == 0.5


def test_too_many_rings_are_not_counted(run, monkeypatch):
    facts = measure_complex(run.complex, run.points)
    assert list(ring_purity(run.complex, facts, run.points)) == [3, 4]
    monkeypatch.setattr("latopo.report.facts._MOST_RINGS", 1)
    assert ring_purity(run.complex, facts, run.points) == {}


def test_purity_needs_classes(run):
    for points in (None, Points(np.arange(6.0))):
        facts = measure_complex(run.complex, points)
        assert facts.purity == ring_purity(run.complex, facts, points) == {}
        assert facts.share(2) is facts.polygon_purity.share is None


def test_facts_of_the_last_moment(run):
    facts = measure_complex(run.complex, run.points)
    assert (facts.nodes, facts.edges, facts.polygons, facts.num_polygons) == (6, 7, {3: 1, 4: 1}, 2)
    assert facts.betti == (1, 0, 0)
    assert facts.euler == 6 - 7 + 2
    assert facts.isolated == 0
    assert facts.mean_degree == pytest.approx(14 / 6)
    assert facts.share(2) == 0.8
    assert facts.polygon_purity.share == 1.0
    assert measure_complex(run.snapshots[0].complex).isolated == 3


def test_strongest_polygons_are_sorted_by_probability(run):
    first, second = strongest_polygons(run.complex, 20)
    assert first.corners == (0, 1, 2)
    assert first.strength == pytest.approx(0.75)
    assert second.corners == (2, 3, 4, 5)
    assert [item.corners for item in strongest_polygons(run.complex, 1)] == [(0, 1, 2)]
    assert [item.corners for item in strongest_polygons(run.complex, 20, among=torch.tensor([1]))] == [(2, 3, 4, 5)]


def test_strongest_polygons_prefers_long_ones_that_are_more_probable(run):
    cx = run.complex
    swapped = CellComplex(6, cx.edge_index, cx.polygons, cx.edge_prob, torch.tensor([0.1, 0.2]))
    assert strongest_polygons(swapped, 1)[0].corners == (2, 3, 4, 5)


def test_strengths_are_shares_of_the_largest(run):
    assert with_strengths(run.complex).polygon_prob.tolist() == pytest.approx([1.0, 0.05 / 0.75])
    assert torch.equal(with_strengths(run.complex).edge_prob, run.complex.edge_prob)
    bare = run.complex.with_probabilities(run.complex.edge_prob)
    assert with_strengths(bare).polygon_prob is None


@pytest.mark.parametrize("weighed", [False, True])
def test_agreement_with_values_is_the_correlation_over_both_directions(weighed):
    random = np.random.RandomState(0)
    edges = np.unique(np.sort(random.randint(30, size=(80, 2))), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    weight, values = random.rand(len(edges)), random.randn(30)
    values[3] = np.nan
    prob = torch.from_numpy(weight) if weighed else None
    found = value_agreement(CellComplex(30, torch.from_numpy(edges.T), edge_prob=prob), values)
    known = ~np.isin(edges, [3]).any(axis=1)
    both = np.concatenate([edges[known], edges[known][:, ::-1]])
    shares = np.tile(weight[known] if weighed else np.ones(known.sum()), 2)
    expected = np.cov(values[both].T, aweights=shares)
    assert found.correlation == pytest.approx(expected[0, 1] / expected[0, 0])
    assert found.counted == known.sum()


def test_agreement_tells_structure_from_chance():
    line = CellComplex(200, torch.stack([torch.arange(199), torch.arange(1, 200)]))
    smooth, random = np.linspace(0, 1, 200) * 1e300, np.random.RandomState(0).rand(200)
    assert value_agreement(line, smooth).correlation > 0.99
    assert 0.05 < value_agreement(line, smooth).chance < 0.2
    by_chance = value_agreement(line, random)
    assert abs(by_chance.correlation) < 2 * by_chance.chance
    assert value_agreement(line, np.where(np.arange(200) % 2, 1.0, 0.0)).correlation == pytest.approx(-1)
    assert value_agreement(line, np.full(200, 3.0)) is None
    assert value_agreement(line, np.full(200, np.nan)) is None
    assert value_agreement(CellComplex(200, torch.zeros(2, 0, dtype=torch.int64)), random) is None
