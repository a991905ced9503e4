from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError


def _adjacencies_by_hand(complex: CellComplex) -> tuple[Tensor, Tensor]:
    """Dense lower adjacency [E, E] and, per polygon, upper adjacency [P, E, E], by going through all pairs of edges."""
    edges = [frozenset(edge) for edge in complex.edge_index.t().tolist()]
    cells = [row for rows in complex.polygons.values() for row in rows.tolist()]
    borders = [{frozenset(pair) for pair in zip(cell, cell[1:] + cell[:1], strict=True)} for cell in cells]
    lower = torch.zeros(len(edges), len(edges), dtype=torch.float64)
    upper = torch.zeros(len(cells), len(edges), len(edges), dtype=torch.float64)
    for i, first in enumerate(edges):
        for j, second in enumerate(edges):
            if i != j:
                lower[i, j] = bool(first & second)
                for k, border in enumerate(borders):
                    upper[k, i, j] = first in border and second in border
    return lower, upper


@pytest.mark.parametrize("seed", range(6))
def test_products_adjacencies_and_degrees_equal_the_pairs_by_hand(
    random_complex: Callable[..., CellComplex], seed: int
) -> None:
    complex = random_complex(seed)
    lower, upper = _adjacencies_by_hand(complex)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(complex.num_edges, 3, generator=generator, dtype=torch.float64)
    edge_weight, polygon_weight = complex.edge_prob, complex.polygon_prob
    weighted_upper = torch.einsum("p,pef->ef", polygon_weight, upper) * edge_weight

    assert torch.equal(complex.lower_adjacency(dtype=torch.float64).to_dense(), lower)
    assert torch.equal(complex.upper_adjacency(dtype=torch.float64).to_dense(), upper.sum(0))
    torch.testing.assert_close(complex.lower_product(x), lower @ x)
    torch.testing.assert_close(complex.upper_product(x), upper.sum(0) @ x)
    torch.testing.assert_close(complex.lower_product(x, edge_weight), lower * edge_weight @ x)
    torch.testing.assert_close(complex.upper_product(x, edge_weight, polygon_weight), weighted_upper @ x)
    torch.testing.assert_close(complex.upper_product(x[:, 0], edge_weight, polygon_weight), weighted_upper @ x[:, 0])
    assert torch.equal(complex.lower_degree(), lower.sum(1).long())
    assert torch.equal(complex.upper_degree(), upper.sum(0).sum(1).long())
    torch.testing.assert_close(complex.lower_degree(edge_weight), lower @ edge_weight)
    torch.testing.assert_close(complex.upper_degree(edge_weight, polygon_weight), weighted_upper.sum(1))
    unweighted_edges = torch.einsum("p,pef->e", polygon_weight, upper)
    torch.testing.assert_close(complex.upper_degree(polygon_weight=polygon_weight), unweighted_edges)


def test_node_adjacency(random_complex: Callable[..., CellComplex], empty: CellComplex) -> None:
    cx = random_complex(3)
    weight = cx.edge_prob.clone().requires_grad_()
    expected = torch.zeros(8, 8, dtype=torch.float64)
    for (u, v), value in zip(cx.edge_index.t().tolist(), cx.edge_prob.tolist(), strict=True):
        expected[u, v] = expected[v, u] = value
    found = cx.node_adjacency(weight)
    assert torch.equal(found.to_dense(), expected)
    assert torch.equal(cx.node_adjacency().to_dense(), (expected > 0).float())
    assert cx.node_adjacency(weight, dtype=torch.float32).dtype == torch.float32
    assert empty.node_adjacency().shape == (0, 0)
    found.coalesce().values().sum().backward()
    assert weight.grad.unique().tolist() == [2]
    with pytest.raises(LatopoError, match="edge_weight has shape"):
        cx.node_adjacency(torch.ones(2))


def test_degrees_of_the_house(house: CellComplex) -> None:
    assert house.node_degree().tolist() == [2, 2, 3, 3, 2, 0]
    assert house.lower_degree().tolist() == [2, 3, 3, 4, 3, 3]
    assert house.upper_degree().tolist() == [3, 3, 3, 5, 2, 2]
    assert house.lower_degree().dtype == house.upper_degree().dtype == torch.int64


