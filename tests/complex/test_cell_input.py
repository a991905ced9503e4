"""Every way of writing the same cells, and what is refused."""

import numpy as np
import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError, TooManyCellsError

EDGES = [[0, 1, 2, 2], [1, 2, 0, 3]]
EXPECTED = CellComplex(4, torch.tensor(EDGES), {3: torch.tensor([[0, 1, 2]])})


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
)
def test_numpy_arrays_and_tensors_of_every_type_of_number(dtype: str) -> None:
    edges, triangle = np.array(EDGES, dtype=dtype), np.array([[2, 0, 1]], dtype=dtype)
    assert CellComplex(4, edges, {3: triangle}) == EXPECTED
    assert CellComplex(4, np.asfortranarray(edges[:, ::-1]), {3: triangle}) == EXPECTED
    assert CellComplex(4, torch.from_numpy(edges), {3: torch.from_numpy(triangle)}) == EXPECTED


def test_bfloat16_has_whole_numbers_too() -> None:
    assert CellComplex(4, torch.tensor(EDGES, dtype=torch.bfloat16)) == EXPECTED.skeleton(1)


def test_lists_and_numbers_of_numpy() -> None:
    assert CellComplex(np.int32(4), EDGES, {np.int64(3): [(2, 0, 1)]}) == EXPECTED
    assert CellComplex(4, tuple(map(tuple, EDGES)), [[2, 0, 1]]) == EXPECTED
    assert CellComplex(4, EDGES, np.array([[2, 0, 1]])) == EXPECTED
    assert CellComplex(4, EDGES, (cycle for cycle in [[2, 0, 1]])) == EXPECTED
    for nothing in ([], [[], []], np.zeros((2, 0)), torch.zeros(2, 0)):
        assert CellComplex(3, nothing, {3: []}, [], []) == CellComplex(3, torch.zeros(2, 0, dtype=torch.int64))
    assert CellComplex(3, [], []).polygons == {}


def test_the_input_is_not_kept() -> None:
    edges, triangle, prob = np.array(EDGES), np.array([[0, 1, 2]]), np.array([0.25, 0.5, 0.75, 1.0])
    cx = CellComplex(4, edges, {3: triangle}, prob)
    edges[:], triangle[:], prob[:] = 7, 7, 7
    assert cx == EXPECTED
    assert cx.edge_prob.tolist() == [0.25, 0.75, 0.5, 1.0]


def test_precision_of_probabilities() -> None:
    prob = [0.25, 0.5, 0.75, 1]
    assert CellComplex(4, EDGES, edge_prob=prob).edge_prob.dtype == torch.get_default_dtype()
    assert CellComplex(4, EDGES, edge_prob=[1, 1, 0, 1]).edge_prob.tolist() == [1, 0, 1, 1]
    for dtype in (np.float16, np.float32, np.float64):
        assert CellComplex(4, EDGES, edge_prob=np.array(prob, dtype)).edge_prob.numpy().dtype == dtype
    half = CellComplex(4, EDGES, edge_prob=torch.tensor(prob, dtype=torch.bfloat16))
    assert half.edge_prob.dtype == torch.bfloat16


def test_a_list_of_cycles_has_its_probabilities_in_its_own_order() -> None:
    edges = [[0, 1, 2, 3, 2, 3], [1, 2, 3, 0, 4, 4]]
    cx = CellComplex(5, edges, [[0, 1, 2, 3], [4, 3, 2]], polygon_prob=[0.25, 0.75])
    assert list(cx.polygons) == [3, 4]
    assert cx.polygon_prob.tolist() == [0.75, 0.25]
    with pytest.raises(LatopoError, match=r"polygon_prob must be floating point of shape \[2\]"):
        CellComplex(5, edges, [[0, 1, 2, 3], [4, 3, 2]], polygon_prob=[0.25])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4.0, EDGES), "num_nodes must be a whole number, got 4.0"),
        ((True, EDGES), "num_nodes must be a whole number, got True"),
        (("4", EDGES), "num_nodes must be a whole number, got '4'"),
        ((4, EDGES, {"3": [[0, 1, 2]]}), "a polygon's length must be a whole number, got '3'"),
        ((4, [[0.5], [1.0]]), "edge_index must hold whole numbers, got 0.5"),
        ((4, torch.tensor([[0.0], [float("nan")]])), "edge_index must hold whole numbers, got nan"),
        ((4, torch.tensor([[0.0], [float("inf")]])), "edge_index must hold whole numbers, got inf"),
        ((4, np.array([[0.0], [1e300]])), "edge_index must hold whole numbers, got 1e\\+300"),
        (
            (4, np.array([[0], [2**63]], dtype=np.uint64)),
            "edge_index holds 9223372036854775808, which int64 cannot hold",
        ),
        ((4, torch.tensor([[0], [2**63]], dtype=torch.uint64)), "edge_index holds 9223372036854775808"),
        ((4, [[0], [2**70]]), "edge_index must hold whole numbers, got an array of object"),
        ((4, [["a"], ["b"]]), "edge_index must hold whole numbers, got an array of <U1"),
        ((4, [[True], [False]]), "edge_index must hold whole numbers, got an array of bool"),
        ((4, torch.tensor([[True], [False]])), "edge_index must hold whole numbers, got torch.bool"),
        ((4, torch.tensor([[0j], [1]])), "edge_index must hold whole numbers, got torch.complex64"),
        ((4, [[0, 1], [1]]), "edge_index has rows of different lengths"),
        ((4, torch.eye(4).to_sparse()), r"edge_index must be an ordinary, dense tensor.*coalesce\(\).indices\(\)"),
        ((4, torch.eye(4).to_sparse_csr()), "edge_index must be an ordinary, dense tensor"),
        ((4, torch.zeros(2, 3, device="meta")), "edge_index is on the meta device.*from_canonical"),
        ((4, EDGES, {3: torch.zeros(0, 3, device="meta")}), r"polygons\[3\] is on the meta device"),
        ((4, EDGES, {3: [[0, 1, 2], [0, 1]]}), r"polygons\[3\] has rows of different lengths"),
        ((4, EDGES, [[0, 1]]), "at least 3 sides, got polygons of length 2"),
        ((4, [[0, 1], [1, 2], [2, 3]]), r"got torch.int64 \[3, 2\]; transpose a list of pairs"),
        ((4, EDGES, None, ["a", "b", "c", "d"]), "edge_prob must be a list or an array of numbers"),
        ((4, EDGES, None, [[0.5], [0.5, 1]]), "edge_prob must be a list or an array of numbers"),
        ((3, EDGES), r"edge 3 \(2, 3\) has a vertex outside"),
    ],
)
def test_what_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(LatopoError, match=message):
        CellComplex(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda cx: cx.betti_numbers(),
        lambda cx: cx.persistence(),
        lambda cx: cx.node_degree(),
        lambda cx: cx.summary(),
        lambda cx: cx.lower_product(torch.ones(1)),
        lambda cx: cx.hodge_decomposition(torch.ones(1)),
        lambda cx: cx.to_gudhi(),
    ],
)
def test_a_row_for_each_of_two_billion_isolated_nodes_is_refused_before_memory_is_taken(call) -> None:
    cx = CellComplex(2_000_000_000, [[0], [1_999_999_999]])
    assert cx.boundary(1).shape == (2_000_000_000, 1)
    with pytest.raises(TooManyCellsError, match=r"num_nodes=2,000,000,000 for 1 edges; .*number the vertices"):
        call(cx)
