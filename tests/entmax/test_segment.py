from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from latopo.entmax import LearnableAlpha, SegmentEntmax, _torch, segment, segment_entmax
from latopo.errors import LatopoError

PTR = torch.tensor([0, 4, 4, 5, 11])
# Away from the edges of the supports for the alphas used with gradcheck.
SCORES = torch.tensor([0.3, -0.2, 0.11, -4.0, 7.0, 1.0, 0.7, 0.55, -0.4, 0.93, -6.0], dtype=torch.float64)
# A weighting without symmetries, so that no error of a gradient cancels.
DIRECTION = torch.tensor([0.3, -1.2, 2.0, 0.7, 0.1, 1.1, -0.6, 0.45, 0.9, -2.0, 0.2], dtype=torch.float64)


def dense(rows: int, columns: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(rows + columns)
    scores = scale * torch.randn(rows, columns, generator=generator, dtype=torch.float64)
    return scores, columns * torch.arange(rows + 1)


@pytest.mark.parametrize("scale", [0.01, 1.0, 10.0])
def test_exact_cases_equal_their_closed_forms(scale):
    entmax = pytest.importorskip("entmax")
    scores, ptr = dense(30, 50, scale)
    for alpha, exact in ((1.0, torch.softmax), (1.5, entmax.entmax15), (2.0, entmax.sparsemax)):
        got = segment_entmax(scores.flatten(), ptr, alpha).view(30, 50)
        torch.testing.assert_close(got, exact(scores, dim=1), rtol=0, atol=4e-15)


@pytest.mark.parametrize("alpha", [1.01, 1.2, 1.5, 1.9, 2.3, 3.0, 4.0])
@pytest.mark.parametrize("scale", [0.01, 1.0, 10.0])
def test_any_alpha_equals_bisection(alpha, scale):
    entmax = pytest.importorskip("entmax")
    scores, ptr = dense(30, 50, scale)
    got = segment_entmax(scores.flatten(), ptr, alpha).view(30, 50)
    torch.testing.assert_close(got, entmax.entmax_bisect(scores, alpha=alpha, n_iter=200), rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [1.2, 1.5, 2.0, 2.6])
def test_gradients_equal_bisection(alpha):
    entmax = pytest.importorskip("entmax")
    scores, ptr = dense(10, 12)
    direction = torch.randn(10, 12, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    inputs = [scores.requires_grad_(), torch.tensor(alpha, dtype=torch.float64, requires_grad=True)]
    ours = (segment_entmax(scores.flatten(), ptr, inputs[1]).view(10, 12) * direction).sum()
    theirs = (entmax.entmax_bisect(scores, alpha=inputs[1], n_iter=200) * direction).sum()
    expected = torch.autograd.grad(theirs, inputs)
    torch.testing.assert_close(torch.autograd.grad(ours, inputs), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("alpha", [1.0001, 1.1, 1.5, 1.8, 2.0, 2.7, 4.0])
def test_gradcheck(alpha):
    scores = SCORES.clone().requires_grad_()
    one = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    each = (alpha + torch.tensor([0.0, 0.3, 0.1, 0.05], dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(lambda s, a: segment_entmax(s, PTR, a), (scores, one))
    assert torch.autograd.gradcheck(lambda s, a: segment_entmax(s, PTR, a), (scores, each))


@pytest.mark.parametrize("alpha", [1.1, 1.5, 2.7])
def test_gradcheck_of_the_path_for_other_devices(monkeypatch, alpha):
    monkeypatch.setattr(segment, "_cpu", _torch)
    scores = SCORES.clone().requires_grad_()
    one = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s, a: segment_entmax(s, PTR, a), (scores, one))


def test_softmax_and_its_gradient_at_alpha_one():
    scores = SCORES.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: segment_entmax(s, PTR, 1.0), (scores,))
    torch.testing.assert_close(segment_entmax(scores, PTR, 1)[5:], scores[5:].softmax(0), rtol=0, atol=1e-16)


def alpha_gradient(alpha: float) -> float:
    value = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    return float(torch.autograd.grad((segment_entmax(SCORES, PTR, value) * DIRECTION).sum(), value)[0])


def test_alpha_gradient_at_one_is_the_one_sided_derivative():
    def loss(alpha: float) -> float:
        return float((segment_entmax(SCORES, PTR, alpha) * DIRECTION).sum())

    step = 1e-4
    forward_difference = (-3 * loss(1.0) + 4 * loss(1 + step) - loss(1 + 2 * step)) / (2 * step)
    assert abs(forward_difference) > 0.01
    assert alpha_gradient(1.0) == pytest.approx(forward_difference, rel=1e-5)


def test_alpha_gradient_is_smooth_towards_one():
    limit = alpha_gradient(1.0)
    for excess in (1e-3, 1e-6, 1e-9, 1e-12, 2.3e-16):
        assert alpha_gradient(1 + excess) == pytest.approx(limit, abs=100 * excess + 1e-12)


@pytest.mark.parametrize("excess", [1e-4, 1e-6, 1e-8, 1e-12])
def test_values_are_smooth_towards_alpha_one(excess):
    difference = segment_entmax(SCORES, PTR, 1 + excess) - segment_entmax(SCORES, PTR, 1.0)
    assert float(difference.abs().max()) < 10 * excess + 1e-15


@pytest.mark.parametrize("alpha", [10.0, 100.0, 1000.0, 1e6])
def test_large_alpha_is_finite(alpha):
    scores = torch.tensor([1.0, 1.0, 1.0, 0.9, -5.0, 2.0, 1.0, 0.0], requires_grad=True)
    value = torch.tensor(alpha, requires_grad=True)
    prob = segment_entmax(scores, torch.tensor([0, 5, 8]), value)
    grads = torch.autograd.grad((prob * torch.arange(8.0)).sum(), (scores, value))
    assert all(bool(grad.isfinite().all()) for grad in grads)
    if alpha > 10:
        expected = torch.tensor([1 / 3, 1 / 3, 1 / 3, 0, 0, 1, 0, 0])
        torch.testing.assert_close(prob.detach(), expected)


def test_gradient_stays_bounded_where_one_entry_joins_the_support():
    # The weight p^(2 − α) of the entry that joins is 1e18 here, but its probability's derivative is near 1.
    excess, small = 3.0, 1e-9
    gap = ((1 - small) ** excess - small**excess) / excess
    scores = torch.tensor([0.0, -gap], dtype=torch.float64, requires_grad=True)
    prob = segment_entmax(scores, torch.tensor([0, 2]), 1 + excess)
    (grad,) = torch.autograd.grad(prob[1], scores)
    torch.testing.assert_close(grad, torch.tensor([-1.0, 1.0], dtype=torch.float64), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("alpha", [1.0, 1.1, 1.5, 2.0, 4.0])
def test_half_precision(dtype, alpha):
    generator = torch.Generator().manual_seed(0)
    scores = (20 * torch.randn(3000, generator=generator)).to(dtype).requires_grad_()
    ptr = torch.tensor([0, 2500, 3000])
    value = torch.tensor(alpha, dtype=dtype, requires_grad=True)
    prob = segment_entmax(scores, ptr, value)
    assert prob.dtype == dtype
    expected = segment_entmax(scores.detach().float(), ptr, value.item())
    torch.testing.assert_close(prob, expected.to(dtype), rtol=0, atol=0)
    grads = torch.autograd.grad((prob * scores.detach()).sum(), (scores, value))
    assert [grad.dtype for grad in grads] == [dtype, dtype]
    assert all(bool(grad.isfinite().all()) for grad in grads)


@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5, 2.0, 3.0])
def test_extreme_scores(alpha):
    rows = {
        "equal": torch.full((7,), -3.0),
        "very negative": torch.full((7,), -3e38),
        "far apart": torch.tensor([0.0, -3e38, 3e37]),
        "one": torch.tensor([-1e30]),
    }
    for name, scores in rows.items():
        prob = segment_entmax(scores.requires_grad_(), torch.tensor([0, len(scores)]), alpha)
        expected = torch.tensor([0.0, 0.0, 1.0]) if name == "far apart" else torch.full_like(scores, 1 / len(scores))
        torch.testing.assert_close(prob, expected)
        assert bool(torch.autograd.grad(prob[0], scores)[0].isfinite().all())


@pytest.mark.parametrize("alpha", [1.0, 1.3, 1.5, 2.0, 3.0])
def test_minus_infinity_does_not_exist(alpha):
    scores = torch.tensor([0.2, -torch.inf, 0.1, -torch.inf, -torch.inf, 0.4], requires_grad=True)
    prob = segment_entmax(scores, torch.tensor([0, 3, 5, 6]), alpha)
    (grad,) = torch.autograd.grad((prob * torch.arange(6.0)).sum(), scores)
    without = segment_entmax(torch.tensor([0.2, 0.1, 0.4]), torch.tensor([0, 2, 2, 3]), alpha)
    torch.testing.assert_close(prob[[0, 2, 5]], without, rtol=0, atol=0)
    # A row of −inf only is an empty row.
    assert not prob[[1, 3, 4]].any()
    assert not grad[[1, 3, 4]].any()
    assert bool(grad.isfinite().all())


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("alpha", [1.0, 1.5, 3.0])
def test_invalid_scores_spoil_their_row_only(bad, alpha):
    prob = segment_entmax(torch.tensor([0.0, bad, 1.0, 1.0]), torch.tensor([0, 2, 4]), alpha)
    assert bool(prob[:2].isnan().all())
    assert prob[2:].tolist() == [0.5, 0.5]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 1.25, 1.5, 2.0, 2.5, 4.0]), st.floats(-1e3, 1e3))
