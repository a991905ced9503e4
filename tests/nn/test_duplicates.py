import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from latopo.nn import duplicates
from latopo.nn.duplicates import group_duplicates


def by_loop(rows):
    representatives, group, number = [], [], {}
    for at, row in enumerate(rows):
        key = tuple(value + 0.0 for value in row)  # a dictionary, too, takes 0 and −0 for one
        if key not in number:
            number[key] = len(representatives)
            representatives.append(at)
        group.append(number[key])
    return representatives, group


values = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 2.5])


@settings(deadline=None)
@given(st.lists(st.tuples(values, values), max_size=12), st.booleans())
def test_equals_a_loop(rows, collide):
    x = torch.tensor(rows, dtype=torch.float64).view(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(duplicates, "_fingerprints", lambda x: torch.zeros(x.size(0), dtype=torch.int64))
        representatives, group = group_duplicates(x)
    assert (representatives.tolist(), group.tolist()) == by_loop(rows)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_types(dtype):
    x = torch.tensor([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [-0.0, 3.0]], dtype=dtype)
    representatives, group = group_duplicates(x)
    assert representatives.tolist() == [0, 1]
    assert group.tolist() == [0, 1, 0, 1]


def test_fingerprints_tell_rows_apart():
    x = torch.cartesian_prod(torch.arange(40.0), torch.arange(40.0))
    assert duplicates._fingerprints(torch.cat([x, -x])).unique().numel() == 2 * 1600 - 1


def test_gradient_is_not_needed():
    representatives, _ = group_duplicates(torch.ones(3, 2, requires_grad=True))
    assert representatives.tolist() == [0]
