from dataclasses import replace

import numpy as np
import pytest
import torch

from latopo.neighbors import NeighborSearch, entmax_neighbors, neighbor_rows, search, tree
from latopo.neighbors.all_pairs import scan_pairs
from latopo.neighbors.prepare import prepare_points
from latopo.neighbors.scan import EdgeCounter, Rows, assemble
from latopo.neighbors.similarity import get_similarity


def points(n, d, rank, seed=0, dtype=torch.float32):
    """Points that fill ``rank`` of d dimensions, and a little of the others."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.where(torch.arange(d) < rank, 1.0, 1e-3)
    turn = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))[0]
    return (torch.randn(n, d, generator=generator, dtype=torch.float64) * spread @ turn).to(dtype)


def known_rows(x, similarity="euclidean", gain=20.0, alpha=1.5):
    prepared, _, measure = prepare_points(x, None, get_similarity(similarity))
    rows = Rows.of(prepared, None, measure, gain, alpha)
    scan = scan_pairs(rows, EdgeCounter(10**9))
    return replace(rows, deviation=scan.deviation), scan


def hard_cases():
    duplicated, outlier = points(500, 6, 2), points(500, 6, 2)
    duplicated[100:200] = duplicated[0]
    outlier[7] *= 1e6
    line = torch.zeros(700, 3)
    line[:, 1] = torch.arange(700.0)
    return {
        "flat": points(900, 32, 3),
        "one column": points(300, 1, 1),
        "nine columns": points(300, 9, 2),
        "double": points(400, 8, 2, dtype=torch.float64),
        "offset": points(400, 8, 2, dtype=torch.float64) + 1e4,
        "three": points(3, 3, 1),
        "one leaf": points(64, 3, 1),
        "a leaf and one": points(65, 3, 1),
        "duplicates": duplicated,
        "outlier": outlier,
        "line": line,
        "full": points(500, 12, 12),
    }


@pytest.mark.parametrize("similarity", ["euclidean", "squared"])
@pytest.mark.parametrize("case", hard_cases())
def test_the_support_is_that_of_all_pairs(case, similarity, monkeypatch):
    monkeypatch.setattr(tree, "_SHARE", 2.0)
    rows, scan = known_rows(hard_cases()[case], similarity)
    todo = (scan.deviation > 0).nonzero().flatten()
    ptr, col, top = assemble(tree.tree_scan(rows, todo, EdgeCounter(10**9)), len(rows), rows.points)
    sought = torch.repeat_interleave(scan.deviation > 0, scan.ptr.diff())  # constant rows are not
    assert torch.equal(ptr.diff()[todo], scan.ptr.diff()[todo])
    assert torch.equal(col, scan.col[sought])
    torch.testing.assert_close(top[todo], scan.top[todo])


@pytest.mark.parametrize("gain", [0.5, 3.0, 500.0])
@pytest.mark.parametrize("alpha", [1.1, 2.0, 3.5])
def test_dense_and_sparse_rows(gain, alpha, monkeypatch):
    monkeypatch.setattr(tree, "_SHARE", 2.0)
    rows, scan = known_rows(points(600, 8, 2), gain=gain, alpha=alpha)
    ptr, col, _ = assemble(tree.tree_scan(rows, torch.arange(600), EdgeCounter(10**9)), 600, rows.points)
    assert torch.equal(ptr, scan.ptr)
    assert torch.equal(col, scan.col)


def test_some_rows_only():
    rows, scan = known_rows(points(600, 8, 2))
    todo = torch.arange(0, 600, 7)
    pieces = tree.tree_scan(rows, todo, EdgeCounter(10**9))
    assert torch.equal(torch.cat([piece.rows for piece in pieces]).sort().values, todo)
    assert sum(piece.counts.sum() for piece in pieces) == scan.ptr.diff()[todo].sum()


def test_points_that_fill_all_dimensions_are_left_to_others():
    rows, _ = known_rows(points(3000, 32, 32), gain=5.0)
    assert tree.tree_scan(rows, torch.arange(3000), EdgeCounter(10**9)) is None
    wide = replace(rows, points=torch.zeros(3000, 200), columns=torch.zeros(3000, 200))
    assert tree.tree_scan(wide, torch.arange(3000), EdgeCounter(10**9)) is None


def test_beyond_the_limit_the_support_is_counted_and_not_stored():
    rows, scan = known_rows(points(4000, 8, 2))
    counter = EdgeCounter(100)
    pieces = tree.tree_scan(rows, torch.arange(4000), counter)
    assert counter.count == scan.col.numel()
    assert sum(piece.col.numel() for piece in pieces) < scan.col.numel()


def test_a_tree_holds_every_point_once_and_its_boxes_hold_their_points():
    found = tree.box_tree(points(1000, 5, 3))
    assert np.array_equal(np.sort(found.order), np.arange(1000))
    first = len(found.tiles) - 1
    for leaf, tile in enumerate(found.tiles):
        inside = tile[:, np.isfinite(tile[0])]
        for node in (first + leaf, (first + leaf - 1) // 2, 0):
            assert (found.low[node][:, None] <= inside).all()
            assert (inside <= found.high[node][:, None]).all()


def test_slices_of_any_size_give_the_same_tree_and_rows(monkeypatch):
    rows, _ = known_rows(points(4000, 8, 2))

    def walk():
        return tree.box_tree(rows.points), tree.tree_scan(rows, torch.arange(4000), EdgeCounter(10**6))

    (whole, pieces), sizes = walk(), {"_SLICE": 1, "_BLOCK_TERMS": 1}
    for name, size in sizes.items():
        monkeypatch.setattr(tree, name, size)
    sliced, more = walk()
    assert all(np.array_equal(one, other) for one, other in zip(sliced, whole, strict=True))
    assert len(more) > len(pieces)
    for name in ("rows", "counts", "top", "col"):
        one, other = (torch.cat([getattr(piece, name) for piece in found]) for found in (pieces, more))
        assert torch.equal(one, other)


@pytest.mark.parametrize("how", ["certified", "approximate"])
@pytest.mark.parametrize("similarity", ["euclidean", "squared"])
def test_rows_and_gradients_are_those_of_a_flat_index(how, similarity, monkeypatch):
    answers = []
    for share, method in ((tree._SHARE, how), (0.0, "certified")):
        monkeypatch.setattr(tree, "_SHARE", share)
        x = points(4500, 16, 2).requires_grad_()
        engine = NeighborSearch(method, reuse=False)
        rows = neighbor_rows(x, 30.0, similarity=similarity, search=engine)
        rows.prob.square().sum().backward()
        answers.append((rows, x.grad, engine.report))
    (ours, gradient, report), (theirs, expected, other) = answers
    assert report.index == "tree"
    assert other.index != "tree"
    assert report.certified == 4500
    assert report.recall in (None, 1.0)
    assert "a tree of boxes, 4,500 rows searched; all 4,500 rows proven exact" in str(report)
    assert torch.equal(ours.ptr, theirs.ptr)
    assert torch.equal(ours.col, theirs.col)
    torch.testing.assert_close(gradient, expected)


def test_the_same_answer_for_any_number_of_threads():
    x = points(4500, 16, 2)
    before = torch.get_num_threads()
    try:
        answers = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            answers.append(entmax_neighbors(x, 30.0, similarity="squared", search="certified")[:2])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*answers, strict=True))


def test_an_approximate_search_of_very_many_rows_keeps_candidates_instead(monkeypatch):
    x = torch.rand(5000, 2, generator=torch.Generator().manual_seed(0))
    for most in (5000, 4999):
        monkeypatch.setattr(search, "_TREE_TO", most)
        engine = NeighborSearch("approximate")
        entmax_neighbors(x, gain=20.0, similarity="squared", search=engine)
        assert (engine.report.index == "tree") == (most == 5000)
