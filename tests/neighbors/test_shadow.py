import numpy as np
import pytest
import torch

from latopo.neighbors import Euclidean, Hyperbolic, Inner, Product, Spherical
from latopo.neighbors._curved import squares_between
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


def bounds(space, x):
    """Of all squared distances, from below and from above."""
    curved, pairs = curved_points(space, x), np.empty((2, len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            pairs[:, i, j] = squares_between(i, j, curved, np.inf)
    return pairs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 20.0, 300.0, 1e4])
@pytest.mark.parametrize(
    "space",
    [
        Euclidean(), Hyperbolic(0.5), Spherical(0.3), Hyperbolic(1e-12), Hyperbolic(1e6), Spherical(1e6),
        Product([Euclidean(), Product([Hyperbolic(3.0), Spherical()], [1, 1])], [1, 2]),
    ],
)  # fmt: skip
def test_computed_distances_lie_within_their_bounds(space, scale, dtype):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(40, 3, generator=generator, dtype=torch.float64)
    x = torch.cat([x, x[:10] * (1 + 1e-6 * torch.randn(10, 1, generator=generator)), -x[:5], torch.zeros(2, 3)])
    x = (scale * x).to(dtype)
    with torch.no_grad():
        squares = space.pairwise(x, x).square().double().numpy()
    least, most = bounds(space, x)
    assert (least <= squares).all()
    assert (squares <= most).all()


@pytest.mark.parametrize("space", [Hyperbolic(), Spherical(), Product([Euclidean(), Hyperbolic(3.0)], [1, 2])])
def test_bounds_of_distances_are_narrow(space):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    least, most = bounds(space, x)
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


def test_numbers_too_large_for_bounds():
    assert curved_points(Hyperbolic(), torch.full((3, 2), torch.inf)) is None
