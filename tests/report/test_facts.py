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
    confusion_matrix,
    measure_agreement,
    measure_complex,
    strongest_polygons,
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


def test_agreement_leaves_unknown_classes_out(run):
    agreement = measure_agreement(run.complex, run.points)
    # Edges 45 and 25 touch the node of unknown class; of the other five only 23 joins two classes.
    assert (agreement.edges.pure, agreement.edges.counted) == (4, 5)
    triangles, squares = agreement.polygons
    assert (triangles.length, triangles.pure, triangles.counted, triangles.share) == (3, 1, 1, 1.0)
    assert (squares.length, squares.counted, squares.share) == (4, 0, None)
    assert agreement.cycles[3].counted == 1


def test_agreement_compares_with_cycles_that_are_no_polygons():
    two_triangles = torch.tensor([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
    complex = CellComplex(4, two_triangles, {3: torch.tensor([[0, 1, 2]])})
    agreement = measure_agreement(complex, Points(np.array([0, 0, 0, 1]), ("a", "b")))
    assert agreement.polygons[0].share == 1.0
    assert agreement.cycles[3].share == 0.5


def test_agreement_needs_classes(run):
    assert measure_agreement(run.complex, None) is None
    assert measure_agreement(run.complex, Points(np.arange(6.0))) is None


def test_facts_of_the_last_moment(run):
    facts = measure_complex(run.complex, run.points)
    assert (facts.edges, facts.polygons, facts.num_polygons) == (7, {3: 1, 4: 1}, 2)
    assert facts.betti == (1, 0, 0)
    assert facts.euler == 6 - 7 + 2
    assert facts.isolated == 0
    assert facts.mean_degree == pytest.approx(14 / 6)
    assert facts.homophily == 0.8
    assert facts.polygon_purity == 1.0
    assert measure_complex(run.snapshots[0].complex).isolated == 3


def test_strongest_polygons_are_sorted_by_probability(run):
    first, second = strongest_polygons(run.complex)
    assert first.corners == (0, 1, 2)
    assert first.probability == pytest.approx(0.75)
    assert second.corners == (2, 3, 4, 5)
    assert [item.corners for item in strongest_polygons(run.complex, 1)] == [(0, 1, 2)]
    assert [item.corners for item in strongest_polygons(run.complex, among=torch.tensor([1]))] == [(2, 3, 4, 5)]


def test_strongest_polygons_prefers_long_ones_that_are_more_probable(run):
    complex = run.complex
    swapped = CellComplex(6, complex.edge_index, complex.polygons, complex.edge_prob, torch.tensor([0.1, 0.2]))
    assert strongest_polygons(swapped)[0].corners == (2, 3, 4, 5)


def test_confusion_matrix_is_of_the_test_points_where_there_are_any(run):
    # Test points: 2 (class 0, predicted 1) and 3 (class 1, predicted 1).
    assert confusion_matrix(run.points).tolist() == [[0, 1], [0, 1]]
    everywhere = Points(run.points.labels, run.points.class_names, predictions=run.points.predictions)
    assert confusion_matrix(everywhere).tolist() == [[2, 1], [0, 2]]
    assert confusion_matrix(Points(run.points.labels, run.points.class_names)) is None
