import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.complex.canonical import (
    Cells,
    canonical_cycles,
    canonicalize,
    edge_keys,
    find_edges,
    find_keys,
    lexicographic_order,
    match_rows,
    sides,
)


def _canonical_by_hand(cycle: list[int]) -> list[int]:
    ways = [cycle[i:] + cycle[:i] for i in range(len(cycle))]
    ways += [way[::-1] for way in ways]
    return min(way for way in ways if way[1] < way[-1])


@given(st.permutations(range(20)).flatmap(lambda p: st.integers(3, 9).map(lambda k: p[:k])))
@settings(max_examples=60, deadline=None)
def test_canonical_cycles_equals_the_smallest_writing(cycle: list[int]) -> None:
    assert canonical_cycles(torch.tensor([cycle])).tolist() == [_canonical_by_hand(cycle)]


def test_canonical_cycles_of_no_rows() -> None:
    assert canonical_cycles(torch.zeros(0, 4, dtype=torch.int64)).shape == (0, 4)


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), max_size=30))
@settings(max_examples=60, deadline=None)
def test_lexicographic_order_equals_python_sort(rows: list[list[int]]) -> None:
    tensor = torch.tensor(rows, dtype=torch.int64).view(-1, 5)
    expected = sorted(range(len(rows)), key=lambda i: rows[i])
    assert lexicographic_order(tensor, 5).tolist() == expected
    # With a large number of nodes only one column fits into a key, so several sorts are needed.
    assert lexicographic_order(tensor, 2**40).tolist() == expected


def test_lexicographic_order_with_keys_of_several_columns_and_large_vertices() -> None:
    rows = torch.tensor([[9, 1, 2**30], [9, 1, 2**30 - 1], [8, 2**30, 0]])
    assert lexicographic_order(rows, 2**30 + 1).tolist() == [2, 1, 0]


def test_canonicalize_sorts_cells_and_takes_probabilities_along() -> None:
    edge_index = torch.tensor([[3, 2, 1, 0, 2], [0, 3, 0, 2, 1]])
    cells = Cells(
        4,
        edge_index,
        {4: torch.tensor([[3, 2, 1, 0]]), 3: torch.tensor([[3, 2, 0], [2, 1, 0]])},
        torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5]),
        torch.tensor([0.6, 0.7, 0.8]),
    )
    result = canonicalize(cells)
    assert result.edge_index.tolist() == [[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]]
    assert torch.equal(result.edge_prob, torch.tensor([0.3, 0.4, 0.1, 0.5, 0.2]))
    assert {length: rows.tolist() for length, rows in result.polygons.items()} == {
        3: [[0, 1, 2], [0, 2, 3]],
        4: [[0, 1, 2, 3]],
    }
    assert list(result.polygons) == [3, 4]
    assert torch.equal(result.polygon_prob, torch.tensor([0.7, 0.6, 0.8]))


def test_canonicalize_merges_duplicates_with_the_mean_and_gradients_to_all() -> None:
    edge_index = torch.tensor([[0, 1, 1], [1, 0, 2]])
    edge_prob = torch.tensor([0.2, 0.4, 0.9], dtype=torch.float64, requires_grad=True)
    polygon_prob = torch.tensor([0.5, 0.1], dtype=torch.float64, requires_grad=True)
    polygons = {3: torch.tensor([[0, 1, 2], [2, 1, 0]])}

    def probabilities(edge: torch.Tensor, polygon: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result = canonicalize(Cells(3, edge_index, polygons, edge, polygon))
        return result.edge_prob, result.polygon_prob

    merged_edge, merged_polygon = probabilities(edge_prob, polygon_prob)
    torch.testing.assert_close(merged_edge, torch.tensor([0.3, 0.9], dtype=torch.float64))
    torch.testing.assert_close(merged_polygon, torch.tensor([0.3], dtype=torch.float64))
    assert torch.autograd.gradcheck(probabilities, (edge_prob, polygon_prob))


def test_keys_find_edges_in_both_directions_and_miss_others() -> None:
    keys = edge_keys(torch.tensor([[0, 0, 2], [1, 3, 3]]), 4)
    wanted = edge_keys(torch.tensor([[3, 3, 1, 0], [2, 0, 2, 1]]), 4)
    assert find_keys(keys, wanted).tolist() == [2, 1, -1, 0]
    assert find_keys(keys[:0], wanted).tolist() == [-1] * 4


def test_sides_run_along_the_cycle() -> None:
    assert sides(torch.tensor([[0, 1, 4, 2], [1, 5, 2, 6]])).t().tolist() == [
        [0, 1],
        [1, 4],
        [4, 2],
        [2, 0],
        [1, 5],
        [5, 2],
        [2, 6],
        [6, 1],
    ]


@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3)), st.sets(st.tuples(*[st.integers(0, 3)] * 3)))
@settings(max_examples=60, deadline=None)
def test_match_rows_equals_set_intersection(left: set[tuple[int, ...]], right: set[tuple[int, ...]]) -> None:
    a = torch.tensor(list(left), dtype=torch.int64).view(-1, 3)
    b = torch.tensor(list(right), dtype=torch.int64).view(-1, 3)
    match = match_rows(a, b, 4)
    assert torch.equal(a[match[0]], b[match[1]])
    assert {tuple(row) for row in a[match[0]].tolist()} == left & right
    assert match.size(1) == len(left & right)


def test_keys_of_short_integers_do_not_overflow() -> None:
    edges = torch.stack([torch.arange(99_999), torch.arange(1, 100_000)])
    pairs = torch.tensor([[50_000, 99_000], [50_001, 99_001]], dtype=torch.int32)
    assert find_edges(edge_keys(edges, 100_000), pairs, 100_000).tolist() == [50_000, 99_000]
