import pytest
import torch

from latopo.neighbors import Cosine, Euclidean, Inner, SquaredEuclidean
from latopo.neighbors.closed_form import closed_form_statistics, has_closed_form


def points(n, d=4, seed=0, dtype=torch.float64):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def by_pairs(x, others, similarity):
    z = similarity.pairwise(x, x if others is None else others)
    if others is None:
        z = z[~torch.eye(len(x), dtype=torch.bool)].view(len(x), len(x) - 1)
    return z.mean(1), z.std(1, correction=0)


@pytest.mark.parametrize("similarity", [SquaredEuclidean(), Inner()], ids=str)
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_mean_deviation_and_gradients(similarity, anchored, offset):
    x = (points(50) + offset).requires_grad_()
    others = (points(30, seed=1) + offset).requires_grad_() if anchored else None
    leaves = [x] if others is None else [x, others]
    found, expected = closed_form_statistics(x, others, similarity), by_pairs(x, others, similarity)
    assert bool(found.trusted.all())
    for number, (ours, theirs) in enumerate(zip(found[:2], expected, strict=True)):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)
        weight = points(50, 1, seed=2 + number)[:, 0]
        gradients = [torch.autograd.grad((part * weight).sum(), leaves, retain_graph=True) for part in (ours, theirs)]
        torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("similarity", [SquaredEuclidean(), Inner()], ids=str)
def test_single_precision_is_summed_in_double(similarity):
    x = points(200, 8, dtype=torch.float32)
    found, expected = closed_form_statistics(x, None, similarity), by_pairs(x.double(), None, similarity)
    assert found.deviation.dtype == torch.float32
    torch.testing.assert_close(found.deviation.double(), expected[1], rtol=1e-6, atol=0)


def outlier(distance):
    x = points(60)
    x[7] *= distance
    return x


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e6, 1e8])
def test_what_is_trusted_is_right(distance):
    x = outlier(distance)
    found, expected = closed_form_statistics(x, None, SquaredEuclidean()), by_pairs(x, None, SquaredEuclidean())[1]
    torch.testing.assert_close(found.deviation[found.trusted], expected[found.trusted], rtol=1e-9, atol=0)
    assert bool(found.trusted[7]) == (distance < 1e4)  # its own term hides the others


@pytest.mark.parametrize("x", [torch.eye(6), torch.ones(5, 3), torch.zeros(4, 2), points(2)], ids=lambda x: str(len(x)))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constant_rows_are_left_to_the_pairs(x, dtype):
    assert not closed_form_statistics(x.to(dtype), None, SquaredEuclidean()).trusted.any()


def test_a_far_query_sees_a_constant_row():
    far = torch.full((1, 4), 1e20, dtype=torch.float64)
    assert not closed_form_statistics(far, points(30), SquaredEuclidean()).trusted.any()


def test_untrusted_rows_pass_no_gradient_to_the_rest():
    x = outlier(1e8).requires_grad_()
    found = closed_form_statistics(x, None, SquaredEuclidean())
    (gradient,) = torch.autograd.grad(found.deviation[~found.trusted].sum(), x)
    assert torch.equal(gradient, torch.zeros_like(x))


def test_which_similarities_have_one():
    class Other(Inner):
        pass

    assert [has_closed_form(kind()) for kind in (SquaredEuclidean, Inner)] == [True, True]
    # The cosine comes as the inner product of directions.
    assert [has_closed_form(kind()) for kind in (Euclidean, Cosine, Other)] == [False, False, False]
