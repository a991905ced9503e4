"""Class 10: whatever the API is given, it answers, or says in one line what is wrong with which argument."""

import itertools

import pytest
import torch
from hostile.calls import CALLS, EDGES, VALUES, X, layer
from hostile.limits import limited

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
        refusals = (ValueError, TypeError) if is_estimator and argument in "xy" else LatopoError
        with limited(seconds=20):
            try:
                call.function(**{**call.arguments, argument: VALUES[value]()})
            except refusals as error:
                if isinstance(error, LatopoError) and "\n" in str(error):
                    pytest.fail(f"{name}({argument}={value}): more than one line: {error}")
            except Exception as error:
                raise AssertionError(f"{name}({argument}={value}): {type(error).__name__}: {error}") from error


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
