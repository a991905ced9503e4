"""Pairs against GUDHI and against Betti numbers of thresholds."""

from collections.abc import Callable
from math import inf

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import CellComplex
from latopo.errors import LatopoError


def _sorted(pairs: list[tuple[int, tuple[float, float]]]) -> list[tuple[int, float, float]]:
    return sorted((rank, birth, death) for rank, (birth, death) in pairs)


@pytest.mark.parametrize("field", [2, 3, 11])
@pytest.mark.parametrize("seed", range(6))
def test_pairs_equal_gudhi(random_complex: Callable[..., CellComplex], seed: int, field: int) -> None:
    pytest.importorskip("gudhi")
    cx = random_complex(seed, num_nodes=12, density=0.3 + 0.08 * seed)
    theirs = cx.to_gudhi().persistence(homology_coeff_field=field, persistence_dim_max=True)
    assert cx.num_polygons > 0
    assert _sorted(cx.persistence(field).to_gudhi()) == _sorted(theirs)


@pytest.mark.parametrize("steps", [1, 3])
def test_pairs_with_many_ties_equal_gudhi(random_complex: Callable[..., CellComplex], steps: int) -> None:
    pytest.importorskip("gudhi")
    cx = random_complex(5, num_nodes=14, density=0.5)
    coarse = [(prob * steps).round() / steps for prob in (cx.edge_prob, cx.polygon_prob)]
    tied = CellComplex(14, cx.edge_index, cx.polygons, *coarse)
    theirs = tied.to_gudhi().persistence(homology_coeff_field=2, persistence_dim_max=True)
    assert _sorted(tied.persistence().to_gudhi()) == _sorted(theirs)


def test_torsion_shows_in_the_pairs(from_polygons: Callable[[list[list[int]]], CellComplex]) -> None:
    gudhi = pytest.importorskip("gudhi")
    plane = from_polygons(
        [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 1, 5], [1, 2, 4], [1, 3, 4], [1, 3, 5], [2, 3, 5], [2, 4, 5]]
    )
    prob = torch.linspace(1, 0.5, 10, dtype=torch.float64)
    cx = CellComplex(6, plane.edge_index, plane.polygons, polygon_prob=prob)
    assert isinstance(cx.to_gudhi(), gudhi.SimplexTree)
    for field, betti in ((2, (1, 1, 1)), (3, (1, 0, 0))):
        found = cx.persistence(field)
        assert found.betti_numbers(1.0) == cx.betti_numbers(field) == betti
        theirs = cx.to_gudhi().persistence(homology_coeff_field=field, persistence_dim_max=True)
        assert _sorted(found.to_gudhi()) == _sorted(theirs)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_what_is_alive_are_the_betti_numbers_of_the_threshold(
    random_complex: Callable[..., CellComplex], seed: int
) -> None:
    cx = random_complex(seed, num_nodes=9, density=0.5)
    # Eighths are exact, so 1 − p and the threshold say the same.
    eighths = [(prob * 8).round() / 8 for prob in (cx.edge_prob, cx.polygon_prob)]
    cx = CellComplex(9, cx.edge_index, cx.polygons, *eighths)
    for field in (2, 5):
        found = cx.persistence(field)
        for eighth in range(9):
            at = eighth / 8
            assert found.betti_numbers(at) == cx.threshold(1 - at, 1 - at).betti_numbers(field)


@pytest.mark.parametrize("seed", range(4))
def test_every_cell_begins_or_ends_one_class(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed, num_nodes=10)
    found = cx.persistence(min_persistence=-1)
    counts = (cx.num_nodes, cx.num_edges, cx.num_polygons)
    for rank, count in enumerate(counts):
        begins = found.cells[rank][:, 0]
        ends = found.cells[rank - 1][:, 1] if rank else begins[:0]
        assert sorted([*begins.tolist(), *ends[ends >= 0].tolist()]) == list(range(count))
    values = (torch.zeros(cx.num_nodes, dtype=torch.float64), *cx.filtration_values())
    for rank in range(3):
        begin, end = found.cells[rank].t()
        assert torch.equal(found.pairs[rank][:, 0], values[rank][begin])
        assert torch.equal(end < 0, found.pairs[rank][:, 1].isinf())
        if rank < 2:
            assert torch.equal(found.pairs[rank][end >= 0, 1], values[rank + 1][end[end >= 0]])
        life = found.pairs[rank][:, 1] - found.pairs[rank][:, 0]
        assert bool((life[1:] <= life[:-1]).all())
    lasting = cx.persistence(min_persistence=0.25)
    for rank in range(3):
        life = found.pairs[rank][:, 1] - found.pairs[rank][:, 0]
        assert torch.equal(lasting.pairs[rank], found.pairs[rank][life > 0.25])


def test_gradients_reach_the_probabilities() -> None:
    edge_prob = torch.tensor([1.0, 1.0, 0.75, 0.5], requires_grad=True)
    polygon_prob = torch.tensor([0.125], requires_grad=True)
    square = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]], [[0, 1, 2, 3]], edge_prob, polygon_prob)
    birth, death = square.persistence().pairs[1][0]
    (death - birth).backward()
    assert edge_prob.grad.tolist() == [0, 0, 0, 1]
    assert polygon_prob.grad.tolist() == [-1]


def test_degenerate_complexes(empty: CellComplex, house: CellComplex) -> None:
    assert [len(pair) for pair in empty.persistence().pairs] == [0, 0, 0]
    nodes = CellComplex(3, []).persistence()
    assert nodes.to_gudhi() == 3 * [(0, (0.0, inf))]
    bare = CellComplex(6, house.edge_index, house.polygons).persistence()
    assert bare.to_gudhi() == 2 * [(0, (0.0, inf))]
    assert repr(bare) == "Persistence(2 of dimension 0, 0 of dimension 1, 0 of dimension 2; [2, 0, 0] for ever; GF(2))"


def test_fields_are_primes(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match="field must be a prime; a large one, such as 2147483647"):
        house.persistence("rational")
    with pytest.raises(LatopoError, match=r"CellComplex.persistence: field must be a prime"):
        house.persistence(4)
    assert house.persistence(2147483647).to_gudhi() == house.persistence(2).to_gudhi()
