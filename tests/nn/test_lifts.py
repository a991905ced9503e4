import pytest
import torch

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import Downlift, Uplift

X = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [8.0, 80.0]])
PATH = CellComplex(4, torch.tensor([[0, 1], [1, 2]]))  # node 3 is alone


def test_uplift():
    torch.testing.assert_close(Uplift("sum")(X, PATH), torch.tensor([[3.0, 30.0], [6.0, 60.0]]))
    torch.testing.assert_close(Uplift("mean")(X, PATH), torch.tensor([[1.5, 15.0], [3.0, 30.0]]))
    learned = Uplift("learnable", channels=2)
    torch.testing.assert_close(learned(X, PATH), learned.linear(torch.tensor([[1.5, 15.0], [3.0, 30.0]])))


def test_downlift():
    edges = torch.tensor([[6.0], [12.0]])
    torch.testing.assert_close(Downlift("sum")(edges, PATH), torch.tensor([[6.0], [18.0], [12.0], [0.0]]))
    torch.testing.assert_close(Downlift("mean")(edges, PATH), torch.tensor([[3.0], [6.0], [6.0], [0.0]]))
    learned = Downlift("learnable", channels=1)
    expected = learned.linear(torch.tensor([[3.0], [6.0], [6.0], [0.0]]))
    torch.testing.assert_close(learned(edges, PATH), expected)


def test_downlift_with_weights():
    edges, weight = torch.tensor([[6.0], [12.0]]), torch.tensor([0.5, 1.0])
    expected = torch.tensor([[3.0 / 1.5], [15.0 / 2.5], [12.0 / 2.0], [0.0]])
    torch.testing.assert_close(Downlift("mean")(edges, PATH, weight), expected)
    torch.testing.assert_close(Downlift("sum")(edges, PATH, weight), torch.tensor([[3.0], [15.0], [12.0], [0.0]]))


def test_gradcheck():
    edges = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([0.3, 0.8], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: Downlift("mean")(x, PATH, w), (edges, weight))
    assert torch.autograd.gradcheck(lambda x: Uplift("mean")(x, PATH), X.double().requires_grad_())


@pytest.mark.parametrize("aggr", ["sum", "mean"])
@pytest.mark.parametrize("gone", [0, 1])
def test_edge_fades_out(aggr, gone):
    edges, weight = torch.randn(2, 3, dtype=torch.float64), torch.tensor([0.3, 0.8], dtype=torch.float64)
    rest = torch.arange(2) != gone
    faint = torch.where(rest, weight, 1e-9)
    without = Downlift(aggr)(edges[rest], CellComplex(4, PATH.edge_index[:, rest]), weight[rest])
    torch.testing.assert_close(Downlift(aggr)(edges, PATH, faint), without, atol=1e-6, rtol=0)


def test_weight_of_an_only_edge_learns():
    weight = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    edges = torch.tensor([[3.0]], dtype=torch.float64)
    Downlift("mean")(edges, CellComplex(2, torch.tensor([[0], [1]])), weight)[0, 0].backward()
    torch.testing.assert_close(weight.grad, torch.tensor([3 / 1.5**2], dtype=torch.float64))


def test_no_edges():
    none = CellComplex(4, torch.zeros(2, 0, dtype=torch.int64))
    assert Uplift()(X, none).shape == (0, 2)
    assert torch.equal(Downlift()(torch.zeros(0, 5), none), torch.zeros(4, 5))


def test_reset_and_repr():
    lift = Downlift("learnable", channels=3)
    before = lift.linear.weight.detach().clone()
    lift.reset_parameters()
    assert not torch.equal(before, lift.linear.weight)
    assert repr(Uplift()) == "Uplift(aggr='mean')"
    assert repr(Downlift("sum")) == "Downlift(aggr='sum')"


def test_bad_arguments():
    with pytest.raises(LatopoError, match="Uplift: aggr must be sum, mean or learnable, got 'max'"):
        Uplift("max")
    with pytest.raises(LatopoError, match="Downlift: channels belong to aggr='learnable'"):
        Downlift("learnable")
    with pytest.raises(LatopoError, match="channels belong"):
        Uplift("mean", channels=3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_hub_in_half_precision(dtype):
    star = CellComplex(3000, torch.stack([torch.zeros(2999, dtype=torch.int64), torch.arange(1, 3000)]))
    found = Downlift("mean")(torch.ones(2999, 1, dtype=dtype), star)
    assert found.dtype == dtype
    assert found[0].item() == pytest.approx(2999 / 3000, rel=0.01)
