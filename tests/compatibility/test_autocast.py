import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_rounds_the_layers_and_not_the_topology(net, x, dtype):
    points = net.encode(x).relu()
    _, exact = net.dcm(points)
    with torch.autocast("cpu", dtype=dtype):
        _, cells = net.dcm(points)
        prediction = net(x)
    assert cells == exact
    assert torch.equal(cells.edge_prob, exact.edge_prob)
    assert prediction.dtype == dtype
    assert torch.allclose(prediction.float(), net(x), atol=0.05)


def test_gradients_under_autocast_are_finite_and_of_the_parameters_type(net, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(x).square().mean()
    loss.backward()
    assert all(p.grad is not None and p.grad.dtype == p.dtype and p.grad.isfinite().all() for p in net.parameters())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_whole_model_in_another_type(net, x, dtype):
    exact = net(x)
    prediction = net.to(dtype)(x.to(dtype))
    prediction.float().square().sum().backward()
    assert prediction.dtype == net.cells.edge_prob.dtype == dtype
    assert all(p.grad.isfinite().all() for p in net.parameters())
    assert torch.allclose(prediction.float(), exact, atol=0.3)
