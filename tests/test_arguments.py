from typing import Literal

import pytest
import torch
from torch import Tensor

from latopo._arguments import Chance, Count, Size, all_finite, check_dense, checked
from latopo.errors import LatopoError


@checked
def function(
    x: Tensor, k: int = 1, share: float | None = None, size: Size = 1, name: Literal["a", "b"] = "a", other=None
):
    return x, k, share, size, name, other


class Layer:
    @checked
    def __init__(self, rounds: Count, x: "Tensor | None" = None) -> None:
        self.rounds = rounds


def test_good_arguments_pass():
    x = torch.zeros(2)
    assert function(x, 3, share=1, size=2**24, name="a", other=object())[:2] == (x, 3)
    assert Layer(rounds=0, x="quoted annotations are not looked at").rounds == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": [1.0]}, "function: x must be a tensor, got list; use torch.as_tensor"),
        ({"x": None}, "function: x must be a tensor, got NoneType"),
        ({"k": 4.9}, "function: k must be a whole number, got 4.9"),
        ({"k": True}, "function: k must be a whole number, got True"),
        ({"k": 2**63}, "function: k must be a whole number, got 9223372036854775808"),
        ({"share": "x"}, "function: share must be a number or None, got 'x'"),
        ({"share": 10**400}, "function: share must be a number or None, got 1000"),
        ({"size": 0}, "function: size must be a whole number from 1 to 16,777,216, got 0"),
        ({"name": []}, "function: name must be a or b, got list"),
        ({"name": "c"}, "function: name must be a or b, got 'c'"),
        ({"x": torch.zeros(2, device="meta")}, "function: x is a meta or fake tensor"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(LatopoError, match=message):
        function(**{"x": torch.zeros(2), **arguments})


def test_a_method_is_named_by_its_class():
    with pytest.raises(LatopoError, match="Layer: rounds must be a whole number from 0 to 1,000, got 1001"):
        Layer(1001)


def test_dense():
    with pytest.raises(LatopoError, match=r"f: x must be dense, got torch.sparse_coo; use x.to_dense\(\)"):
        check_dense("f", "x", torch.zeros(2).to_sparse())


@pytest.mark.parametrize(
    ("value", "fits"), [(0, True), (0.5, True), (1, False), (-0.1, False), (float("nan"), False), (float("inf"), False)]
)
def test_numbers_within_bounds(value, fits):
    @checked
    def drop(p: Chance) -> None: ...

    if fits:
        drop(value)
    else:
        with pytest.raises(LatopoError, match="drop: p must be a finite number of at least 0 and below 1, got"):
            drop(value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_one_entry_that_is_not_finite_is_seen(dtype):
    x = torch.full((50, 20), torch.finfo(dtype).max, dtype=dtype)  # their sum is infinite
    assert all_finite(x)
    assert all_finite(x[:0])
    for value in (torch.nan, torch.inf, -torch.inf):
        wrong = torch.zeros(50, 20, dtype=dtype)
        wrong[-1, -1] = value
        assert not all_finite(wrong)
    assert not all_finite(torch.tensor([torch.inf, -torch.inf], dtype=dtype))
