import math

import geoopt
import pytest
import torch

from latopo.errors import LatopoError
from latopo.neighbors import Euclidean, Hyperbolic, Inner, Product, Spherical


def vectors(n, d, size, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * size


@pytest.mark.parametrize(("space", "sign"), [(Hyperbolic, -1), (Spherical, 1)])
@pytest.mark.parametrize("curvature", [0.3, 1.0, 2.5])
def test_distances_equal_geoopt(space, sign, curvature):
    v, w = vectors(20, 3, 0.4, 0), vectors(20, 3, 0.4, 1)
    manifold = geoopt.Stereographic(k=sign * curvature)
    # geoopt's stereographic model has the conformal factor 2 at the origin: tangent vectors there are half as long.
    a, b = manifold.expmap0(v / 2), manifold.expmap0(w / 2)
    ours = space(curvature).double()
    assert torch.allclose(-ours.paired(v, w), manifold.dist(a, b), atol=1e-6)
    assert torch.allclose(-ours.pairwise(v, w), manifold.dist(a[:, None], b[None]), atol=1e-6)


@pytest.mark.parametrize("space", [Hyperbolic, Spherical])
def test_small_curvature_is_flat(space):
    v, w = vectors(10, 4, 1.0, 2), vectors(10, 4, 1.0, 3)
    assert torch.allclose(space(1e-10).double().pairwise(v, w), Euclidean().pairwise(v, w), atol=1e-8)


@pytest.mark.parametrize("space", [Hyperbolic(0.8), Spherical(0.8), Product([Hyperbolic(0.5), Spherical(0.5)], [2, 1])])
def test_gradcheck(space):
    space = space.double()
    v, w = vectors(4, 3, 0.5, 4).requires_grad_(), vectors(5, 3, 0.5, 5).requires_grad_()
    assert torch.autograd.gradcheck(space.pairwise, (v, w))
    assert torch.autograd.gradcheck(space.paired, (v, w[:4].detach().requires_grad_()))
    names = [name for name, _ in space.named_parameters()]

    def by_curvature(*values):
        return torch.func.functional_call(
            _Paired(space), {f"space.{n}": x for n, x in zip(names, values, strict=True)}, (v, w)
        )

    assert torch.autograd.gradcheck(by_curvature, tuple(p.detach().requires_grad_() for p in space.parameters()))


class _Paired(torch.nn.Module):
    def __init__(self, space):
        super().__init__()
        self.space = space

    def forward(self, v, w):
        return self.space.pairwise(v.detach(), w.detach())


@pytest.mark.parametrize(
    "space", [Euclidean(), Hyperbolic(), Spherical(), Product([Hyperbolic(), Spherical()], [1, 2])]
)
def test_equal_points_and_the_origin_have_finite_gradients(space):
    v = torch.tensor([[0.3, 0.1, 0.2], [0.3, 0.1, 0.2], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
    total = space.pairwise(v, v).sum() + space.paired(v, v.roll(1, 0)).sum()
    total.backward()
    assert torch.isfinite(v.grad).all()
    assert torch.allclose(space.pairwise(v, v).diagonal(), torch.zeros(4))


def test_close_points_keep_their_digits():
    v = torch.tensor([[5.0, 0.0]], dtype=torch.float64)
    w = v + torch.tensor([[1e-9, 0.0]], dtype=torch.float64)
    assert Hyperbolic().double().paired(v, w).item() == pytest.approx(-1e-9, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_far_points_of_hyperbolic_space_stay_finite(dtype):
    x = torch.tensor([[1e4, 0.0], [0.0, 1e4], [30.0, 1.0]], dtype=dtype, requires_grad=True)
    distance = Hyperbolic().pairwise(x, x)
    distance.sum().backward()
    assert torch.isfinite(distance).all()
    assert torch.isfinite(x.grad).all()
    radius = 0.45 * math.log(torch.finfo(dtype).max)
    # Geodesics between far points run close to the origin, where the angle costs log 2.
    assert distance[0, 1].item() == pytest.approx(-2 * radius + math.log(2), rel=1e-5)


def test_antipodes_are_half_a_turn_apart():
    space = Spherical(1.0).double()
    v = torch.tensor([[torch.pi / 2, 0.0]], dtype=torch.float64, requires_grad=True)
    distance = -space.paired(v, -v.detach())
    distance.backward()
    assert distance.item() == pytest.approx(torch.pi, abs=1e-6)
    assert torch.isfinite(v.grad).all()


def test_repr_and_reset():
    space = Hyperbolic(0.5, learnable=False)
    assert repr(space) == "Hyperbolic(curvature=0.5, learnable=False)"
    product = Product([Spherical(2.0), Euclidean()], [1, 1])
    with torch.no_grad():
        product.factors[0].log_curvature.fill_(3.0)
    product.reset_parameters()
    assert product.factors[0].curvature.item() == pytest.approx(2.0)


def test_bad_arguments():
    with pytest.raises(LatopoError, match="Hyperbolic: curvature must be a finite number above 0, got -1"):
        Hyperbolic(-1.0)
    with pytest.raises(LatopoError, match=r"one positive size per factor, got 1 and \[1, 2\]"):
        Product([Euclidean()], [1, 2])
    with pytest.raises(LatopoError, match="Inner is not minus a distance"):
        Product([Inner()], [1])
    with pytest.raises(LatopoError, match="x has 2 columns, expected 3"):
        Product([Euclidean()], [3]).paired(torch.zeros(1, 2), torch.zeros(1, 2))
