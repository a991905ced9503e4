from copy import deepcopy
from importlib import import_module

import pytest
import torch
from scipy.stats import chisquare

from latopo.errors import LatopoError
from latopo.neighbors import (
    Euclidean,
    Hyperbolic,
    Inner,
    Product,
    Similarity,
    Spherical,
    SquaredEuclidean,
    fused,
    topk_neighbors,
)
from latopo.neighbors.shadow import Shadow, flat_shadow


def points(n=20, d=3):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_without_noise_the_nearest():
    x = points()
    rows = topk_neighbors(x, 4, noise=False)
    distance = torch.cdist(x, x).fill_diagonal_(torch.inf)
    expected = distance.topk(4, largest=False).indices.sort(1).values
    assert torch.equal(rows.col.view(20, 4), expected)
    assert torch.equal(rows.ptr, 4 * torch.arange(21))
    torch.testing.assert_close(rows.score, -distance.gather(1, expected).square().flatten())
    torch.testing.assert_close(rows.prob, rows.score.exp())


@pytest.mark.parametrize("k", [1, 5, 19, 50])
def test_exactly_k_others(k):
    rows = topk_neighbors(points(), k, generator=torch.Generator().manual_seed(0))
    chosen = rows.col.view(20, min(k, 19))
    assert (chosen.diff(dim=1) > 0).all()
    assert (chosen != torch.arange(20)[:, None]).all()


def test_blocks_do_not_matter(monkeypatch):
    whole = topk_neighbors(points(), 3, noise=False)
    # The function hides the module of its name.
    monkeypatch.setattr(import_module("latopo.neighbors.topk_neighbors"), "_BLOCK_ENTRIES", 60)
    assert torch.equal(whole.col, topk_neighbors(points(), 3, noise=False).col)
    noisy = [topk_neighbors(points(), 3, generator=torch.Generator().manual_seed(1)).col]
    monkeypatch.undo()
    noisy.append(topk_neighbors(points(), 3, generator=torch.Generator().manual_seed(1)).col)
    assert torch.equal(*noisy)


def test_first_choice_follows_the_softmax():
    line = torch.tensor([0.0, 0.5, -1.0, 1.2, 2.0], dtype=torch.float64)
    # Many copies of the line, too far apart to choose each other: one call draws for all.
    x = torch.stack([line.repeat(400), 1e3 * torch.arange(400.0).repeat_interleave(5).double()], dim=1)
    generator = torch.Generator().manual_seed(0)
    draws = torch.cat([topk_neighbors(x, 1, 1.5, generator=generator).col.view(400, 5) for _ in range(5)])
    for i in range(5):
        others = torch.arange(5) != i
        expected = (-1.5 * (line[others] - line[i]).square()).softmax(0) * 2000
        counts = torch.bincount(draws[:, i] % 5, minlength=5)
        assert counts[i] == 0
        assert chisquare(counts[others].numpy(), expected.numpy()).pvalue > 0.01


def test_generator_decides():
    first, second = (topk_neighbors(points(), 3, generator=torch.Generator().manual_seed(5)).col for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, topk_neighbors(points(), 3, generator=torch.Generator().manual_seed(6)).col)


def test_gradients():
    x, temperature = points(6).requires_grad_(), torch.tensor(0.7, dtype=torch.float64, requires_grad=True)

    def both(x, temperature):
        rows = topk_neighbors(x, 2, temperature, noise=False)
        return rows.prob, rows.score

    assert torch.autograd.gradcheck(both, (x, temperature))
    space = Hyperbolic().double()
    topk_neighbors(x, 2, temperature, space).prob.sum().backward()
    assert space.log_curvature.grad.abs().item() > 1e-9


def test_equal_points_have_finite_gradients():
    x = torch.zeros(4, 2, requires_grad=True)
    topk_neighbors(x, 2).prob.sum().backward()
    assert torch.equal(x.grad, torch.zeros(4, 2))


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_to_choose(count):
    rows = topk_neighbors(points(count), 3)
    assert rows.ptr.tolist() == [0] * (count + 1)
    assert rows.col.numel() == rows.prob.numel() == 0


def test_bad_k():
    with pytest.raises(LatopoError, match="topk_neighbors: k must be a whole number of at least 1, got 0"):
        topk_neighbors(points(), 0)


@pytest.mark.parametrize("similarity", [Euclidean(), SquaredEuclidean(), Inner()])
@pytest.mark.parametrize("count", [1, 2, 7, 301])
def test_all_pairs(similarity, count):
    x = points(count, 5)
    torch.testing.assert_close(fused.all_pairs(x, points(133, 5), similarity), similarity.pairwise(x, points(133, 5)))


