from collections.abc import Callable

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError

Cell = frozenset[int]


def _cells(complex: CellComplex) -> tuple[dict[Cell, float], dict[tuple[int, ...], float]]:
    """Edges and polygons with their probabilities, as dictionaries."""
    edges = zip(map(frozenset, complex.edge_index.t().tolist()), complex.edge_prob.tolist(), strict=True)
    rows = [tuple(row) for rows in complex.polygons.values() for row in rows.tolist()]
    return dict(edges), dict(zip(rows, complex.polygon_prob.tolist(), strict=True))


def test_skeletons(house: CellComplex) -> None:
    assert house.skeleton(2) is house
    graph = house.skeleton(1)
    assert (graph.num_nodes, graph.num_edges, graph.polygons) == (6, 6, {})
    assert graph.edge_prob is house.edge_prob
    assert graph.polygon_prob is None
    assert house.skeleton(0) == CellComplex(6, torch.zeros(2, 0, dtype=torch.int64))
    with pytest.raises(LatopoError, match="order 0, 1 or 2, got 3"):
        house.skeleton(3)


@pytest.mark.parametrize("seed", range(6))
def test_subcomplex_equals_filtering_by_hand(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed, num_nodes=9)
    nodes = torch.randperm(9, generator=torch.Generator().manual_seed(seed))[:6]
    part = complex.subcomplex(nodes).validate()
    old = sorted(nodes.tolist())
    edges, polygons = _cells(complex)
    part_edges, part_polygons = _cells(part)
    assert {frozenset(old[i] for i in edge): p for edge, p in part_edges.items()} == {
        edge: p for edge, p in edges.items() if edge <= set(old)
    }
    assert {tuple(old[i] for i in row): p for row, p in part_polygons.items()} == {
        row: p for row, p in polygons.items() if set(row) <= set(old)
    }
    mask = torch.zeros(9, dtype=torch.bool)
    mask[nodes] = True
    assert complex.subcomplex(mask) == part


def test_subcomplex_keeps_gradients(house: CellComplex) -> None:
    edge_prob = house.edge_prob.clone().requires_grad_()
    polygon_prob = house.polygon_prob.clone().requires_grad_()
    complex = CellComplex(6, house.edge_index, house.polygons, edge_prob, polygon_prob)
    part = complex.subcomplex(torch.tensor([2, 3, 4]))
    (part.edge_prob.sum() + part.polygon_prob.sum()).backward()
    assert edge_prob.grad.tolist() == [0, 0, 0, 1, 1, 1]
    assert polygon_prob.grad.tolist() == [1, 0]


def test_subcomplex_of_nothing_and_of_wrong_nodes(house: CellComplex, empty: CellComplex) -> None:
    nothing = house.subcomplex(torch.zeros(0, dtype=torch.int64))
    assert nothing == empty
    for wrong in ([6], [-1]):
        with pytest.raises(LatopoError, match="nodes must lie in 0 … num_nodes-1=5"):
            house.subcomplex(torch.tensor(wrong))
    with pytest.raises(LatopoError, match=r"mask has shape \[2\], expected \[6\]"):
        house.subcomplex(torch.tensor([True, False]))


@pytest.mark.parametrize("seed", range(6))
def test_difference_equals_sets(random_complex: Callable[..., CellComplex], seed: int) -> None:
    before, after = random_complex(seed, density=0.75), random_complex(seed + 50, num_nodes=9, density=0.75)
    change = before.difference(after)
    for kind, old, new in zip(("edges", "polygons"), _cells(before), _cells(after), strict=True):
        old, new = list(old), list(new)
        kept = getattr(change, f"{kind}_kept").tolist()
        assert [new[i] for i in getattr(change, f"{kind}_gained").tolist()] == [cell for cell in new if cell not in old]
        assert [old[i] for i in getattr(change, f"{kind}_lost").tolist()] == [cell for cell in old if cell not in new]
        assert [old[i] for i in kept[0]] == [new[i] for i in kept[1]] == [cell for cell in old if cell in new]


def test_difference_of_the_house_without_its_roof(house: CellComplex) -> None:
    walls = CellComplex(6, house.edge_index[:, :4], {4: house.polygons[4]})
    change = house.difference(walls)
    assert repr(change) == ("ComplexDifference(edges: 0 gained, 2 lost, 4 kept; polygons: 0 gained, 1 lost, 1 kept)")
    assert change.edges_lost.tolist() == [4, 5]
    assert change.polygons_kept.tolist() == [[1], [0]]
    with pytest.raises(AttributeError):
        change.edges_lost = change.edges_gained


@pytest.mark.parametrize("seed", range(4))
def test_disjoint_union_keeps_every_part(random_complex: Callable[..., CellComplex], seed: int) -> None:
    parts = [random_complex(seed, num_nodes=9), CellComplex.from_canonical(0, *_no_cells()), random_complex(seed + 9)]
    whole = CellComplex.disjoint_union(parts).validate()
    assert whole.num_edges == sum(part.num_edges for part in parts)
    assert whole.num_polygons == sum(part.num_polygons for part in parts)
    first = 0
    for part in parts:
        again = whole.subcomplex(torch.arange(first, first + part.num_nodes))
        assert again == part
        assert torch.equal(again.edge_prob, part.edge_prob)
        assert torch.equal(again.polygon_prob, part.polygon_prob)
        first += part.num_nodes
    assert whole.num_nodes == first


def _no_cells() -> tuple[torch.Tensor, dict[int, torch.Tensor], torch.Tensor, torch.Tensor]:
    none = torch.zeros(0, dtype=torch.float64)
    return torch.zeros(2, 0, dtype=torch.int64), {}, none, none


def test_disjoint_union_of_complexes_of_different_lengths() -> None:
    triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
    square = CellComplex(4, torch.tensor([[0, 0, 1, 2], [1, 3, 2, 3]]), {4: torch.tensor([[0, 1, 2, 3]])})
    whole = CellComplex.disjoint_union([square, triangle]).validate()
    assert {length: rows.tolist() for length, rows in whole.polygons.items()} == {3: [[4, 5, 6]], 4: [[0, 1, 2, 3]]}
    assert whole.edge_prob is None
    assert whole.polygon_prob is None


def test_disjoint_union_with_a_complex_without_polygons(house: CellComplex) -> None:
    graph = house.skeleton(1)
    whole = CellComplex.disjoint_union([graph, house])
    assert torch.equal(whole.polygon_prob, house.polygon_prob)
    assert CellComplex.disjoint_union([graph, graph]).polygon_prob is None
    empty = CellComplex.from_canonical(6, house.edge_index, {}, house.edge_prob, house.polygon_prob[:0])
    assert CellComplex.disjoint_union([empty, empty]).polygon_prob.shape == (0,)


def test_disjoint_union_refuses_nothing_and_half_probabilities(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match="at least one complex, got none"):
        CellComplex.disjoint_union([])
    bare = CellComplex(6, house.edge_index, house.polygons, polygon_prob=house.polygon_prob)
    with pytest.raises(LatopoError, match="all complexes have edge_prob, or none"):
        CellComplex.disjoint_union([house, bare])
