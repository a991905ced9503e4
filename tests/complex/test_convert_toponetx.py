from collections.abc import Callable
from itertools import combinations

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError

tnx = pytest.importorskip("toponetx")


def test_toponetx_has_the_same_boundary_matrices(random_complex: Callable[..., CellComplex]) -> None:
    for complex in (random_complex(2), random_complex(5)):
        other = complex.to_toponetx()
        assert other.shape == (complex.num_nodes, complex.num_edges, complex.num_polygons)
        for rank in (1, 2):
            expected = torch.tensor(other.incidence_matrix(rank).todense())
            assert torch.equal(complex.boundary(rank, dtype=torch.float64).to_dense(), expected)
        first = complex.polygons[3][0].tolist()
        assert other.cells[first]["prob"] == float(complex.polygon_prob[0])


def test_toponetx_without_probabilities(house: CellComplex) -> None:
    assert CellComplex(6, house.edge_index, house.polygons).to_toponetx().shape == (6, 6, 2)


@pytest.mark.parametrize("seed", range(3))
def test_there_and_back(random_complex: Callable[..., CellComplex], seed: int) -> None:
    cx = random_complex(seed)
    back = CellComplex.from_toponetx(cx.to_toponetx())
    assert back == cx
    assert torch.equal(back.edge_prob, cx.edge_prob)
    assert torch.equal(back.polygon_prob, cx.polygon_prob)
    bare = CellComplex.from_toponetx(cx.to_toponetx(), prob=None)
    assert bare.edge_prob is bare.polygon_prob is None


@pytest.mark.parametrize("seed", range(4))
def test_matrices_of_a_toponetx_complex_with_chords(seed: int) -> None:
    # All cycles of a complete graph on names: nearly every cell has chords.
    generator = torch.Generator().manual_seed(seed)
    names = [f"n{number}" for number in range(7)]
    given = tnx.CellComplex()
    for size in (3, 4, 5, 6):
        for _ in range(4):
            order = torch.randperm(7, generator=generator)[:size].tolist()
            given.add_cell([names[number] for number in order], rank=2)
    given.remove_equivalent_cells()
    cx = CellComplex.from_toponetx(given)
    number = {name: position for position, name in enumerate(sorted(given.nodes))}
    assert cx.induced is False
    assert torch.equal(cx.boundary(1, torch.float64).to_dense(), _dense(given.incidence_matrix(1)))
    # TopoNetX keeps the order and the direction in which cells were added.
    theirs = _dense(given.incidence_matrix(2))
    ours = cx.boundary(2, torch.float64).to_dense()
    position = {cell: p for p, cell in enumerate(tuple(r) for rows in cx.polygons.values() for r in rows.tolist())}
    for column, cell in enumerate(given.cells):
        cycle = torch.tensor([[number[name] for name in cell.elements]])
        canonical = CellComplex(7, torch.combinations(torch.arange(7)).t(), {len(cell): cycle}, induced=False)
        mine = ours[:, position[tuple(canonical.polygons[len(cell)][0].tolist())]]
        assert torch.equal(mine, theirs[:, column]) or torch.equal(mine, -theirs[:, column])
    for part, matrix in (("up", given.up_laplacian_matrix(1)), ("down", given.down_laplacian_matrix(1))):
        assert torch.equal(cx.hodge_laplacian(1, part, dtype=torch.float64).to_dense(), _dense(matrix))
    assert torch.equal(cx.hodge_laplacian(1, dtype=torch.float64).to_dense(), _dense(given.hodge_laplacian_matrix(1)))
    assert torch.equal(cx.node_adjacency(dtype=torch.float64).to_dense(), _dense(given.adjacency_matrix(0)))


def _dense(matrix: object) -> torch.Tensor:
    return torch.tensor(matrix.todense()).double()


def test_simplicial_complexes() -> None:
    given = tnx.SimplicialComplex([("a", "b", "c"), ("b", "c", "d"), ("x",)])
    cx = CellComplex.from_toponetx(given)
    assert cx.num_nodes == 5
    assert cx.polygons[3].tolist() == [[0, 1, 2], [1, 2, 3]]
    for rank in (1, 2):
        assert torch.equal(cx.boundary(rank, torch.float64).to_dense(), _dense(given.incidence_matrix(rank)))
    edges = tnx.SimplicialComplex([(0, 1), (1, 2)])
    edges.set_simplex_attributes({(0, 1): 0.5, (1, 2): 0.25}, name="prob")
    assert CellComplex.from_toponetx(edges).edge_prob.tolist() == [0.5, 0.25]
    with pytest.raises(
        LatopoError, match=r"has dimension 3, a CellComplex at most 2; take given.restrict_to_simplices"
    ):
        CellComplex.from_toponetx(tnx.SimplicialComplex([(0, 1, 2, 3)]))
    assert CellComplex.from_toponetx(tnx.SimplicialComplex()).num_nodes == 0
    surface = tnx.SimplicialComplex([(0, 1, 2, 3)])
    surface = surface.restrict_to_simplices(surface.skeleton(2))
    assert CellComplex.from_toponetx(surface).betti_numbers() == (1, 0, 1)