def test_two_edges_that_share_two_polygons_count_twice() -> None:
    # Two squares 0-1-2-3 and 0-1-2-4 with the common path 0-1-2; edges 01 03 04 12 23 24.
    edge_index = torch.tensor([[0, 0, 0, 1, 2, 2], [1, 3, 4, 2, 3, 4]])
    complex = CellComplex(5, edge_index, {4: torch.tensor([[0, 1, 2, 3], [0, 1, 2, 4]])})
    assert complex.upper_adjacency().to_dense()[0].tolist() == [0, 1, 1, 2, 1, 1]
    assert complex.upper_degree()[0] == 6


def test_gradients_to_features_and_weights(random_complex: Callable[..., CellComplex]) -> None:
    complex = random_complex(1, num_nodes=6, density=0.7)
    assert complex.num_polygons > 1
    x = torch.randn(complex.num_edges, 2, dtype=torch.float64, requires_grad=True)
    edge_weight = complex.edge_prob.clone().requires_grad_()
    polygon_weight = complex.polygon_prob.clone().requires_grad_()
    assert torch.autograd.gradcheck(complex.lower_product, (x, edge_weight))
    assert torch.autograd.gradcheck(complex.upper_product, (x, edge_weight, polygon_weight))


def test_a_lonely_edge_hears_nothing() -> None:
    complex = CellComplex(2, torch.tensor([[0], [1]]))
    x = torch.tensor([[0.1, 1e30]])
    assert complex.lower_product(x).tolist() == [[0.0, 0.0]]
    assert complex.upper_product(x).tolist() == [[0.0, 0.0]]


def test_a_hub_is_linear_in_products_and_refused_as_a_matrix() -> None:
    count = 5_000
    star = CellComplex(count + 1, torch.stack([torch.zeros(count, dtype=torch.int64), torch.arange(1, count + 1)]))
    x = torch.arange(count, dtype=torch.float64)
    assert torch.equal(star.lower_product(x), x.sum() - x)
    with pytest.raises(TooManyCellsError, match=r"CellComplex.lower_adjacency: .*25,005,000 entries.*lower_product"):
        star.lower_adjacency()


def test_upper_adjacency_is_guarded(house: CellComplex) -> None:
    with pytest.raises(TooManyCellsError, match=r"upper_adjacency: .* 25 entries, more than max_entries=24"):
        house.upper_adjacency(max_entries=24)
    assert house.upper_adjacency(max_entries=25).shape == (6, 6)


def test_degenerate_products(empty: CellComplex) -> None:
    nodes_only = CellComplex(2, torch.zeros(2, 0, dtype=torch.int64))
    for complex in (empty, nodes_only):
        x = torch.zeros(0, 3)
        assert complex.lower_product(x).shape == complex.upper_product(x).shape == (0, 3)
        assert complex.lower_adjacency().shape == complex.upper_adjacency().shape == (0, 0)
        assert complex.node_degree().tolist() == [0] * complex.num_nodes


def test_wrong_row_counts_are_named(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match=r"x has shape \[5, 2\], expected 6 rows"):
        house.lower_product(torch.zeros(5, 2))
    with pytest.raises(LatopoError, match=r"edge_weight has shape \[2\], expected 6 rows"):
        house.upper_product(torch.zeros(6, 2), torch.zeros(2))
    with pytest.raises(LatopoError, match=r"polygon_weight has shape \[6\], expected 2 rows"):
        house.upper_product(torch.zeros(6, 2), polygon_weight=torch.zeros(6))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_hub_in_half_precision(dtype):
    star = CellComplex(3000, torch.stack([torch.zeros(2999, dtype=torch.int64), torch.arange(1, 3000)]))
    degree = star.lower_degree(torch.full((2999,), 0.5, dtype=dtype))
    assert degree.dtype == dtype
    assert degree.float().tolist() == pytest.approx([1499.0] * 2999, rel=0.01)
