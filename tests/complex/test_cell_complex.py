import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import CellComplex
from latopo.errors import LatopoError


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_any_writing_of_the_cells_gives_the_same_complex(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(complex.num_edges, generator=generator)
    swap = torch.rand(complex.num_edges, generator=generator) < 0.5
    edges = complex.edge_index[:, order]
    edges = torch.where(swap, edges.flip(0), edges)
    polygons, order_of_polygons, first = {}, [], 0
    for length, rows in complex.polygons.items():
        mixed = torch.randperm(rows.size(0), generator=generator)
        turn = int(torch.randint(length, (1,), generator=generator))
        polygons[length] = rows[mixed].roll(turn, dims=1).flip(1)
        order_of_polygons.append(first + mixed)
        first += rows.size(0)
    polygon_prob = complex.polygon_prob[torch.cat(order_of_polygons)]
    other = CellComplex(complex.num_nodes, edges, polygons, complex.edge_prob[order], polygon_prob)
    assert other == complex
    assert torch.equal(other.edge_prob, complex.edge_prob)
    assert torch.equal(other.polygon_prob, complex.polygon_prob)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_renumbering_the_nodes_changes_no_invariant(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed)
    number = torch.randperm(complex.num_nodes, generator=torch.Generator().manual_seed(seed))
    polygons = {length: number[rows] for length, rows in complex.polygons.items()}
    other = CellComplex(complex.num_nodes, number[complex.edge_index], polygons)
    assert other.betti_numbers() == complex.betti_numbers()
    assert torch.equal(other.node_degree()[number], complex.node_degree())
    ids = other.edge_ids(number[complex.edge_index])
    assert torch.equal(other.lower_degree()[ids], complex.lower_degree())
    assert torch.equal(other.upper_degree()[ids], complex.upper_degree())


def test_properties(house: CellComplex) -> None:
    assert (house.num_nodes, house.num_edges, house.num_polygons) == (6, 6, 2)
    assert house.edge_index.tolist() == [[0, 0, 1, 2, 2, 3], [1, 3, 2, 3, 4, 4]]
    assert house.polygons[3].tolist() == [[2, 3, 4]]
    assert house.polygon_lengths.tolist() == [3, 4]
    assert house.device == torch.device("cpu")
    assert house.edge_ids(torch.tensor([[4, 0], [3, 2]])).tolist() == [5, -1]


def test_both_directions_are_one_edge() -> None:
    edge_index = torch.tensor([[2, 0, 1, 1], [1, 1, 2, 0]])
    assert CellComplex(3, edge_index).edge_index.tolist() == [[0, 1], [1, 2]]


def test_unchecked_duplicates_are_merged() -> None:
    complex = CellComplex(2, torch.tensor([[0, 1], [1, 0]]), edge_prob=torch.tensor([0.5, 0.25]), validate=False)
    assert complex.edge_prob.tolist() == [0.375]


def test_gradients_reach_the_given_probabilities() -> None:
    edge_prob = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
    polygon_prob = torch.tensor([0.5], requires_grad=True)
    edge_index, polygons = torch.tensor([[2, 1, 2], [1, 0, 0]]), {3: torch.tensor([[2, 1, 0]])}
    complex = CellComplex(3, edge_index, polygons, edge_prob, polygon_prob)
    (complex.edge_prob * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    complex.polygon_prob.sum().backward()
    assert edge_prob.grad.tolist() == [100, 1, 10]
    assert polygon_prob.grad.tolist() == [1]
    assert not complex.detach().edge_prob.requires_grad
    assert not complex.detach().polygon_prob.requires_grad
    assert complex.detach() == complex


def test_a_complex_cannot_be_changed(house: CellComplex) -> None:
    for name in ("num_nodes", "edge_prob", "anything"):
        with pytest.raises(AttributeError, match=f"immutable: {name} cannot be set"):
            setattr(house, name, None)
    with pytest.raises(AttributeError, match="immutable"):
        del house._cells
    house.polygons.clear()
    assert house.num_polygons == 2


def test_the_given_dictionary_is_not_kept(house: CellComplex) -> None:
    polygons = house.polygons
    checked, trusted = (
        CellComplex(6, house.edge_index, polygons),
        CellComplex.from_canonical(6, house.edge_index, polygons),
    )
    polygons.clear()
    assert checked.num_polygons == trusted.num_polygons == 2


def test_trusted_construction_copies_nothing_and_sorts_lengths(house: CellComplex) -> None:
    polygons = dict(reversed(house.polygons.items()))
    complex = CellComplex.from_canonical(6, house.edge_index, polygons, house.edge_prob, house.polygon_prob)
    assert complex.edge_index is house.edge_index
    assert complex.edge_prob is house.edge_prob
    assert complex.polygons[4] is house.polygons[4]
    assert list(complex.polygons) == [3, 4]


def test_trusted_construction_and_products_read_no_tensor() -> None:
    # Tensors on the meta device have no content: reading one, as a synchronisation with a GPU would, is an error.
    edge_index = torch.zeros(2, 5, dtype=torch.int64, device="meta")
    polygons = {3: torch.zeros(2, 3, dtype=torch.int64, device="meta"), 4: edge_index.new_zeros(1, 4)}
    complex = CellComplex.from_canonical(4, edge_index, polygons, torch.rand(5, device="meta"))
    assert complex.num_polygons == 3
    assert complex.polygon_edge_index().shape == (2, 10)
    x = torch.rand(5, 2, device="meta")
    assert complex.lower_product(x, complex.edge_prob).shape == (5, 2)
    assert complex.upper_product(x, complex.edge_prob, torch.rand(3, device="meta")).shape == (5, 2)
    assert complex.upper_degree().shape == (5,)
    assert complex.detach().to(torch.float64).edge_prob.dtype == torch.float64
    assert hash(complex) is not None


def test_equality_is_of_cells_not_of_probabilities(house: CellComplex) -> None:
    plain = CellComplex(6, house.edge_index, house.polygons | {5: torch.zeros(0, 5, dtype=torch.int64)})
    assert plain == house
    assert hash(plain) == hash(house)
    assert house != CellComplex(7, house.edge_index, house.polygons)
    assert house != house.skeleton(1)
    assert CellComplex(3, torch.tensor([[0], [1]])) != CellComplex(3, torch.tensor([[0], [2]]))
    assert house != "house"
    edges = torch.tensor([[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]])
    first, second = (CellComplex(4, edges, {3: torch.tensor([row])}) for row in ([0, 1, 2], [0, 1, 3]))
    assert first != second


def test_repr(house: CellComplex, empty: CellComplex) -> None:
    assert repr(house) == "CellComplex(num_nodes=6, num_edges=6, polygons={3: 1, 4: 1})"
    assert repr(empty) == "CellComplex(num_nodes=0, num_edges=0, polygons={})"


def test_to_another_dtype_and_device(house: CellComplex) -> None:
    half = house.to(torch.float16)
    assert (half.edge_prob.dtype, half.polygon_prob.dtype) == (torch.float16, torch.float16)
    assert half.edge_index is house.edge_index
    assert house.to("cpu").edge_prob is house.edge_prob
    moved = house.to("meta", torch.float32)
    assert moved.device.type == moved.polygons[4].device.type == moved.polygon_prob.device.type == "meta"
    assert moved.edge_prob.dtype == torch.float32


def test_copies_and_pickles(house: CellComplex) -> None:
    for other in (copy.copy(house), copy.deepcopy(house), pickle.loads(pickle.dumps(house))):
        assert other == house
        assert torch.equal(other.edge_prob, house.edge_prob)


def test_pairs_of_nodes_that_are_not_there_have_no_edge() -> None:
    path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
    assert path.edge_ids(torch.tensor([[0, -1, 1], [5, 4, 2]])).tolist() == [-1, -1, 1]


def test_probabilities_stay_numbers_with_fractions(house: CellComplex) -> None:
    with pytest.raises(
        LatopoError, match=r"CellComplex.to: probabilities need a floating point dtype, got torch.int64"
    ):
        house.to(torch.int64)


def test_other_probabilities_share_what_was_derived(house: CellComplex) -> None:
    sides = house.polygon_edge_index()
    other = house.with_probabilities(torch.full((house.num_edges,), 0.5))
    assert other == house
    assert other.polygon_prob is None
    assert other.polygon_edge_index() is sides
    with pytest.raises(LatopoError, match="edge_prob"):
        house.with_probabilities(torch.ones(3))
