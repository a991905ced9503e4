from collections.abc import Callable

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError

gudhi = pytest.importorskip("gudhi")


def _simplices(tree: object) -> dict[tuple[int, ...], float]:
    return {tuple(simplex): value for simplex, value in tree.get_simplices()}


def test_triangles_are_triangles() -> None:
    cx = CellComplex(4, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]], [1.0, 0.5, 0.75], [0.25])
    assert _simplices(cx.to_gudhi()) == {
        (0,): 0, (1,): 0, (2,): 0, (3,): 0, (0, 1): 0, (0, 2): 0.5, (1, 2): 0.25, (0, 1, 2): 0.75,
    }  # fmt: skip


def test_longer_polygons_are_cones(house: CellComplex) -> None:
    tree = house.to_gudhi()
    found = _simplices(tree)
    assert tree.num_vertices() == 7
    assert [simplex for simplex in found if len(simplex) == 3] == [
        (0, 1, 6),
        (0, 3, 6),
        (1, 2, 6),
        (2, 3, 4),
        (2, 3, 6),
    ]
    square = {found[simplex] for simplex in found if 6 in simplex}
    assert square == {0.9}  # when the last side of the square is there
    assert tree.make_filtration_non_decreasing() is False


@pytest.mark.parametrize("field", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_cones_leave_the_betti_numbers(random_complex: Callable[..., CellComplex], seed: int, field: int) -> None:
    cx = random_complex(seed, num_nodes=11, density=0.4)
    assert sum(rows.size(0) for length, rows in cx.polygons.items() if length > 3) > 0
    tree = cx.to_gudhi()
    tree.compute_persistence(homology_coeff_field=field, persistence_dim_max=True)
    assert tree.betti_numbers() == list(cx.betti_numbers(field))
    assert tree.make_filtration_non_decreasing() is False


def test_polygons_with_chords_are_cones_too() -> None:
    edges = torch.combinations(torch.arange(4)).t()
    cx = CellComplex(4, edges, [[0, 1, 2], [0, 2, 3], [0, 1, 2, 3]], induced=False)
    tree = cx.to_gudhi()
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    assert tree.betti_numbers() == list(cx.betti_numbers()) == [1, 1, 1]


def test_triangles_there_and_back(random_complex: Callable[..., CellComplex]) -> None:
    for seed in range(4):
        cx = random_complex(seed)
        triangles = CellComplex(8, cx.edge_index, {3: cx.polygons[3]}, cx.edge_prob)
        back = CellComplex.from_gudhi(triangles.to_gudhi())
        assert back == triangles
        torch.testing.assert_close(back.edge_prob, cx.edge_prob)
        polygons = triangles.filtration_values()[1]
        torch.testing.assert_close(back.filtration_values()[1], polygons)


def test_a_rips_complex_comes_in_with_its_persistence() -> None:
    points = torch.rand(40, 2, generator=torch.Generator().manual_seed(1)).tolist()
    tree = gudhi.RipsComplex(points=points, max_edge_length=0.5).create_simplex_tree(max_dimension=2)
    cx = CellComplex.from_gudhi(tree, scale=0.5)
    assert (cx.num_nodes, cx.num_edges + cx.num_nodes + cx.num_polygons) == (40, tree.num_simplices())
    theirs = sorted(tree.persistence(homology_coeff_field=2, persistence_dim_max=True))
    ours = sorted((rank, (0.5 * birth, 0.5 * death)) for rank, (birth, death) in cx.persistence().to_gudhi())
    assert [rank for rank, _ in ours] == [rank for rank, _ in theirs]
    torch.testing.assert_close(torch.tensor([pair for _, pair in ours]), torch.tensor([pair for _, pair in theirs]))


def test_vertices_are_numbered_in_order() -> None:
    tree = gudhi.SimplexTree()
    tree.insert([30, 7], 0.25)
    tree.insert([2])
    tree.assign_filtration([7], 0.0)
    tree.assign_filtration([30], 0.0)
    cx = CellComplex.from_gudhi(tree)
    assert (cx.num_nodes, cx.edge_index.tolist(), cx.edge_prob.tolist()) == (3, [[1], [2]], [0.75])
    assert CellComplex.from_gudhi(gudhi.SimplexTree()).num_nodes == 0
    assert CellComplex.from_gudhi(tree, scale=None).edge_prob is None


def _tree(simplices: dict[tuple[int, ...], float]) -> object:
    tree = gudhi.SimplexTree()
    for simplex, value in simplices.items():
        tree.insert(list(simplex), value)
    return tree


@pytest.mark.parametrize(
    ("tree", "scale", "message"),
    [
        ({(0, 1, 2, 3): 0.0}, 1.0, r"has dimension 3, a CellComplex at most 2; call tree.prune_above_dimension\(2\)"),
        ({(0,): 0.0, (1,): 0.5}, 1.0, "a vertex enters at 0.5, .*scale=None"),
        ({(0,): 0.0, (1,): 0.0, (0, 1): 2.5}, 1.0, "the values go from 2.5 to 2.5, and scale is 1.0; raise scale"),
        ({(0,): 0.0, (1,): 0.0, (0, 1): 2.5}, 0.0, "and scale is 0.0"),
    ],
)
def test_what_cannot_come_in(tree: dict[tuple[int, ...], float], scale: float, message: str) -> None:
    with pytest.raises(LatopoError, match=f"CellComplex.from_gudhi: .*{message}"):
        CellComplex.from_gudhi(_tree(tree), scale)