def test_shift_and_order_do_not_matter(seed, alpha, shift):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 9, (6,), generator=generator)
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    scores = torch.randn(int(ptr[-1]), generator=generator, dtype=torch.float64)
    prob = segment_entmax(scores, ptr, alpha)
    torch.testing.assert_close(segment_entmax(scores + shift, ptr, alpha), prob, rtol=0, atol=1e-11)
    order = torch.cat([a + torch.randperm(int(b - a), generator=generator) for a, b in pairwise(ptr)])
    torch.testing.assert_close(segment_entmax(scores[order], ptr, alpha), prob[order], rtol=0, atol=1e-14)
    sums = torch.stack([prob[a:b].sum() for a, b in pairwise(ptr)])
    torch.testing.assert_close(sums, (lengths > 0).double(), rtol=0, atol=1e-14)


def test_rows_alone_and_together():
    alphas = torch.tensor([1.2, 1.5, 2.0, 3.0], dtype=torch.float64)
    together = segment_entmax(SCORES, PTR, alphas)
    for row, (start, stop) in enumerate(pairwise(PTR)):
        alone = segment_entmax(SCORES[start:stop], torch.tensor([0, stop - start]), float(alphas[row]))
        assert torch.equal(together[start:stop], alone)


def test_a_long_row_sums_to_one():
    scores = torch.randn(30_000, generator=torch.Generator().manual_seed(0))
    for alpha in (1.0, 1.1, 1.5, 2.0, 3.0):
        for scale in (0.03, 1.0):
            prob = segment_entmax(scale * scores, torch.tensor([0, 30_000]), alpha)
            assert float(prob.double().sum()) == pytest.approx(1, abs=1e-6)


