import pickle
from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo import entmax_neighbors
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import Euclidean, Hyperbolic, NeighborSearch, SearchReport, count_neighbors, neighbor_rows, search

FLAT = ["euclidean", "squared", "cosine", "inner"]


def points(n, d=3, seed=0, dtype=torch.float64):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def clusters(n, d=8, spread=4.0, dtype=torch.float32):
    return points(n, d, dtype=dtype) + spread * points(n // 100, d, 1, dtype)[torch.arange(n) % (n // 100)]


def hard_cases():
    duplicated, outlier, zeros = points(30), points(60, 4), points(40, 4)
    duplicated[10:20], duplicated[25] = duplicated[0], duplicated[24]
    outlier[7] *= 1e6
    zeros[[3, 5, 8]] = 0
    tight = 1e-5 * points(200, 4)
    tight[100:] += 1
    return {
        "two": points(2),
        "three": points(3),
        "odd width": points(40, 7),
        "three hundred": points(300, 5),
        "wide": points(30, 200),
        "duplicates": duplicated,
        "offset": points(50) + 1e4,
        "tiny": points(50) * 1e-170,
        "huge": points(50) * 1e170,
        "line": torch.arange(20.0, dtype=torch.float64)[:, None] ** 2,
        "outlier": outlier,
        "zeros": zeros,
        "tight clusters": tight,
    }


# What the definition itself cannot tell in double precision: cosines that differ by 1e-8 or not at all, scores that
# differ by 1e-10 (the reference loses the digits of its gradient there).
LOOSE = {("offset", "cosine"): 1e-4, ("tight clusters", "squared"): 1e-5}
DEFINED = [(case, name) for case in hard_cases() for name in FLAT if (case, name) != ("line", "cosine")]


def gradients(prob, leaves):
    weight = torch.randn(prob.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = torch.autograd.grad((prob.double() * weight).sum(), leaves, allow_unused=True)
    return [torch.zeros_like(leaf) if part is None else part for leaf, part in zip(leaves, found, strict=True)]


def leaves_of(x, dtype=torch.float64):
    values = (x.to(dtype).clone(), torch.tensor(4.0, dtype=dtype), torch.tensor(1.6, dtype=dtype))
    return [value.requires_grad_() for value in values]


def check_close(ours, theirs, tolerance):
    for a, b in zip(ours, theirs, strict=True):
        assert torch.isfinite(a).all()
        size = max(float(b.detach().abs().max()), 1e-9)
        assert float((a - b).detach().abs().max()) <= tolerance * size


@pytest.mark.parametrize(("case", "name"), DEFINED)
def test_certified_rows_equal_the_dense_definition(case, name, dense_rows, scatter_rows):
    x = hard_cases()[case]
    engine, tolerance = NeighborSearch("certified", reuse=False), LOOSE.get((case, name), 1e-8)
    ours, theirs = leaves_of(x), leaves_of(x)
    got = scatter_rows(entmax_neighbors(*ours, name, search=engine), len(x))
    expected = dense_rows(theirs[0] / x.abs().max(), *theirs[1:], name)
    assert float((got - expected).detach().abs().max()) <= tolerance
    check_close(gradients(got, ours), gradients(expected, theirs), tolerance)
    assert engine.report.method == "certified"
    assert engine.report.certified == len(x)


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("case", ["two", "three", "odd width", "three hundred", "wide", "duplicates", "zeros"])
def test_certified_rows_in_single_precision(case, name, dense_rows, scatter_rows):
    x = hard_cases()[case].float()
    ours, theirs = leaves_of(x, torch.float32), leaves_of(x)
    got = scatter_rows(entmax_neighbors(*ours, name, search="certified"), len(x))
    expected = dense_rows(theirs[0], theirs[1], theirs[2], name)
    assert got.dtype == torch.float32
    assert float((got - expected).detach().abs().max()) <= 1e-4
    check_close(gradients(got, ours), gradients(expected, theirs), 1e-4)


@pytest.mark.parametrize("case", hard_cases())
@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_certified_rows_equal_the_exact_ones(case, name, dtype, scatter_rows):
    """Also where the definition is ill-conditioned; tiny and huge points do not fit into single precision."""
    x = hard_cases()[case]
    x = (x / x.abs().max() if dtype == torch.float32 else x).to(dtype)
    found = [scatter_rows(entmax_neighbors(x, 4.0, 1.6, name, search=how), len(x)) for how in ("certified", "exact")]
    assert float((found[0] - found[1]).abs().max()) <= (1e-9 if dtype == torch.float64 else 1e-4)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_rows_by_any_search(data):
    n, d = data.draw(st.integers(2, 60)), data.draw(st.integers(1, 9))
    x = points(n, d, data.draw(st.integers(0, 99)))
    copies = torch.tensor(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    x = torch.where(torch.arange(n)[:, None] % data.draw(st.integers(1, 5)) == 0, x[copies], x)
    others = points(data.draw(st.integers(1, 50)), d, 7) if data.draw(st.booleans()) else None
    gain, alpha = data.draw(st.sampled_from([0.05, 1.0, 7.0, 300.0])), data.draw(st.floats(1.0, 4.0))
    name = data.draw(st.sampled_from(FLAT))
    rows = [neighbor_rows(x, gain, alpha, name, others, search=how) for how in ("exact", "certified", "approximate")]
    dense = torch.zeros(3, n, n if others is None else len(others), dtype=torch.float64)
    for at, part in enumerate(rows):
        dense[at, torch.repeat_interleave(part.ptr.diff()), part.col] = part.prob
    torch.testing.assert_close(dense[1:], dense[:1].expand(2, -1, -1), rtol=0, atol=1e-7)


@pytest.mark.parametrize("how", ["certified", "approximate"])
@pytest.mark.parametrize("name", FLAT)
def test_queries_against_anchors(how, name, dense_rows, scatter_rows):
    x, anchors = points(170, 5).requires_grad_(), points(330, 5, seed=7).requires_grad_()
    got = scatter_rows(entmax_neighbors(x, 6.0, 1.4, name, anchors, search=how), 330)
    expected = dense_rows(x, 6.0, 1.4, name, anchors)
    check_close([got.detach(), *gradients(got, [x, anchors])], [expected, *gradients(expected, [x, anchors])], 1e-8)


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("size", [1e12, 1e20, 1e150])
def test_a_query_does_not_depend_on_an_extreme_one(name, size):
    queries, anchors = points(10, 5), points(30, 5, seed=1)
    _ptr, col, prob = entmax_neighbors(queries, 5.0, 1.5, name, anchors, search="certified")
    extreme = torch.cat([queries, torch.full((1, 5), size, dtype=torch.float64)])
    far = entmax_neighbors(extreme, 5.0, 1.5, name, anchors, search="certified")
    assert torch.equal(far[1][: col.numel()], col)
    torch.testing.assert_close(far[2][: col.numel()], prob, rtol=0, atol=1e-12)
    assert bool(far[2].isfinite().all())


@pytest.mark.parametrize("name", FLAT)
def test_alpha_per_row_with_softmax_rows(name, scatter_rows):
    x, alpha = points(80, 4), torch.ones(80, dtype=torch.float64)
    alpha[::3] = 1.7
    engine = NeighborSearch("certified")
    found = scatter_rows(entmax_neighbors(x, 5.0, alpha, name, search=engine), 80)
    torch.testing.assert_close(found, scatter_rows(entmax_neighbors(x, 5.0, alpha, name, search="exact"), 80))
    assert engine.report.compared >= 53


def test_dense_rows_are_compared():
    engine = NeighborSearch("certified")
    x = points(1500, 4, dtype=torch.float32)
    ptr, _col, _ = entmax_neighbors(x, 0.1, 1.5, "squared", max_edges=10**7, search=engine)
    assert engine.report.compared == 1500
    assert int(ptr[-1]) == count_neighbors(x, 0.1, 1.5, "squared", search="exact")


def test_a_few_dense_rows_get_more_candidates():
    x = points(3000, 3, dtype=torch.float32)
    x[:50] = 1e-3 * x[:50] + 4  # a clump of near-duplicates: they all choose each other
    engine = NeighborSearch("certified")
    found = entmax_neighbors(x, 300.0, 1.5, "squared", search=engine)
    expected = entmax_neighbors(x, 300.0, 1.5, "squared", search="exact")
    assert torch.equal(found[0], expected[0])
    assert torch.equal(found[1], expected[1])
    assert engine.report.candidates < 49 == int(found[0].diff().max())
    assert engine.report.certified == 3000


@pytest.mark.parametrize("how", ["certified", "approximate"])
def test_the_same_answer_for_any_number_of_threads(how):
    x, threads, found = clusters(2500), torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            copy = x.clone().requires_grad_()
            ptr, col, prob = entmax_neighbors(copy, 20.0, 1.5, "squared", search=how)
            prob.square().sum().backward()
            found.append((ptr, col, prob.detach(), copy.grad))
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    torch.testing.assert_close(found[0][2:], found[1][2:], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("how", ["certified", "approximate"])
@pytest.mark.parametrize("name", ["squared", "euclidean"])
def test_the_same_bits_for_the_same_seed(how, name):
    x = clusters(2500)
    first, second = (entmax_neighbors(x, 20.0, 1.5, name, search=NeighborSearch(how, seed=3)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("anchored", [False, True])
def test_reuse_changes_no_answer(name, anchored):
    generator = torch.Generator().manual_seed(0)
    x, anchors = points(700, 5), points(900, 5, 1) if anchored else None
    engine, reused = NeighborSearch("certified"), []
    for size in (0.0, 1e-5, 1e-3, 1e-2, 1e-2, 0.5, 1e-3, 1e-3):
        x = 1.01 * x + size * torch.randn(x.shape, generator=generator, dtype=x.dtype)
        if anchors is not None:
            anchors = 1.01 * anchors + size * torch.randn(anchors.shape, generator=generator, dtype=x.dtype)
        found = entmax_neighbors(x, 9.0, 1.5, name, anchors, search=engine)
        plain = entmax_neighbors(x, 9.0, 1.5, name, anchors, search="certified")
        assert torch.equal(found[1], plain[1])
        torch.testing.assert_close(found, plain, rtol=0, atol=1e-12)
        assert engine.report.certified == 700
        reused.append(engine.report.reused)
    assert reused[0] == 0
    assert min(reused[1:3]) > 600
    assert reused[5] == 0  # half a standard deviation in one step: nothing is left of the bounds


def test_a_point_that_jumps_into_the_others_is_found():
    x, engine = points(600, 4), NeighborSearch("certified")
    entmax_neighbors(x, 9.0, 1.5, "squared", search=engine)
    x[17] = x[400] + 1e-3
    ptr, col, _ = entmax_neighbors(x, 9.0, 1.5, "squared", search=engine)
    assert 17 in col[ptr[400] : ptr[401]].tolist()


def test_only_rows_that_fail_are_searched_again():
    x, engine = points(700, 5), NeighborSearch("certified")
    entmax_neighbors(x, 9.0, 1.5, "squared", search=engine)
    entmax_neighbors(x + 0.03 * points(700, 5, seed=1), 9.0, 1.5, "squared", search=engine)
    assert 0 < engine.report.searched < 350
    assert engine.report.reused + engine.report.searched == 700


def test_another_gain_alpha_or_number_of_points():
    x, engine = points(600, 4), NeighborSearch("certified")
    for rows, gain, alpha in ((600, 30.0, 1.5), (600, 5.0, 1.5), (600, 5.0, 1.1), (450, 5.0, 2.0), (600, 50.0, 3.0)):
        found = entmax_neighbors(x[:rows], gain, alpha, "inner", search=engine)
        plain = entmax_neighbors(x[:rows], gain, alpha, "inner", search="certified")
        assert all(torch.equal(a, b) for a, b in zip(found[:2], plain[:2], strict=True))


def test_approximate_rows_report_their_recall(scatter_rows):
    x, engine = clusters(3000, spread=1.0), NeighborSearch("approximate")
    found = scatter_rows(entmax_neighbors(x, 8.0, 1.5, "squared", search=engine), 3000) > 0
    true = scatter_rows(entmax_neighbors(x, 8.0, 1.5, "squared", search="exact"), 3000) > 0
    recall = float((found & true).sum() / true.sum())
    assert engine.report.index == "cells"
    assert engine.report.recall >= 0.95
    assert engine.report.recall == pytest.approx(recall, abs=0.01)
    assert str(engine.report).endswith(f"recall {engine.report.recall:.3f}")


def test_a_low_recall_warns(monkeypatch):
    monkeypatch.setattr("latopo.neighbors.candidates._TARGET_RECALL", 0.1)
    x = points(3000, 16, dtype=torch.float32)
    engine = NeighborSearch("approximate")
    with pytest.warns(UserWarning, match=r"finds \d+ % of the neighbours .*less than 95 %; search='certified'"):
        entmax_neighbors(x, 8.0, 1.5, "squared", search=engine)
    assert engine.report.recall < 0.95


def test_approximate_rows_are_reused_and_judged_again():
    x, engine = clusters(3000), NeighborSearch("approximate")
    entmax_neighbors(x, 30.0, 1.5, "squared", search=engine)
    entmax_neighbors(x + 1e-4 * points(3000, 8, 5, torch.float32), 30.0, 1.5, "squared", search=engine)
    assert engine.report.reused > 2900
    assert engine.report.recall >= 0.95


def test_certified_rows_from_cells(monkeypatch):
    monkeypatch.setattr("latopo.neighbors.candidates._CELLS_FROM", 1000)
    x, engine = clusters(3000, spread=20.0), NeighborSearch("certified")
    found = entmax_neighbors(x, 100.0, 1.5, "squared", search=engine)
    assert engine.report.index == "cells"
    assert engine.report.certified == 3000
    expected = entmax_neighbors(x, 100.0, 1.5, "squared", search="exact")
    assert torch.equal(found[0], expected[0])
    assert torch.equal(found[1], expected[1])
    entmax_neighbors(points(3000, 16, dtype=torch.float32), 8.0, 1.5, "squared", search=engine)
    assert engine.report.index == "flat"  # nothing to be ruled out there


@pytest.mark.parametrize("how", ["certified", "approximate", "exact"])
def test_too_many_edges(how):
    x = points(1200, 4, dtype=torch.float32)
    edges = count_neighbors(x, 2.0, 1.5, "squared", search="exact")
    assert count_neighbors(x, 2.0, 1.5, "squared", search=how) == pytest.approx(edges, rel=0.05)
    with pytest.raises(TooManyCellsError, match=r"directed edges, more than max_edges=2,000.*Raise the gain") as caught:
        entmax_neighbors(x, 2.0, 1.5, "squared", max_edges=2000, search=how)
    assert caught.value.count == count_neighbors(x, 2.0, 1.5, "squared", search=how)


@pytest.mark.parametrize("alpha", [1.0, torch.ones(1500)])
@pytest.mark.parametrize("how", ["auto", "certified", "exact"])
def test_softmax_is_refused_before_the_pass(alpha, how, monkeypatch):
    monkeypatch.setattr(NeighborSearch, "find", lambda *arguments: pytest.fail("a pass was made"))
    with pytest.raises(TooManyCellsError, match=r"alpha = 1 is the softmax.*2,248,500.*max_edges=1,500,000") as it:
        entmax_neighbors(points(1500), 5.0, alpha, max_edges=1_500_000, search=how)
    assert (it.value.count, it.value.limit) == (2_248_500, 1_500_000)


@pytest.mark.parametrize(
    ("columns", "width", "similarity", "expected"),
    [
        (5_000, 4, "squared", "exact"),
        (5_001, 4, "squared", "certified"),
        (5_001, 4, "cosine", "certified"),
        (5_001, 5_002, "inner", "exact"),
        (10_000, 4, "euclidean", "exact"),
        (10_001, 4, "euclidean", "certified"),
        (262_144, 1, "euclidean", "approximate"),
        (262_143, 1, "squared", "certified"),
        (20_000, 4, Hyperbolic(), "exact"),
    ],
)
def test_auto(columns, width, similarity, expected):
    from latopo.neighbors import get_similarity
    from latopo.neighbors.prepare import prepare_points

    x, _, measure = prepare_points(torch.empty(columns, width).zero_(), None, get_similarity(similarity))
    assert NeighborSearch().choose(x, None, measure) == expected


def test_auto_goes_by_the_pairs_of_a_few_queries():
    few, anchors = torch.zeros(10, 1), torch.zeros(300_000, 1)
    assert NeighborSearch().choose(few, anchors, Euclidean()) == "certified"


def test_what_auto_does_is_what_it_says(monkeypatch):
    monkeypatch.setattr(search, "_SMALL", {True: 100, False: 200})
    x, engine = points(150), NeighborSearch()
    for name, method in (("squared", "certified"), ("euclidean", "exact")):
        entmax_neighbors(x, 9.0, 1.5, name, search=engine)
        assert engine.report.method == method
    assert str(engine.report) == "exact: all pairs of 150 rows compared"


@pytest.mark.parametrize("how", ["certified", "approximate"])
def test_other_similarities_need_the_exact_pass(how):
    with pytest.raises(LatopoError, match=f"search='{how}' serves euclidean.*Hyperbolic on cpu; take search='exact'"):
        entmax_neighbors(points(30), similarity=Hyperbolic(), search=how)


def test_bad_names():
    with pytest.raises(LatopoError, match=r"must be auto, exact, certified or approximate.*, got 'faiss'"):
        entmax_neighbors(points(30), search="faiss")


def test_no_points_and_one_point():
    for n in (0, 1):
        ptr, col, prob = entmax_neighbors(torch.zeros(n, 3, requires_grad=True), search="certified")
        assert ptr.tolist() == [0] * (n + 1)
        assert col.numel() == prob.numel() == 0


def test_sampled_statistics_beyond_their_number_of_columns():
    x, engine = points(1000, 6), NeighborSearch("certified", seed=1, columns=300)
    rows = neighbor_rows(x, 9.0, 1.5, "euclidean", search=engine)
    assert engine.report.statistics == "300 columns"
    exact = neighbor_rows(x, 9.0, 1.5, "euclidean", search="exact")
    assert rows.col.numel() == pytest.approx(exact.col.numel(), rel=0.1)
    engines = (NeighborSearch("certified", seed=seed, columns=300) for seed in (1, 2))
    again, other = (neighbor_rows(x, 9.0, 1.5, search=engine) for engine in engines)
    assert torch.equal(rows.prob, again.prob)
    assert rows.prob.shape != other.prob.shape or not torch.equal(rows.prob, other.prob)


def test_report_in_words():
    report = SearchReport("approximate", "2,048 columns", 10, "cells", 24, 4, 5, 1, 6, 0.97)
    assert str(report) == (
        "approximate: statistics by 2,048 columns, 24 candidates a row from cells, 4 rows reused, 5 rows searched, "
        "1 compared with all columns; 6 of 10 rows proven exact, recall 0.970"
    )
    assert repr(NeighborSearch("auto", seed=2)) == "NeighborSearch('auto', reuse=True, seed=2)"


# The same points again


def count_passes(monkeypatch):
    passes, scan = [], search.scan_pairs
    monkeypatch.setattr(search, "scan_pairs", lambda *rest: passes.append(1) or scan(*rest))
    return passes


def test_all_pairs_are_not_compared_again(monkeypatch):
    passes, engine, x = count_passes(monkeypatch), NeighborSearch("exact"), points(50).requires_grad_()
    results = []
    for _ in range(2):
        prob = entmax_neighbors(x, 4.0, search=engine)[2]
        results.append((prob, torch.autograd.grad(prob.square().sum(), x)[0]))
    assert len(passes) == 1
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))


@pytest.mark.parametrize("similarity", ["euclidean", "squared"])
@pytest.mark.parametrize("how", ["certified", "approximate"])
def test_nothing_is_searched_again(monkeypatch, how, similarity):
    passes, walks = count_passes(monkeypatch), []
    walk = search._walked
    monkeypatch.setattr(search, "_walked", lambda *rest: walks.append(1) or walk(*rest))
    engine, x = NeighborSearch(how, columns=200), points(900, 4).requires_grad_()
    results = []
    for _ in range(2):
        prob = entmax_neighbors(x, 9.0, 1.5, similarity, search=engine)[2]
        results.append((prob, torch.autograd.grad(prob.square().sum(), x)[0]))
    assert len(walks) == len(passes) == 1
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))
    assert (engine.report.reused, engine.report.searched, engine.report.certified) == (900, 0, 900)
    entmax_neighbors(x + 1e-3 * points(900, 4, 1), 9.0, 1.5, similarity, search=engine)
    assert len(walks) == 2


@pytest.mark.parametrize("change", ["points", "gain", "alpha", "similarity", "dtype", "anchors", "none kept"])
def test_anything_else_is_compared(monkeypatch, change):
    passes, x = count_passes(monkeypatch), points(50)
    engine = NeighborSearch("exact", reuse=change != "none kept")
    entmax_neighbors(x, 4.0, search=engine)
    options = {"gain": 4.0, "alpha": 1.5, "similarity": "euclidean", "anchors": None}
    options |= (
        {change: {"gain": 5.0, "alpha": 2.0, "similarity": "squared", "anchors": x}[change]}
        if change in options
        else {}
    )
    again = {"points": 1 + x, "dtype": x.float()}.get(change, x)
    again = again.square() if change == "points" else again
    found = entmax_neighbors(again, **options, search=engine)
    assert len(passes) == 2
    for part, expected in zip(found, entmax_neighbors(again, **options, search="exact"), strict=True):
        assert torch.equal(part, expected)


def test_the_limit_holds_for_remembered_rows():
    engine, x = NeighborSearch("exact"), points(50)
    count = entmax_neighbors(x, 4.0, search=engine)[1].numel()
    with pytest.raises(TooManyCellsError):
        entmax_neighbors(x, 4.0, search=engine, max_edges=count - 1)


def test_copies_remember_nothing():
    engine = NeighborSearch("approximate")
    entmax_neighbors(clusters(3000), 10.0, similarity="squared", search=engine)
    for copy in (deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        assert (copy.method, copy.report) == ("approximate", engine.report)
        assert not copy._candidates
