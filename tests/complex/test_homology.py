from collections.abc import Callable

import pytest
import sympy
import torch

from latopo import CellComplex

Builder = Callable[[list[list[int]]], CellComplex]

CUBE = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
PROJECTIVE_PLANE = [
    [0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 1, 5], [1, 2, 4], [1, 3, 4], [1, 3, 5], [2, 3, 5], [2, 4, 5],
]  # fmt: skip


def _rank_gf2(matrix: torch.Tensor) -> int:
    """Dense elimination over GF(2)."""
    rows = [int("".join(map(str, row)), 2) for row in matrix.long().abs().remainder(2).tolist() if row]
    rank = 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return rank


def _torus(height: int, width: int) -> list[list[int]]:
    def number(i: int, j: int) -> int:
        return (i % height) * width + j % width

    return [
        [number(i, j), number(i, j + 1), number(i + 1, j + 1), number(i + 1, j)]
        for i in range(height)
        for j in range(width)
    ]


def _klein_bottle(height: int, width: int) -> list[list[int]]:
    """A torus of squares that is turned over where it closes."""

    def number(i: int, j: int) -> int:
        return (i if j < width else -i) % height * width + j % width

    return [
        [number(i, j), number(i, j + 1), number(i + 1, j + 1), number(i + 1, j)]
        for i in range(height)
        for j in range(width)
    ]


def _shifted(cells: list[list[int]], offset: int) -> list[list[int]]:
    return [[vertex + offset for vertex in cell] for cell in cells]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([[0, 1, 2]], (1, 0, 0)),
        (CUBE, (1, 0, 1)),
        (CUBE[1:], (1, 0, 0)),
        (CUBE[2:], (1, 1, 0)),
        (_torus(5, 6), (1, 2, 1)),
        (_torus(5, 6)[1:], (1, 2, 0)),
        (_torus(9, 70), (1, 2, 1)),
        (PROJECTIVE_PLANE, (1, 1, 1)),
        (CUBE + _shifted(_torus(5, 5), 8) + _shifted(CUBE[2:], 33), (3, 3, 2)),
    ],
)
def test_betti_numbers_of_known_spaces(
    from_polygons: Builder, cells: list[list[int]], expected: tuple[int, int, int]
) -> None:
    complex = from_polygons(cells)
    assert complex.betti_numbers() == expected
    assert complex.euler_characteristic() == expected[0] - expected[1] + expected[2]


@pytest.mark.parametrize(
    ("cells", "even", "odd"),
    [
        (CUBE, (1, 0, 1), (1, 0, 1)),
        (_torus(5, 6), (1, 2, 1), (1, 2, 1)),
        (_klein_bottle(5, 6), (1, 2, 1), (1, 1, 0)),
        (_klein_bottle(12, 9), (1, 2, 1), (1, 1, 0)),
        (_klein_bottle(5, 6)[1:], (1, 2, 0), (1, 2, 0)),  # with a hole it is a wedge of circles, as a torus with one
        (PROJECTIVE_PLANE, (1, 1, 1), (1, 0, 0)),
        (_klein_bottle(5, 5) + _shifted(_torus(5, 5), 25) + _shifted(PROJECTIVE_PLANE, 50), (3, 5, 3), (3, 3, 1)),
    ],
)
def test_a_klein_bottle_is_not_a_torus(
    from_polygons: Builder, cells: list[list[int]], even: tuple[int, int, int], odd: tuple[int, int, int]
) -> None:
    cx = from_polygons(cells)
    assert cx.betti_numbers() == cx.betti_numbers(field=2) == even
    for field in (3, 5, 11, 2147483647, "rational", 0):
        assert cx.betti_numbers(field=field) == odd


@pytest.mark.parametrize("seed", range(8))
def test_betti_numbers_over_the_rationals_equal_sympy(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed, num_nodes=7, density=0.6 + 0.03 * seed)
    first, second = (sympy.Matrix(cx.boundary(rank).to_dense().int().tolist()).rank() for rank in (1, 2))
    expected = (cx.num_nodes - first, cx.num_edges - first - second, cx.num_polygons - second)
    assert cx.num_polygons > 0
    assert cx.betti_numbers("rational") == expected
    # The kernel of the Hodge Laplacian says the same.
    spectra = [torch.linalg.eigvalsh(cx.hodge_laplacian(rank, dtype=torch.float64).to_dense()) for rank in range(3)]
    assert tuple(int((values.abs() < 1e-9).sum()) for values in spectra) == expected


@pytest.mark.parametrize("field", [2, 3, 7])
def test_betti_numbers_of_a_random_2_complex_equal_gudhi(field: int) -> None:
    gudhi = pytest.importorskip("gudhi")
    generator = torch.Generator().manual_seed(field)
    triangles = torch.combinations(torch.arange(14), 3)
    triangles = triangles[torch.randperm(len(triangles), generator=generator)[:180]]
    cx = CellComplex(14, torch.combinations(torch.arange(14)).t(), {3: triangles})
    tree = gudhi.SimplexTree()
    for row in [*cx.edge_index.t().tolist(), *triangles.tolist()]:
        tree.insert(row)
    tree.compute_persistence(homology_coeff_field=field, persistence_dim_max=True)
    assert list(cx.betti_numbers(field)) == tree.betti_numbers()


@pytest.mark.parametrize("seed", range(12))
def test_betti_numbers_equal_dense_ranks(random_complex: Callable[..., CellComplex], seed: int) -> None:
    complex = random_complex(seed, num_nodes=11, density=0.2 + 0.04 * seed)
    first, second = (_rank_gf2(complex.boundary(rank).to_dense()) for rank in (1, 2))
    assert complex.betti_numbers() == (
        complex.num_nodes - first,
        complex.num_edges - first - second,
        complex.num_polygons - second,
    )


@pytest.mark.parametrize("seed", range(3))
def test_betti_numbers_of_triangles_equal_gudhi(seed: int) -> None:
    gudhi = pytest.importorskip("gudhi")
    points = torch.rand(60, 3, generator=torch.Generator().manual_seed(seed))
    tree = gudhi.RipsComplex(points=points.tolist(), max_edge_length=0.35).create_simplex_tree(max_dimension=2)
    simplices = [simplex for simplex, _ in tree.get_simplices()]
    edges = torch.tensor([simplex for simplex in simplices if len(simplex) == 2]).t()
    complex = CellComplex(60, edges, {3: torch.tensor([simplex for simplex in simplices if len(simplex) == 3])})
    tree.compute_persistence(homology_coeff_field=2, min_persistence=-1.0, persistence_dim_max=True)
    assert complex.num_polygons > complex.num_edges
    assert list(complex.betti_numbers()) == tree.betti_numbers()


def test_betti_numbers_of_degenerate_complexes(empty: CellComplex) -> None:
    assert empty.betti_numbers() == (0, 0, 0)
    assert CellComplex(3, torch.zeros(2, 0, dtype=torch.int64)).betti_numbers() == (3, 0, 0)
    assert CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]])).betti_numbers() == (1, 0, 0)