def test_memory_layout_does_not_matter():
    table = torch.stack([SCORES, -SCORES], dim=1)
    ptr = torch.stack([PTR, PTR], dim=1)[:, 0]
    assert not table[:, 0].is_contiguous()
    torch.testing.assert_close(segment_entmax(table[:, 0], ptr), segment_entmax(SCORES, PTR))
    scores = SCORES.clone().requires_grad_()
    # The gradient of a sum is an expanded tensor, and every row's sum is constant.
    segment_entmax(scores, PTR).sum().backward()
    assert float(scores.grad.abs().max()) < 1e-15


def test_gradient_goes_where_it_is_asked():
    for of_scores in (False, True):
        for of_alpha in (False, True):
            scores = SCORES.clone().requires_grad_(of_scores)
            alpha = torch.tensor(1.4, requires_grad=of_alpha)
            loss = (segment_entmax(scores, PTR, alpha) * DIRECTION).sum()
            assert loss.requires_grad == (of_scores or of_alpha)
            if loss.requires_grad:
                loss.backward()
            assert (scores.grad is not None) == of_scores
            assert (alpha.grad is not None) == of_alpha
    assert alpha.grad is not None
    assert alpha.grad.dtype == torch.float32


def test_second_derivative_is_refused():
    scores = SCORES.clone().requires_grad_()
    (grad,) = torch.autograd.grad((segment_entmax(scores, PTR) ** 2).sum(), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


def test_nothing_at_all():
    for ptr in ([0], [0, 0], [0, 0, 0]):
        scores = torch.empty(0, requires_grad=True)
        alpha = torch.tensor(1.5, requires_grad=True)
        prob = segment_entmax(scores, torch.tensor(ptr), alpha)
        assert prob.shape == (0,)
        prob.sum().backward()
        assert scores.grad.shape == (0,)
        assert alpha.grad == 0
    assert segment_entmax(torch.empty(0), torch.tensor([0]), torch.empty(0)).shape == (0,)


@pytest.mark.parametrize(
    ("ptr", "message"),
    [
        (torch.tensor([1, 11]), "starts at 1"),
        (torch.tensor([0, 5, 3, 11]), "smallest step is -2"),
        (torch.tensor([0, 5]), "ends at 5"),
        (torch.tensor([0, 12]), "ends at 12"),
        (torch.tensor([0, 11], dtype=torch.int32), "int64 tensor of shape"),
        (torch.tensor([[0, 11]]), "int64 tensor of shape"),
        (torch.empty(0, dtype=torch.int64), "int64 tensor of shape"),
    ],
)
def test_bad_ptr(ptr, message):
    with pytest.raises(LatopoError, match=f"segment_entmax: ptr .*{message}"):
        segment_entmax(SCORES, ptr)


@pytest.mark.parametrize("scores", [torch.zeros(2, 2), torch.tensor([1, 2]), torch.tensor(1.0)])
def test_bad_scores(scores):
    with pytest.raises(LatopoError, match="segment_entmax: scores must be a floating-point tensor with one dimension"):
        segment_entmax(scores, torch.tensor([0, 2]))


def test_ptr_on_another_device():
    with pytest.raises(LatopoError, match="ptr is a meta or fake tensor"):
        segment_entmax(SCORES, PTR.to("meta"))


@pytest.mark.parametrize("alpha", [0.99, float("nan"), float("inf"), torch.tensor([1.5, 1.5, 0.5, 1.5])])
def test_bad_alpha_value(alpha):
    with pytest.raises(LatopoError, match="segment_entmax: alpha must be finite and at least 1"):
        segment_entmax(SCORES, PTR, alpha)


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 1)])
def test_bad_alpha_shape(shape):
    with pytest.raises(LatopoError, match="one entry for each of the 4 rows"):
        segment_entmax(SCORES, PTR, torch.full(shape, 1.5))


def test_module_with_fixed_alpha():
    module = SegmentEntmax(alpha=2.0)
    module.reset_parameters()
    assert repr(module) == "SegmentEntmax(alpha=2.0)"
    assert list(module.parameters()) == []
    assert torch.equal(module(SCORES, PTR), segment_entmax(SCORES, PTR, 2.0))


def test_module_with_learned_alpha():
    module = SegmentEntmax(alpha=1.7, learnable=True)
    assert isinstance(module.alpha, LearnableAlpha)
    assert "initial=1.7" in repr(module)
    (module(SCORES, PTR) * DIRECTION).sum().backward()
    assert module.alpha.raw.grad != 0
    torch.nn.init.zeros_(module.alpha.raw)
    module.reset_parameters()
    torch.testing.assert_close(module(SCORES, PTR), segment_entmax(SCORES, PTR, 1.7), rtol=0, atol=1e-6)
