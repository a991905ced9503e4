"""Class 10: whatever the API is given, it answers, or says in one line what is wrong with which argument."""

import itertools
import math

import pytest
import torch
from hostile.calls import CALLS, EDGES, VALUES, X, layer
from hostile.conftest import LONG, generated
from hostile.limits import limited
from hypothesis import given
from hypothesis import strategies as st

from latopo import entmax_neighbors, segment_entmax
from latopo.errors import LatopoError
from latopo.nn import DCM

# scikit-learn's own checks of X and y raise its own errors; what it converts before it checks is its own affair.
SKLEARN = ("DCMClassifier", "DCMRegressor", "DCMTransformer")
NOT_OURS = {("beyond int64", "x"), ("beyond int64", "y"), ("nested", "x"), ("nested", "y"), ("huge", "max_epochs")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_answered_or_refused(name, sample):
    call, is_estimator = CALLS[name], name in SKLEARN
    call.function(**call.arguments)
    cases = itertools.product(VALUES, call.arguments)
    for value, argument in sample([case for case in cases if not is_estimator or case not in NOT_OURS], 25):
        check_call(name, {argument: VALUES[value]()})


def check_call(name, changes):
    """The call with these arguments changed gives an answer, or a refusal in one line; in bounded time."""
    refusals = (ValueError, TypeError) if name in SKLEARN and set(changes) & {"x", "y"} else LatopoError
    with limited(seconds=20):
        try:
            CALLS[name].function(**{**CALLS[name].arguments, **changes})
        except refusals as error:
            if isinstance(error, LatopoError) and "\n" in str(error):
                pytest.fail(f"{name}({changes}): more than one line: {error}")
        except Exception as error:
            raise AssertionError(f"{name}({changes}): {type(error).__name__}: {error}") from error


DTYPES = [
    torch.float32, torch.float64, torch.int64, torch.int64, torch.float16, torch.bfloat16, torch.int32, torch.uint8,
    torch.bool, torch.complex64,
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 4, 5, 11, 12, 0.5, 1e-45, 1e-20, 1e20, 3e38, float("nan"), float("inf"), 2**31, -(2**62)]
LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.mT if x.dim() > 1 else x,
    "every other": lambda x: x.repeat_interleave(2, 0)[::2] if x.dim() else x,
    "one element everywhere": lambda x: x.flatten()[0].expand(x.shape) if x.numel() else x,
    "gradient": lambda x: x.clone().requires_grad_(x.is_floating_point() or x.is_complex()),
    "conjugate": lambda x: x.conj(),
    "meta": lambda x: x.to("meta"),
}


SIZES = st.sampled_from([0, 1, 2, 3, 5, 6, 12])


@st.composite
def tensors(draw):
    """Small tensors of any type, shape and layout; shapes and numbers are often those that calls expect."""
    shape = draw(st.one_of(st.sampled_from([(12, 3), (2, 4), (5, 2), (6,), (3,)]), st.lists(SIZES, max_size=3)))
    numbers = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=8))
    cycled = [numbers[at % len(numbers)] for at in range(math.prod(shape))]
    tensor = torch.tensor(cycled, dtype=torch.float64).reshape(shape).to(draw(st.sampled_from(DTYPES)))
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](tensor)


TAKERS = [(name, argument) for name, call in CALLS.items() for argument, value in call.arguments.items()
          if isinstance(value, torch.Tensor)]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4 if LONG else 1))
def test_generated_tensors_are_answered_or_refused(part):
    @given(st.sampled_from(TAKERS), tensors())
    def check(taker, tensor):
        check_call(taker[0], {taker[1]: tensor})

    generated(check, 100, 1000, part)()


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad, torch.func.jacrev])
def test_transforms_of_torch_func_are_refused_in_one_line(transform):
    dcm = layer(DCM, 3, 2)
    for function, argument in (
        (lambda x: entmax_neighbors(x)[2].sum(), X),
        (lambda scores: segment_entmax(scores, torch.tensor([0, 3])).sum(), torch.ones(3)),
        (lambda x: dcm(x, EDGES)[0].sum(), X),
    ):
        batched = argument.expand(2, *argument.shape) if transform is torch.func.vmap else argument
        with pytest.raises(LatopoError, match=r"inside a transform of torch\.func"):
            transform(function)(batched)


def test_gradients_by_autograd_are_not_refused():
    x = X.clone().requires_grad_()
    entmax_neighbors(x, gain=5.0)[2].square().sum().backward()
    assert x.grad is not None
