from collections.abc import Callable

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError


def test_boundary_of_the_house(house: CellComplex) -> None:
    first, second = house.boundary(1), house.boundary(2)
    assert first.layout == torch.sparse_coo
    assert first.dtype == torch.get_default_dtype()
    assert first.to_dense().tolist() == [
        [-1, -1, 0, 0, 0, 0],
        [1, 0, -1, 0, 0, 0],
        [0, 0, 1, -1, -1, 0],
        [0, 1, 0, 1, 0, -1],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0],
    ]
    assert second.to_dense().t().tolist() == [[0, 0, 0, 1, -1, 1], [1, -1, 1, 1, 0, 0]]
    assert torch.equal(house.incidence(1).to_dense(), first.to_dense().abs())
    assert torch.equal(house.incidence(2).to_dense(), second.to_dense().abs())


@pytest.mark.parametrize("seed", range(8))
def test_boundary_of_a_boundary_is_zero(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed, num_nodes=9)
    assert complex.num_polygons > 0
    second = complex.boundary(2, dtype=torch.float64)
    assert torch.equal(second.to_dense().abs().sum(0).long(), complex.polygon_lengths)
    product = torch.sparse.mm(complex.boundary(1, dtype=torch.float64), second).to_dense()
    assert product.shape == (complex.num_nodes, complex.num_polygons)
    assert not product.any()


@pytest.mark.parametrize("seed", range(4))
def test_hodge_laplacians_equal_the_dense_products(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed)
    first, second = (complex.boundary(rank, dtype=torch.float64).to_dense() for rank in (1, 2))
    expected = [first @ first.T, first.T @ first + second @ second.T, second.T @ second]
    for rank in range(3):
        laplacian = complex.hodge_laplacian(rank, dtype=torch.float64)
        assert torch.equal(laplacian.to_dense(), expected[rank])
        assert laplacian.is_coalesced()
        assert bool((laplacian.values() != 0).all())


@pytest.mark.parametrize("seed", range(3))
def test_up_and_down_laplacians_apart(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed)
    first, second = (cx.boundary(rank, dtype=torch.float64).to_dense() for rank in (1, 2))
    zeros = [torch.zeros(count, count, dtype=torch.float64) for count in (cx.num_nodes, cx.num_polygons)]
    down, up = [zeros[0], first.T @ first, second.T @ second], [first @ first.T, second @ second.T, zeros[1]]
    for rank in range(3):
        found = [cx.hodge_laplacian(rank, part, dtype=torch.float64) for part in ("down", "up", "both")]
        assert torch.equal(found[0].to_dense(), down[rank])
        assert torch.equal(found[1].to_dense(), up[rank])
        assert torch.equal(found[2].to_dense(), down[rank] + up[rank])
        assert all(matrix.is_coalesced() for matrix in found)
        assert cx.hodge_laplacian(rank).dtype == torch.get_default_dtype()


def test_hodge_laplacian_counts_before_it_builds() -> None:
    star = torch.stack([torch.zeros(100, dtype=torch.int64), torch.arange(1, 101)])
    with pytest.raises(TooManyCellsError, match=r"CellComplex.hodge_laplacian: .*10,100 entries") as caught:
        CellComplex(101, star).hodge_laplacian(1, max_entries=10_000)
    assert (caught.value.count, caught.value.limit) == (10_100, 10_000)


def test_degenerate_shapes(empty: CellComplex) -> None:
    nodes_only = CellComplex(3, torch.zeros(2, 0, dtype=torch.int64), {3: torch.zeros(0, 3, dtype=torch.int64)})
    for complex, count in ((empty, 0), (nodes_only, 3)):
        assert complex.boundary(1).shape == (count, 0)
        assert complex.boundary(2).shape == (0, 0)
        assert complex.polygon_edge_index().shape == (2, 0)
        assert [complex.hodge_laplacian(rank).shape[0] for rank in range(3)] == [count, 0, 0]


def test_polygon_edge_index_goes_along_each_polygon(house: CellComplex) -> None:
    assert house.polygon_edge_index().tolist() == [[3, 5, 4, 0, 2, 3, 1], [0, 0, 0, 1, 1, 1, 1]]
    assert house.polygon_edge_sign().tolist() == [1, 1, -1, 1, 1, 1, -1]
    assert house.polygon_edge_index() is house.polygon_edge_index()


def test_unknown_ranks_are_refused(house: CellComplex) -> None:
    with pytest.raises(LatopoError, match="rank 1 or 2, got 3"):
        house.boundary(3)
    with pytest.raises(LatopoError, match="rank 0, 1 or 2, got 3"):
        house.hodge_laplacian(3)
    with pytest.raises(LatopoError, match="part must be both, up or down, got 'left'"):
        house.hodge_laplacian(1, "left")
