"""Every kind of mistake is told with the cell's number, its vertices and the reason."""

import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError

PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])
TRIANGLE = torch.tensor([[0, 0, 1], [1, 2, 2]])
SQUARE_WITH_CHORD = torch.tensor([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]])


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 3]], r"edge 1 \(1, 3\) has a vertex outside 0 … num_nodes-1=2"),
        ([[0, -1], [1, 2]], r"edge 1 \(-1, 2\) has a vertex outside"),
        ([[0, 1, 2], [1, 2, 2]], r"edge 2 \(2, 2\) is a self-loop"),
        ([[0, 1, 1, 0], [1, 2, 0, 1]], r"edge 3 \(0, 1\) is a duplicate of edge 0"),
    ],
)
def test_wrong_edges(edges: list[list[int]], message: str) -> None:
    with pytest.raises(LatopoError, match=rf"CellComplex: {message}"):
        CellComplex(3, torch.tensor(edges))


@pytest.mark.parametrize(
    ("edges", "polygons", "message"),
    [
        (PATH, [[0, 1, 4]], r"polygon 0 of length 3, \(0, 1, 4\), has a vertex outside 0 … num_nodes-1=3"),
        (TRIANGLE, [[0, 1, 2], [0, 1, 1]], r"polygon 1 of length 3, \(0, 1, 1\), has a repeated vertex"),
        (TRIANGLE, [[0, 1, 2], [2, 1, 0]], r"polygon 1 of length 3, \(2, 1, 0\), is a duplicate of polygon 0"),
        (PATH, [[1, 2, 3]], r"polygon 0 of length 3, \(1, 2, 3\), has the side \(3, 1\), which is no edge"),
        (SQUARE_WITH_CHORD, [[0, 1, 2, 3]], r"polygon 0 of length 4, \(0, 1, 2, 3\), has the chord \(0, 2\)"),
        (torch.zeros(2, 0, dtype=torch.int64), [[1, 2, 3]], r"has the side \(1, 2\), which is no edge"),
    ],
)
def test_wrong_polygons(edges: torch.Tensor, polygons: list[list[int]], message: str) -> None:
    rows = torch.tensor(polygons)
    with pytest.raises(LatopoError, match=message):
        CellComplex(4, edges, {rows.size(1): rows})


