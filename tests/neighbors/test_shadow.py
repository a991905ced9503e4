import numpy as np
import pytest
import torch

from latopo._numba import njit
from latopo.neighbors import Euclidean, Hyperbolic, Inner, Product, Spherical
from latopo.neighbors._curved import scores_between, squares_between
from latopo.neighbors.shadow import curved_points, flat_shadow


@pytest.mark.parametrize("scale", [1e-3, 1.0, 20.0, 300.0])
@pytest.mark.parametrize(
    "space", [Hyperbolic(0.5), Spherical(0.3), Product([Euclidean(), Hyperbolic(3.0), Spherical()], [1, 1, 2])]
)
def test_shadows_are_never_farther_apart_than_their_points(space, scale):
    x = scale * torch.randn(60, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[0] = 0
    shadow, room = flat_shadow(space, x)
    assert shadow.shape[0] == 60
    assert (-Euclidean().pairwise(shadow, shadow) <= -space.pairwise(x, x) * (1 + 1e-9) + room).all()
    assert room < 1e-4


class Taxicab(Euclidean):
    def pairwise(self, x, y):
        return -torch.cdist(x, y, p=1)


@pytest.mark.parametrize("space", [Taxicab(), Product([Euclidean(), Taxicab()], [1, 1]), Inner()])
def test_spaces_without_a_shadow(space):
    assert flat_shadow(space, torch.ones(3, 2)) is None


@pytest.mark.parametrize("size", [0.0, 1e-30])
def test_points_whose_squares_vanish_have_no_shadow(size):
    assert flat_shadow(Hyperbolic(), torch.full((3, 2), size)) is None


@njit
def all_bounds(points, rate):
    """Of all squared distances, then of all scores, from below and from above, [4, n, n]."""
    count = points.columns.shape[0]
    out = np.empty((4, count, count))
    for i in range(count):
        for j in range(count):
            out[0, i, j], out[1, i, j] = squares_between(i, j, points, np.inf)
            out[2, i, j], out[3, i, j] = scores_between(i, j, points, rate, -np.inf)
    return out


def lengths(kind, count, generator, dtype):
    """Distances from the origin of a space of curvature 1."""
    drawn = torch.rand(count, generator=generator, dtype=torch.float64)
    if kind == "quarters of a great circle":
        return torch.pi / 2 * (1 + (16 * drawn).floor()) * (1 + 1e-6 * drawn)
    if kind == "as far as hyperbolic points can be":
        return 0.45 * np.log(torch.finfo(dtype).max) * (1 + 1e-3 * (drawn - 0.5))
    if kind == "next to nothing":
        return 10 ** (-30 + 22 * drawn)
    return 4 * drawn


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rate", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("lines", [1, 8])
@pytest.mark.parametrize(
    "kind", ["usual", "quarters of a great circle", "as far as hyperbolic points can be", "next to nothing"]
)
@pytest.mark.parametrize(
    "space",
    [
        Euclidean(), Hyperbolic(0.5), Spherical(0.3), Hyperbolic(1e-30), Hyperbolic(1e6), Spherical(1e-30),
        Spherical(1e6), Product([Euclidean(), Product([Hyperbolic(3.0), Spherical()], [1, 1])], [1, 2]),
    ],
)  # fmt: skip
def test_computed_distances_lie_within_their_bounds(space, kind, lines, rate, dtype):
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn(lines, 3, generator=generator, dtype=torch.float64).repeat(48 // lines, 1)
    directions = torch.nn.functional.normalize(directions) * (-1) ** torch.arange(48)[:, None]
    length = lengths(kind, 48, generator, dtype)[:, None]
    root = getattr(space, "curvature", torch.ones(())).double().sqrt().detach()
    for x in (length * directions, length / root * directions):
        x = torch.cat([x, x[:3] * (1 + 1e-6), torch.zeros(2, 3)]).to(dtype)
        with torch.no_grad():
            together = space.pairwise(x, x)
            single = space.pairwise(x.repeat_interleave(len(x), 0)[:, None], x.repeat(len(x), 1)[:, None]).view(53, 53)
        least, most, low, high = all_bounds(curved_points(space, x), rate)
        for squares in (together.square(), single.square()):
            scores = (-rate * squares).double().numpy()
            squares = squares.double().numpy()
            assert (least <= squares).all()
            assert (squares <= most).all()
            assert (low <= scores).all()
            assert (scores <= high).all()


@pytest.mark.parametrize("space", [Hyperbolic(), Spherical(), Product([Euclidean(), Hyperbolic(3.0)], [1, 2])])
def test_bounds_of_distances_are_narrow(space):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    least, most, *_ = all_bounds(curved_points(space, x), 1.0)
    apart = ~np.eye(40, dtype=bool)
    assert (most[apart] <= 1.01 * least[apart]).all()


def test_a_distance_that_is_too_large_is_left_at_that():
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    curved = curved_points(Product([Euclidean(), Hyperbolic(), Spherical()], [1, 1, 1]), x)
    for i in range(1, 40):
        least, most = squares_between(0, i, curved, np.inf)
        assert squares_between(0, i, curved, most) == (least, most)
        so_far, unknown = squares_between(0, i, curved, least / 2)
        assert least / 2 < so_far <= least
        assert unknown == np.inf


@pytest.mark.parametrize("curvature", [1e-60, 1e300])
def test_curvatures_that_are_too_small_or_too_large_for_bounds(curvature):
    space = Product([Euclidean(), Hyperbolic(1.0)], [1, 1])
    with torch.no_grad():
        space.factors[1].log_curvature.fill_(np.log(curvature))
    assert curved_points(space, torch.ones(3, 2)) is None
