import pytest
import torch
from torch import nn

from latopo import entmax_neighbors
from latopo.errors import LatopoError, TooManyCellsError
from latopo.neighbors import (
    Euclidean,
    Hyperbolic,
    Product,
    Similarity,
    Spherical,
    count_neighbors,
    get_similarity,
    neighbor_rows,
)
from latopo.neighbors.scan import default_max_edges

FLAT = ["euclidean", "squared", "cosine", "inner"]


class SlowEuclidean(Euclidean):
    """The same similarity under another type: takes the blocked path of torch operations."""


def points(n: int, d: int = 3, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def curved() -> Product:
    return Product([Euclidean(), Hyperbolic(0.7), Spherical(0.4)], [1, 2, 2]).double()


def cases() -> dict[str, torch.Tensor]:
    duplicated = points(30)
    duplicated[10:20] = duplicated[0]
    duplicated[25] = duplicated[24]
    return {
        "two": points(2),
        "three": points(3),
        "odd width": points(40, 7),
        "three hundred": points(300, 5),
        "duplicates": duplicated,
        "offset": points(50) + 1e4,
        "tiny": points(50) * 1e-170,
        "huge": points(50) * 1e170,
        "line": torch.arange(20.0, dtype=torch.float64)[:, None] ** 2,
    }


def check(got, expected, inputs, tolerance=1e-8):
    """Equal values, and equal gradients of one random linear function of the probabilities."""
    assert torch.allclose(got, expected, atol=tolerance, rtol=0), (got - expected).abs().max()
    weight = torch.randn(got.shape, generator=torch.Generator().manual_seed(1), dtype=got.dtype)
    ours = torch.autograd.grad((got * weight).sum(), inputs, allow_unused=True)
    reference = torch.autograd.grad((expected * weight).sum(), inputs, allow_unused=True)
    for a, b in zip(ours, reference, strict=True):
        b = torch.zeros_like(a) if b is None else b
        assert torch.isfinite(a).all()
        size = b.abs().max().clamp(min=1e-300)
        assert torch.allclose(a / size, b / size, atol=tolerance, rtol=tolerance), ((a - b) / size).abs().max()


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("similarity", ["euclidean", SlowEuclidean()], ids=["fused", "blocked"])
def test_equals_the_dense_definition(name, similarity, dense_rows, scatter_rows):
    x = cases()[name].requires_grad_()
    gain = torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
    alpha = torch.tensor(1.6, dtype=torch.float64, requires_grad=True)
    got = scatter_rows(entmax_neighbors(x, gain, alpha, similarity), len(x))
    size = x.detach().abs().max()  # scale-free: the plain definition would lose tiny and huge squares
    check(got, dense_rows(x / size, gain, alpha), [x, gain, alpha])


@pytest.mark.parametrize("similarity", FLAT)
@pytest.mark.parametrize("alpha", [1.0, 1.1, 1.5, 2.0, 3.0])
def test_every_similarity_and_alpha(similarity, alpha, dense_rows, scatter_rows):
    x = points(60, 6).requires_grad_()
    gain = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    got = scatter_rows(entmax_neighbors(x, gain, alpha, similarity), len(x))
    check(got, dense_rows(x, gain, alpha, similarity), [x, gain])


@pytest.mark.parametrize("similarity", [*FLAT, SlowEuclidean(), curved()], ids=str)
def test_queries_against_anchors(similarity, dense_rows, scatter_rows):
    x, anchors = points(17, 5).requires_grad_(), points(33, 5, seed=7).requires_grad_()
    got = scatter_rows(entmax_neighbors(x, 3.0, 1.4, similarity, anchors), len(anchors))
    check(got, dense_rows(x, 3.0, 1.4, similarity, anchors), [x, anchors])


def test_curvatures_learn(dense_rows, scatter_rows):
    space = curved()
    x = points(50, 5).requires_grad_()
    got = scatter_rows(entmax_neighbors(x, 3.0, 1.5, space), len(x))
    check(got, dense_rows(x, 3.0, 1.5, space), [x, *space.parameters()])


def test_alpha_per_row(dense_rows, scatter_rows):
    x = points(20).requires_grad_()
    alpha = torch.linspace(1.1, 3.0, 20, dtype=torch.float64).requires_grad_()
    got = scatter_rows(entmax_neighbors(x, 3.0, alpha), len(x))
    check(got, dense_rows(x, 3.0, alpha), [x, alpha])


def test_many_blocks_equal_one(dense_rows, scatter_rows, monkeypatch):
    from latopo.neighbors import blocked, fused, paired

    monkeypatch.setattr(fused, "_BLOCK", 7)
    monkeypatch.setattr(fused, "_TILE_BYTES", 1)
    monkeypatch.setattr(blocked, "_BLOCK_ENTRIES", 500)
    monkeypatch.setattr(paired, "_CHUNK", 50)
    for similarity in ("euclidean", SlowEuclidean(), curved()):
        x = points(200, 5).requires_grad_()
        got = scatter_rows(entmax_neighbors(x, 3.0, 1.5, similarity), len(x))
        check(got, dense_rows(x, 3.0, 1.5, similarity), [x])


@pytest.mark.parametrize("name", ["three hundred", "duplicates", "odd width"])
@pytest.mark.parametrize("scale", [1.0, 1e-25, 1e25])
def test_single_precision_is_close_to_double(name, scale, scatter_rows):
    x = cases()[name].float()
    double = scatter_rows(entmax_neighbors(x.double(), 5.0), len(x))
    single = scatter_rows(entmax_neighbors(x * scale, 5.0), len(x))
    assert single.dtype == torch.float32
    assert torch.allclose(single.double(), double, atol=1e-4)


def test_single_precision_gradient_with_an_offset(scatter_rows):
    x = (points(200, 8) + 10).float()
    gradients = []
    for copy in (x.clone().requires_grad_(), x.double().requires_grad_()):
        prob = scatter_rows(entmax_neighbors(copy, 5.0), len(x))
        prob.square().sum().backward()
        gradients.append(copy.grad.double())
    assert torch.allclose(*gradients, atol=1e-4 * float(gradients[1].abs().max()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    x = points(40).to(dtype).requires_grad_()
    ptr, _, prob = entmax_neighbors(x, 5.0)
    prob.square().sum().backward()
    assert prob.dtype == dtype
    assert torch.isfinite(x.grad).all()
    assert torch.equal(ptr, entmax_neighbors(x.float(), 5.0)[0])


def test_regular_simplex_is_uniform_without_gradient(dense_rows, scatter_rows):
    x = torch.eye(6).double().requires_grad_()
    prob = scatter_rows(entmax_neighbors(x, 50.0), 6)
    assert torch.allclose(prob, (1 - torch.eye(6).double()) / 5)
    prob.square().sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))


@pytest.mark.parametrize("similarity", ["euclidean", SlowEuclidean(), "cosine"], ids=str)
def test_equal_points_only(similarity):
    x = torch.ones(5, 3, requires_grad=True)
    ptr, _, prob = entmax_neighbors(x, 50.0, similarity=similarity)
    assert ptr.diff().tolist() == [4] * 5
    assert torch.allclose(prob, torch.full_like(prob, 0.25))
    prob.square().sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("similarity", ["euclidean", SlowEuclidean()], ids=["fused", "blocked"])
def test_no_points_and_one_point(similarity):
    for n in (0, 1):
        ptr, col, prob = entmax_neighbors(torch.zeros(n, 3, requires_grad=True), 50.0, similarity=similarity)
        assert ptr.tolist() == [0] * (n + 1)
        assert col.numel() == prob.numel() == 0
        prob.sum().backward()
    ptr, col, _ = entmax_neighbors(torch.zeros(2, 3), similarity=similarity, anchors=torch.zeros(0, 3))
    assert ptr.tolist() == [0, 0, 0]


def test_rows_sum_to_one_and_columns_ascend():
    ptr, col, prob = entmax_neighbors(points(500, 8).float(), 10.0)
    row = torch.repeat_interleave(ptr.diff())
    assert torch.allclose(torch.zeros(500).index_add_(0, row, prob), torch.ones(500))
    assert bool((prob > 0).all())
    inner = row[1:] == row[:-1]
    assert bool((col[1:] > col[:-1])[inner].all())
    assert bool((row != col).all())


def test_permuting_the_points_permutes_the_rows(scatter_rows):
    x = points(80, 4)
    order = torch.randperm(80, generator=torch.Generator().manual_seed(3))
    plain = scatter_rows(entmax_neighbors(x, 6.0), 80)
    permuted = scatter_rows(entmax_neighbors(x[order], 6.0), 80)
    assert torch.allclose(permuted, plain[order][:, order], atol=1e-12)


def test_the_same_bits_for_any_number_of_threads():
    x = points(700, 8).float()
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            copy = x.clone().requires_grad_()
            prob = entmax_neighbors(copy, 8.0)[2]
            prob.square().sum().backward()
            results.append((prob, copy.grad))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


@pytest.mark.parametrize("similarity", ["euclidean", SlowEuclidean()], ids=["fused", "blocked"])
def test_too_many_edges_names_the_count_and_the_remedies(similarity):
    x = points(100)
    edges = int(entmax_neighbors(x, 1.0, similarity=similarity)[0][-1])
    with pytest.raises(TooManyCellsError, match=rf"{edges:,} directed edges.*max_edges=200.*Raise the gain") as caught:
        entmax_neighbors(x, 1.0, similarity=similarity, max_edges=200)
    assert caught.value.count == edges
    assert int(entmax_neighbors(x, 1.0, similarity=similarity, max_edges=edges)[0][-1]) == edges


def test_default_limit_is_a_million():
    with pytest.raises(TooManyCellsError, match="1,197,930 directed edges, more than max_edges=1,000,000"):
        entmax_neighbors(torch.ones(1095, 2))


class Broken(Similarity):
    pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": torch.zeros(3)}, "floating point matrix"),
        ({"x": torch.zeros(3, 2, dtype=torch.int64)}, "floating point matrix"),
        ({"x": torch.tensor([[0.0], [torch.nan], [1.0]])}, "in 1 rows, first in row 1"),
        ({"anchors": torch.full((2, 2), torch.inf)}, "anchors has NaN or infinite entries in 2 rows"),
        ({"anchors": torch.zeros(2, 3)}, "columns and dtype of x"),
        ({"anchors": torch.zeros(2, 2).double()}, "columns and dtype of x"),
        ({"gain": 0.0}, "gain must be one finite number > 0"),
        ({"gain": float("nan")}, "gain must be one finite number > 0"),
        ({"gain": torch.ones(2)}, "gain must be one finite number > 0"),
        ({"alpha": 0.5}, "alpha must be at least 1, got 0.5"),
        ({"alpha": torch.ones(5)}, "one value or one per row"),
        ({"similarity": "manhattan"}, "expected one of euclidean, squared, cosine, inner"),
        ({"similarity": nn.Linear(2, 2)}, "must be a text or a Similarity"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(LatopoError, match=message):
        entmax_neighbors(**{"x": torch.zeros(3, 2), **arguments})


def test_a_similarity_without_methods_says_so():
    with pytest.raises(NotImplementedError, match="Broken must define pairwise"):
        entmax_neighbors(points(3), similarity=Broken())


@pytest.mark.parametrize("similarity", ["euclidean", SlowEuclidean(), "inner"], ids=str)
def test_scores_are_standardised_similarities_with_gradients(similarity):
    x = points(30, 4).requires_grad_()
    rows = neighbor_rows(x, 3.0, similarity=similarity)
    z = get_similarity(similarity).pairwise(x, x)[~torch.eye(30, dtype=torch.bool)].view(30, 29)
    standard = (z - z.mean(1, keepdim=True)) / z.std(1, correction=0, keepdim=True)
    row = torch.repeat_interleave(rows.ptr.diff())
    expected = standard[row, rows.col - (rows.col > row).long()]
    check(rows.score, expected, [x])


def test_count_without_storing():
    x = points(100)
    assert count_neighbors(x, 1.0) == int(entmax_neighbors(x, 1.0)[0][-1])
    assert count_neighbors(torch.ones(2000, 1)) == 2000 * 1999
    assert count_neighbors(x[:1]) == 0


def test_points_without_columns_raise():
    with pytest.raises(LatopoError, match=r"x has no columns, got shape \(4, 0\)"):
        entmax_neighbors(torch.zeros(4, 0))


def test_default_limit_of_edges():
    assert default_max_edges(100) == 1_000_000
    assert default_max_edges(100_000) == 6_400_000


def test_rows_count_as_constant_only_within_rounding():
    # Distances 1 + k/1000 ε: below the rule; 1 + 100 k ε: above it.
    step = torch.finfo(torch.float64).eps
    for size, constant in ((0.5, True), (1e3, False)):
        anchors = 1 + size * step * torch.arange(8, dtype=torch.float64)[:, None]
        ptr, _, _ = entmax_neighbors(torch.zeros(1, 1, dtype=torch.float64), 50.0, anchors=anchors)
        assert (int(ptr[-1]) == 8) is constant


@pytest.mark.parametrize("similarity", [*FLAT, SlowEuclidean()])
@pytest.mark.parametrize("anchored", [True, False])
def test_gradients_do_not_depend_on_strides(similarity, anchored):
    x, anchors = points(20), points(12, seed=1) if anchored else None
    gradients = []
    for order in (torch.contiguous_format, "transposed"):
        leaves = [part.clone().requires_grad_() for part in (x, anchors) if part is not None]
        used = [leaf.t().contiguous().t() if order == "transposed" else leaf for leaf in leaves]
        rows = neighbor_rows(used[0], 3.0, 1.5, similarity, used[1] if anchored else None)
        gradients.append(torch.autograd.grad((rows.prob * rows.score).sum(), leaves))
    assert gradients[0][0].abs().max() > 1e-3
    torch.testing.assert_close(gradients[0], gradients[1])


@pytest.mark.parametrize("similarity", [*FLAT, SlowEuclidean()])
@pytest.mark.parametrize("size", [1e12, 1e20, 1e150])
def test_a_query_does_not_depend_on_an_extreme_one(similarity, size):
    queries, anchors = points(10, 5), points(30, 5, seed=1)
    ptr, col, prob = entmax_neighbors(queries, 5.0, 1.5, similarity, anchors)
    extreme = torch.cat([queries, torch.full((1, 5), size, dtype=torch.float64)])
    far_ptr, far_col, far_prob = entmax_neighbors(extreme, 5.0, 1.5, similarity, anchors)
    assert torch.equal(far_ptr[:11], ptr)
    assert torch.equal(far_col[: col.numel()], col)
    torch.testing.assert_close(far_prob[: col.numel()], prob, rtol=0, atol=1e-12)
    assert bool(far_prob.isfinite().all())


def test_inner_products_of_small_queries_with_large_anchors():
    queries, anchors = points(10).float(), points(30, seed=1).float()
    expected = entmax_neighbors(queries, 5.0, 1.5, "inner", anchors)
    found = entmax_neighbors(queries * 2.0**-40, 5.0, 1.5, "inner", anchors * 2.0**40)
    assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_a_derived_similarity_is_rescaled_only_if_it_says_so():
    class Logarithm(Euclidean):
        def pairwise(self, x, y):
            return -torch.log1p(-super().pairwise(x, y))

        def paired(self, x, y):
            return -torch.log1p(-super().paired(x, y))

    assert (Logarithm.scale_free, Logarithm.shift_free) == (False, False)
    assert (SlowEuclidean.scale_free, SlowEuclidean.shift_free) == (True, True)
    x = 100 * points(20)
    similarity = Logarithm().pairwise(x, x)
    rows = neighbor_rows(x, 4.0, 1.5, Logarithm())
    others = similarity[0, 1:]
    expected = (similarity[0, rows.col[0]] - others.mean()) / others.std(correction=0)
    assert rows.score[0].item() == pytest.approx(expected.item())