def test_order_of_the_nodes() -> None:
    given = tnx.CellComplex([["z", "a", "m"]])
    given.add_node("b")
    given.add_edge("z", "b", prob=0.5)
    assert CellComplex.from_toponetx(given, prob=None).edge_index.tolist() == [[0, 0, 1, 2], [2, 3, 3, 3]]
    order = ["z", "b", "m", "a"]
    assert CellComplex.from_toponetx(given, prob=None, nodes=order).edge_index.tolist() == [[0, 0, 0, 2], [1, 2, 3, 3]]
    incomparable = tnx.CellComplex([["z", 1, (0, 0)]])
    assert CellComplex.from_toponetx(incomparable).num_polygons == 1
    with pytest.raises(LatopoError, match=r"1 cells have the attribute 'prob', but .* does not"):
        CellComplex.from_toponetx(given)


@pytest.mark.parametrize(
    ("cells", "why", "betti"),
    [
        # A disc glued around a triangle once and then again: the projective plane.
        ([(0, 1, 2, 0, 1, 2)], "it meets a corner twice", {2: (1, 1, 1), 3: (1, 0, 0), "rational": (1, 0, 0)}),
        # … three times around: only GF(3) sees it.
        ([3 * (0, 1, 2)], "it meets a corner twice", {2: (1, 0, 0), 3: (1, 1, 1), "rational": (1, 0, 0)}),
        # Two discs on one circle, however it is written: a sphere.
        ([(0, 1, 2, 3), (2, 1, 0, 3)], "another one has the same boundary", {2: (1, 0, 1), 3: (1, 0, 1)}),
        # Along an edge forth and back: a sphere with a slit.
        ([(0, 1)], "it has fewer than three corners", {2: (1, 0, 1), "rational": (1, 0, 1)}),
        # A cell that turns back at a corner.
        ([(0, 1, 2, 1)], "it meets a corner twice", {2: (1, 0, 1), 5: (1, 0, 1)}),
    ],
)
def test_cells_that_are_not_polygons_are_cut_into_polygons(
    cells: list[tuple[int, ...]], why: str, betti: dict[int | str, tuple[int, int, int]]
) -> None:
    given = tnx.CellComplex(regular=False)
    for cell in cells:
        given.add_cell(tnx.Cell(cell, regular=False))
    with pytest.raises(LatopoError, match=rf"is not a polygon \({why}\); subdivide=True"):
        CellComplex.from_toponetx(given)
    cx = CellComplex.from_toponetx(given, subdivide=True)
    assert cx.euler_characteristic() == given.euler_characterisitics()
    for field, expected in betti.items():
        assert cx.betti_numbers(field) == expected


@pytest.mark.parametrize("seed", range(3))
def test_homology_of_random_cells_survives_the_cutting(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    given = tnx.CellComplex(regular=False)
    for _ in range(9):
        walk = [int(torch.randint(5, (1,), generator=generator))]
        while len(walk) < 8 and not (
            len(walk) > 3 and walk[0] != walk[-1] and torch.rand(1, generator=generator) < 0.3
        ):
            other = int(torch.randint(5, (1,), generator=generator))
            walk += [other] if other != walk[-1] else []
        if walk[0] != walk[-1]:
            given.add_cell(tnx.Cell(tuple(walk), regular=False))
    cx = CellComplex.from_toponetx(given, subdivide=True)
    first, second = (_dense(given.incidence_matrix(rank)) for rank in (1, 2))
    ranks = [int(torch.linalg.matrix_rank(matrix)) for matrix in (first, second)]
    nodes, edges, count = given.shape
    assert cx.betti_numbers("rational") == (nodes - ranks[0], edges - ranks[0] - ranks[1], count - ranks[1])


@pytest.mark.parametrize("edge_prob", [(1.0, 0.75, 0.5), None])
def test_cut_cells_enter_when_the_whole_would(edge_prob: tuple[float, ...] | None) -> None:
    given = tnx.CellComplex(regular=False)
    for number, (u, v) in enumerate(combinations(range(3), 2)):
        given.add_edge(u, v, **({"prob": edge_prob[number]} if edge_prob else {}))
    given.add_cell(tnx.Cell((0, 1, 2), regular=False), prob=0.875)
    given.add_cell(tnx.Cell((1, 2, 0), regular=False), prob=0.25)
    found = CellComplex.from_toponetx(given, subdivide=True).persistence()
    forever = float("inf")
    expected = [(0, (0.0, forever)), (0, (0.0, 0.25)), (2, (0.75, forever))]
    assert found.to_gudhi() == (expected if edge_prob else [expected[0], (1, (0.0, 0.125)), expected[2]])


def test_other_things_are_refused() -> None:
    with pytest.raises(LatopoError, match=r"expected a toponetx.CellComplex or SimplicialComplex, got .*Combinatorial"):
        CellComplex.from_toponetx(tnx.CombinatorialComplex([[1, 2]], ranks=1))
