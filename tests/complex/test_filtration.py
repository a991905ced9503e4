from collections.abc import Callable

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError


@pytest.mark.parametrize("seed", range(5))
def test_cells_enter_not_before_their_faces(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed)
    edges, polygons = cx.filtration_values()
    assert torch.equal(edges, 1 - cx.edge_prob)
    value = dict(zip(map(frozenset, cx.edge_index.t().tolist()), edges.tolist(), strict=True))
    cells = [row for rows in cx.polygons.values() for row in rows.tolist()]
    for cell, entry, prob in zip(cells, polygons.tolist(), cx.polygon_prob.tolist(), strict=True):
        sides = [value[frozenset(pair)] for pair in zip(cell, cell[1:] + cell[:1], strict=True)]
        assert entry == max(1 - prob, *sides)


def test_values_without_probabilities(house: CellComplex) -> None:
    bare = CellComplex(6, house.edge_index, house.polygons)
    assert [value.tolist() for value in bare.filtration_values()] == [[0] * 6, [0] * 2]
    edges_only = CellComplex(6, house.edge_index, house.polygons, house.edge_prob)
    assert edges_only.filtration_values()[1].tolist() == [0.6, 0.9]
    rounded = CellComplex(2, [[0], [1]], edge_prob=torch.nextafter(torch.ones(1), torch.tensor([2.0])))
    assert rounded.filtration_values()[0].tolist() == [0]


def test_gradients_reach_the_probabilities() -> None:
    edge_prob = torch.tensor([1.0, 0.5, 0.75], requires_grad=True)
    polygon_prob = torch.tensor([0.625], requires_grad=True)
    cx = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]], edge_prob, polygon_prob)
    cx.filtration_values()[1].sum().backward()
    assert edge_prob.grad.tolist() == [0, -1, 0]  # the last side is what the triangle waits for
    assert polygon_prob.grad.tolist() == [0]


@pytest.mark.parametrize("seed", range(5))
def test_threshold_equals_the_cells_one_by_one(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed, num_nodes=9)
    part = cx.threshold(edges=0.25, polygons=0.5)
    kept = {
        frozenset(pair) for pair, p in zip(cx.edge_index.t().tolist(), cx.edge_prob.tolist(), strict=True) if p >= 0.25
    }
    cells = [row for rows in cx.polygons.values() for row in rows.tolist()]
    expected = [
        (cell, p)
        for cell, p in zip(cells, cx.polygon_prob.tolist(), strict=True)
        if p >= 0.5 and all(frozenset(pair) in kept for pair in zip(cell, cell[1:] + cell[:1], strict=True))
    ]
    assert {frozenset(pair) for pair in part.edge_index.t().tolist()} == kept
    assert [row for rows in part.polygons.values() for row in rows.tolist()] == [cell for cell, _ in expected]
    assert part.polygon_prob.tolist() == [p for _, p in expected]
    assert part.validate().num_nodes == 9
    assert bool((part.edge_prob >= 0.25).all())


def test_threshold_of_one_kind_alone(house: CellComplex) -> None:
    assert house.threshold(polygons=0.8).polygon_prob.tolist() == [0.8]
    assert house.threshold(polygons=0.8).num_edges == 6
    assert house.threshold(edges=0.3).polygon_prob.tolist() == [0.7]
    assert house.threshold() == house
    float32 = CellComplex(2, [[0], [1]], edge_prob=torch.tensor([0.1]))
    assert float32.threshold(edges=0.1).num_edges == 1  # not lost to rounding


def test_gradients_pass_a_threshold() -> None:
    prob = torch.tensor([0.25, 0.75], requires_grad=True)
    CellComplex(3, [[0, 1], [1, 2]], edge_prob=prob).threshold(edges=0.5).edge_prob.sum().backward()
    assert prob.grad.tolist() == [0, 1]


def test_thresholds_that_make_no_sense(house: CellComplex) -> None:
    bare = CellComplex(6, house.edge_index, house.polygons)
    with pytest.raises(LatopoError, match=r"edges=0.5, but the complex has no edge_prob; build it with edge_prob="):
        bare.threshold(edges=0.5)
    with pytest.raises(LatopoError, match=r"the complex has no polygon_prob"):
        bare.threshold(polygons=0.5)
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(LatopoError, match="edges must be a probability between 0 and 1"):
            house.threshold(edges=wrong)
