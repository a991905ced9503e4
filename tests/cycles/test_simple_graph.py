import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from latopo.cycles.simple_graph import check_edge_index, simple_graph
from latopo.errors import LatopoError

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@given(pairs)
def test_rows_are_the_neighbours_of_the_simple_graph(edges):
    edge_index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    graph = simple_graph(edge_index, 8)
    neighbours = {v: {u for e in edges if v in e for u in e} - {v} for v in range(8)}
    assert sorted(graph.label.tolist()) == list(range(8))
    for rank, label in enumerate(graph.label.tolist()):
        row = graph.col[graph.ptr[rank] : graph.ptr[rank + 1]]
        assert (np.diff(row) > 0).all()
        assert set(graph.label[row].tolist()) == neighbours[label]


def test_vertices_are_renamed_by_descending_degree():
    graph = simple_graph(torch.tensor([[3, 3, 3, 1], [0, 1, 2, 2]]), 5)
    assert graph.label.tolist() == [3, 1, 2, 0, 4]
    assert np.diff(graph.ptr).tolist() == [3, 2, 2, 1, 0]


@pytest.mark.parametrize("num_nodes", [0, 1, 3])
def test_no_edges(num_nodes):
    graph = simple_graph(torch.empty(2, 0, dtype=torch.int64), num_nodes)
    assert graph.ptr.tolist() == [0] * (num_nodes + 1)
    assert graph.col.size == 0


def test_the_input_is_left_alone():
    edge_index = torch.tensor([[2, 1, 0], [0, 2, 1]])
    simple_graph(edge_index, 3)
    assert edge_index.tolist() == [[2, 1, 0], [0, 2, 1]]


def test_number_of_nodes_is_inferred():
    assert check_edge_index("f", torch.tensor([[0], [6]]), None) == 7
    assert check_edge_index("f", torch.empty(2, 0, dtype=torch.int64), None) == 0
    assert check_edge_index("f", torch.tensor([[0], [6]], dtype=torch.int32), 9) == 9


@pytest.mark.parametrize(
    ("edge_index", "num_nodes", "message"),
    [
        (
            torch.zeros(4, 3, dtype=torch.int64),
            None,
            r"f: edge_index must be a tensor of shape \[2, num_edges\], got shape",
        ),
        (torch.zeros(4, dtype=torch.int64), None, r"got shape \[4\]"),
        ([[0], [1]], None, "got list"),
        (torch.zeros(2, 3), None, "must hold integers, got torch.float32"),
        (torch.zeros(2, 3, dtype=torch.bool), None, "must hold integers, got torch.bool"),
        (torch.tensor([[0, 5], [1, 2]]), 5, "holds vertex 5, expected 0 to 4"),
        (torch.tensor([[0, -1], [1, 2]]), 5, "holds vertex -1"),
        (torch.tensor([[0, -1], [1, 2]]), None, "holds vertex -1"),
        (torch.tensor([[0], [1]]), -2, "num_nodes must be an integer of at least 0 or None, got -2"),
        (torch.tensor([[0], [1]]), 2.0, "got 2.0"),
    ],
)
def test_bad_input_is_named(edge_index, num_nodes, message):
    with pytest.raises(LatopoError, match=message):
        check_edge_index("f", edge_index, num_nodes)