@pytest.mark.parametrize("length", [5, 6, 7])
def test_every_chord_of_a_polygon_is_found(length: int) -> None:
    cycle = torch.arange(length)
    rim = torch.stack([cycle, cycle.roll(-1)])
    assert CellComplex(length, rim, {length: cycle[None]}).num_polygons == 1
    for start in range(length):
        for step in range(2, length - 1):
            chord = torch.tensor([[start], [(start + step) % length]])
            with pytest.raises(LatopoError, match="has the chord"):
                CellComplex(length, torch.cat([rim, chord], dim=1), {length: cycle[None]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, PATH), "num_nodes must be between 0 and 2³¹ .*, got -1; number the vertices 0, 1, 2, …"),
        ((2**62, PATH), r"num_nodes must be between 0 and 2³¹ \(2,147,483,648\), got 4611686018427387904"),
        ((4, PATH.t()), r"edge_index must be int64 of shape \[2, E\], got torch.int64 \[3, 2\]; transpose a list"),
        ((4, PATH, {2: PATH.t()}), "at least 3 sides, got polygons of length 2"),
        ((4, PATH, {4: torch.tensor([[0, 1, 2]])}), r"polygons\[4\] must be int64 of shape \[P, 4\]"),
        ((4, PATH, None, torch.ones(2)), r"edge_prob must be floating point of shape \[3\] .*got torch.float32 \[2\]"),
        ((4, PATH, None, torch.ones(3, dtype=torch.int64)), r"edge_prob must be floating point"),
        ((4, PATH, None, None, torch.ones(1)), r"polygon_prob must be floating point of shape \[0\]"),
        ((4, PATH, None, torch.tensor([0.1, -0.5, 0.2])), r"edge_prob\[1\] is -0.5, expected a number in \[0, 1\]"),
        ((4, PATH, None, torch.tensor([0.1, 0.5, 1.5])), r"edge_prob\[2\] is 1.5"),
        ((4, PATH, None, torch.tensor([float("nan"), 0.5, 0.5])), r"edge_prob\[0\] is nan"),
        (
            (3, TRIANGLE, {3: torch.tensor([[0, 1, 2]])}, None, torch.tensor([float("inf")])),
            r"polygon_prob\[0\] is inf",
        ),
    ],
)
def test_wrong_form_or_probability(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(LatopoError, match=message):
        CellComplex(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2**62, PATH), "num_nodes must be between 0 and 2³¹"),
        ((4, PATH.tolist()), "edge_index must be a tensor, got list"),
        ((4, PATH.int()), r"edge_index must be int64 of shape \[2, E\], got torch.int32 \[2, 3\]"),
        ((4, PATH, {3: torch.tensor([[0.0, 1, 2]])}), r"polygons\[3\] must be int64 .*got torch.float32 \[1, 3\]"),
        ((4, PATH, {3: torch.zeros(0, 3, dtype=torch.int64, device="meta")}), r"is on meta, but edge_index on cpu"),
    ],
)
def test_trusted_cells_are_int64_tensors_on_one_device(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(LatopoError, match=message):
        CellComplex.from_canonical(*arguments)


def test_the_largest_number_of_nodes_does_not_overflow() -> None:
    last = 2**31 - 1
    edges = torch.tensor([[last, 0, last], [last - 1, last, 0]])
    cx = CellComplex(2**31, edges[:, :2])
    assert cx.edge_index.tolist() == [[0, last - 1], [last, last]]
    assert cx.edge_ids(torch.tensor([[last], [0]])).tolist() == [0]


def test_chords_are_admitted_when_asked_for() -> None:
    square = torch.tensor([[0, 1, 2, 3]])
    with pytest.raises(LatopoError, match=r"has the chord \(0, 2\).*unless built with induced=False"):
        CellComplex(4, SQUARE_WITH_CHORD, {4: square})
    cx = CellComplex(4, SQUARE_WITH_CHORD, {4: square}, induced=False)
    assert cx.validate() is cx
    assert cx.induced is False
    assert CellComplex(4, SQUARE_WITH_CHORD).induced is True
    # Three faces on five edges: the square and its two triangles close a void.
    filled = CellComplex(4, SQUARE_WITH_CHORD, [[0, 1, 2], [0, 2, 3], [0, 1, 2, 3]], induced=False)
    assert filled.betti_numbers() == (1, 0, 1)
    for other in (filled.detach(), filled.to(torch.float64), filled.subcomplex(torch.arange(4)), filled.to("meta")):
        assert other.induced is False
    assert CellComplex.disjoint_union([filled, CellComplex(2, [[0], [1]])]).validate().num_polygons == 3
    with pytest.raises(LatopoError, match="has the chord"):
        CellComplex.from_canonical(4, filled.edge_index, filled.polygons).validate()
    with pytest.raises(LatopoError, match="has the side"):
        CellComplex(4, [[0, 1], [1, 2]], [[0, 1, 2]], induced=False)


def test_directions_of_an_edge_must_agree() -> None:
    both = torch.tensor([[0, 1, 1], [1, 2, 0]])
    with pytest.raises(LatopoError, match=r"edge 0 \(0, 1\) has probability 0.25, .*edge 2 \(1, 0\), has 0.75"):
        CellComplex(3, both, edge_prob=torch.tensor([0.25, 0.5, 0.75]))
    assert CellComplex(3, both, edge_prob=torch.tensor([0.25, 0.5, 0.25])).edge_prob.tolist() == [0.25, 0.5]


def test_a_probability_may_exceed_one_by_rounding() -> None:
    rounded = torch.nextafter(torch.ones(3), torch.full((3,), 2.0))
    assert CellComplex(4, PATH, edge_prob=rounded).num_edges == 3


@pytest.mark.parametrize(
    ("edges", "polygons", "message"),
    [
        ([[1], [0]], [], r"edge 0 \(1, 0\) is not in canonical order"),
        ([[1, 0], [2, 1]], [], r"edge 1 \(0, 1\) is not in canonical order"),
        ([[0, 0], [1, 1]], [], r"edge 1 \(0, 1\) is a duplicate of edge 0"),
        ([[0, 0, 1], [1, 2, 2]], [[1, 2, 0]], r"polygon 0 of length 3, \(1, 2, 0\), is not in canonical order"),
        ([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]], [[0, 2, 3], [0, 1, 2]], r"polygon 0 .* is not in canonical order"),
        ([[0, 1], [1, 2]], [[0, 1, 2]], "has the side"),
        ([[0, 3], [1, 4]], [], r"edge 1 \(3, 4\) has a vertex outside"),
    ],
)
def test_validate_tells_when_trust_was_not_justified(
    edges: list[list[int]], polygons: list[list[int]], message: str
) -> None:
    rows = torch.tensor(polygons, dtype=torch.int64).view(-1, 3)
    complex = CellComplex.from_canonical(4, torch.tensor(edges), {3: rows})
    with pytest.raises(LatopoError, match=message):
        complex.validate()


def test_validate_returns_a_correct_complex(house: CellComplex, empty: CellComplex) -> None:
    assert house.validate() is house
    assert empty.validate() is empty
