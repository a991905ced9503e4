import pytest
import torch

from latopo.errors import LatopoError
from latopo.nn.checks import check_features, check_finite, check_width, simple_edges


def test_good_features_pass():
    check_features("Layer", torch.zeros(3, 2), 2)
    check_features("Layer", torch.zeros(0, 2, dtype=torch.float64), 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_first_bad_row_is_named(value):
    x = torch.zeros(6, 2)
    x[3, 1] = x[5, 0] = value
    with pytest.raises(LatopoError, match="Layer: x has NaN or infinite entries, first in row 3; impute or drop"):
        check_features("Layer", x, 2)
    with pytest.raises(LatopoError, match="first in row 3"):
        check_finite("Layer", x.to_sparse_csr())
    check_width("Layer", x, 2)


def test_wrong_form():
    with pytest.raises(LatopoError, match="Layer: x has 3 columns, expected in_channels=2"):
        check_features("Layer", torch.zeros(4, 3), 2)
    with pytest.raises(LatopoError, match=r"floating point matrix .* got torch.int64 of shape \[4, 2\]"):
        check_features("Layer", torch.zeros(4, 2, dtype=torch.int64), 2)
    with pytest.raises(LatopoError, match=r"of shape \[4\]"):
        check_features("Layer", torch.zeros(4), 2)


def test_simple_edges():
    edge_index = torch.tensor([[3, 1, 2, 2, 0, 1], [1, 3, 2, 0, 2, 3]], dtype=torch.int32)
    assert torch.equal(simple_edges("Layer", edge_index, 5), torch.tensor([[0, 1], [2, 3]]))
    assert simple_edges("Layer", torch.zeros(2, 0, dtype=torch.int64), 0).shape == (2, 0)
    with pytest.raises(LatopoError, match="Layer: edge_index holds vertex 3, expected 0 to 2"):
        simple_edges("Layer", edge_index, 3)


def test_simple_edges_are_handed_on_as_they_are():
    edges = torch.tensor([[0, 0, 1], [1, 2, 2]])
    assert simple_edges("f", edges, 3) is edges
    for other in (
        [[0, 1, 0], [1, 2, 2]],
        [[0, 0, 2], [1, 2, 1]],
        [[0, 0, 0, 1], [1, 1, 2, 2]],
        [[0, 0, 1, 1], [1, 2, 1, 2]],
    ):
        assert torch.equal(simple_edges("f", torch.tensor(other), 3), edges)
    assert simple_edges("f", torch.zeros(2, 0, dtype=torch.int64), 3).shape == (2, 0)