def test_bad_points_and_temperatures():
    x = points()
    for bad, message in ((x[0], "floating point matrix"), (x.long(), "floating point"), (x[:, :0], "no columns")):
        with pytest.raises(LatopoError, match=f"topk_neighbors: x .*{message}"):
            topk_neighbors(bad, 2)
    with pytest.raises(LatopoError, match="NaN or infinite entries in 1 rows, first in row 0"):
        topk_neighbors(torch.cat([x[:1] * torch.nan, x]), 2)
    for temperature in (-1.0, 0.0, torch.ones(3)):
        with pytest.raises(LatopoError, match="temperature must be one finite number > 0"):
            topk_neighbors(x, 2, temperature)


def test_gradients_do_not_depend_on_strides():
    x = points().requires_grad_()
    gradients = []
    for used in (x, x.t().contiguous().t()):
        gradients += torch.autograd.grad(topk_neighbors(used, 3, noise=False).score.sum(), x)
    assert gradients[0].abs().max() > 0
    torch.testing.assert_close(*gradients)


def product():
    return Product([Euclidean(), Hyperbolic(2.0), Spherical()], [2, 2, 2])


class Bare(Similarity):
    """The same similarity without its shadow."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def pairwise(self, x, y):
        return self.inner.pairwise(x, y)

    def paired(self, x, y):
        return self.inner.paired(x, y)


@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_shadow_only_saves_work(noise, scale, dtype, monkeypatch):
    module = import_module("latopo.neighbors.topk_neighbors")
    asked = []
    monkeypatch.setattr(module._Draw, "_values", spied(module._Draw._values, asked))
    x = (points(60, 6).repeat(15, 1) + points(900, 6) / 300).to(dtype) * scale
    for measure in (product(), Hyperbolic()):
        found = [
            topk_neighbors(x, 4, 1e5 / scale**2, m, noise=noise, generator=torch.Generator().manual_seed(2)).col
            for m in (measure, Bare(measure))
        ]
        assert torch.equal(*found)
    assert 2 * 900 * 4 <= sum(asked) < 1.1 * 2 * 900 * 4


def spied(values, asked):
    def call(self, row, col):
        asked.append(len(col))
        return values(self, row, col)

    return call


@pytest.mark.parametrize(
    ("space", "scale", "temperature", "served"),
    [
        (product(), 1.0, 0.01, True),  # the shadow is of no use beside the noise, the bounds of distances are
        (Hyperbolic(1e-30), 1e-5, 1e15, False),  # squares are next to nothing: no bound is of any use
    ],
)
def test_a_tree_serves_if_bounds_tell_distances_apart(space, scale, temperature, served, monkeypatch):
    module = import_module("latopo.neighbors.topk_neighbors")
    asked = []
    monkeypatch.setattr(module._Draw, "_values", spied(module._Draw._values, asked))
    x = points(600, 6).float() * scale
    found = [
        topk_neighbors(x, 4, temperature, m, generator=torch.Generator().manual_seed(2)).col
        for m in (space, Bare(space))
    ]
    assert torch.equal(*found)
    assert served * 600 * 4 <= sum(asked) <= served * 1.1 * 600 * 4


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("space", [Spherical(3.0), Product([Euclidean(), Spherical(0.7)], [1, 2]), Hyperbolic(5.3)])
def test_spaces_with_parameters_in_half_precision(space, noise, dtype):
    x = points(1500, 3).float() * torch.tensor([0.1, 0.01, 0.01])
    space = deepcopy(space).to(dtype)
    chosen = [
        topk_neighbors(x, 6, 1e4, m, noise=noise, generator=torch.Generator().manual_seed(2)).col
        for m in (space, Bare(space))
    ]
    assert torch.equal(*chosen)


def test_bounds_that_are_wrong_lose_no_neighbor(monkeypatch):
    module = import_module("latopo.neighbors.topk_neighbors")
    monkeypatch.setattr(module, "flat_shadow", lambda space, x: Shadow(1e3 * flat_shadow(space, x).points, 0.0))
    rows = topk_neighbors(points(600, 6), 4, 1e5, Hyperbolic())
    assert (rows.col.view(600, 4).diff(dim=1) > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("temperature", [3.0, 3e3, 3e6])
def test_a_tree_chooses_what_all_pairs_do(dtype, noise, k, temperature, monkeypatch):
    module = import_module("latopo.neighbors.topk_neighbors")
    served = []
    choose = module.TopKTree.choose
    monkeypatch.setattr(module.TopKTree, "choose", lambda *a, **b: served.append(choose(*a, **b)) or served[-1])
    x = (points(1500, 3) * torch.tensor([1.0, 0.3, 0.02], dtype=torch.float64) + 5).to(dtype)
    x[40:43] = x[7]
    chosen = []
    for least in (1, 10_000):
        monkeypatch.setattr(module, "_TREE_FROM", least)
        generator = torch.Generator().manual_seed(3)
        chosen.append(topk_neighbors(x, k, temperature, noise=noise, generator=generator).col)
    assert torch.equal(*chosen)
    assert len(served) == 1
    assert (served[0] is None) == (noise and temperature < 100)  # there all are near enough for the noise


@pytest.mark.parametrize("space", [Euclidean(), Hyperbolic(), product()])
def test_threads_do_not_matter(space, monkeypatch):
    monkeypatch.setattr(import_module("latopo.neighbors.topk_neighbors"), "_TREE_FROM", 1)
    x = (points(60, 6).repeat(30, 1) + points(1800, 6) / 300).float()
    before, chosen = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            chosen.append(topk_neighbors(x, 4, 1e5, space, generator=torch.Generator().manual_seed(2)).col)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*chosen)


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e4, torch.float32), (2 * torch.pi, torch.float32), (50.0, torch.float64)]
)
def test_shadows_of_vectors_that_wrap_around_a_sphere(scale, dtype):
    x = ((torch.rand(2000, 1, generator=torch.Generator().manual_seed(0)) * 2 - 1) * scale).to(dtype)
    chosen = [topk_neighbors(x, 4, 1.0, m, noise=False).col for m in (Spherical(), Bare(Spherical()))]
    assert torch.equal(*chosen)


def test_points_whose_squares_single_precision_does_not_have(monkeypatch):
    cloud = points(3000, 3)
    cloud[:1000] *= 1e-21
    for x in (points(3000, 3) * 1e-22, cloud):
        chosen = []
        for least in (1, 10_000):
            monkeypatch.setattr(import_module("latopo.neighbors.topk_neighbors"), "_TREE_FROM", least)
            chosen.append(topk_neighbors(x, 3, 1.0, noise=False).col)
        assert torch.equal(*chosen)


@pytest.mark.parametrize(("factor", "k"), [(1e30, 4), (1e-30, 4), (1.0, 699)])
def test_a_tree_that_would_not_serve_is_given_up(factor, k, monkeypatch):
    x = points(700, 2).float() * factor
    chosen = []
    for least in (1, 10_000):
        monkeypatch.setattr(import_module("latopo.neighbors.topk_neighbors"), "_TREE_FROM", least)
        chosen.append(topk_neighbors(x, k, 1e3, generator=torch.Generator().manual_seed(3)).col)
    assert torch.equal(*chosen)


@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize(
    ("size", "spread", "curvature", "temperature"),
    [(1.0, 1e-4, 1.0, 1e9), (1e-5, 0.02, 1e-30, 1e15), (1e-6, 0.02, 1e-30, 1e17)],
)
def test_shadows_leave_room_for_rounding(noise, size, spread, curvature, temperature):
    generator = torch.Generator().manual_seed(1)
    centres, around = torch.randn(50, 2, generator=generator), torch.randn(1000, 2, generator=generator)
    x = size * (centres.repeat(20, 1) + spread * around)
    chosen = [
        topk_neighbors(x, 4, temperature, m, noise=noise, generator=torch.Generator().manual_seed(0)).col.view(1000, 4)
        for space in (Hyperbolic(curvature), Spherical(curvature))
        for m in (space, Bare(space))
    ]
    assert all((found.diff(dim=1) > 0).all() for found in chosen)
    assert torch.equal(*chosen[:2])
    assert torch.equal(*chosen[2:])


def test_what_a_similarity_of_ones_own_gives_is_looked_at():
    class Hops(Similarity):
        def pairwise(self, x, y):
            return -(x[:, None, 0] - y[None, :, 0]).abs().long()

    with pytest.raises(LatopoError, match=r"topk_neighbors: Hops gives torch\.int64, expected floating point numbers"):
        topk_neighbors(points(), 2, similarity=Hops())
    with pytest.raises(LatopoError, match=r"Product: x has 3 columns, expected 2"):
        topk_neighbors(points(200), 2, similarity=Product([Euclidean(), Hyperbolic()], [1, 1]))


def test_a_temperature_that_vanishes_in_single_precision_ties_all_pairs():
    temperature = torch.tensor(1e-46, dtype=torch.float64)
    assert topk_neighbors(points().float(), 2, temperature, noise=False).col[:4].tolist() == [1, 2, 0, 2]
