import copy
import pickle

import pytest
import torch
from torch.utils.checkpoint import checkpoint
from torch_geometric.nn import Sequential, summary

from latopo.nn import DCM, AlphaDGM, EntmaxSampler


def test_state_dict_brings_everything_back(net, x):
    net.dcm = DCM(16, 8, graph=AlphaDGM(16, sampler=EntmaxSampler(degree=4.0)))
    net(x).sum().backward()  # calibrates the gain for the degree
    torch.optim.Adam(net.parameters(), lr=0.1).step()
    net.cells = None  # it carries a gradient, which torch does not copy
    other = copy.deepcopy(net)
    other.dcm.reset_parameters()
    assert not torch.equal(other.eval()(x), net.eval()(x))
    assert not other.load_state_dict(net.state_dict()).missing_keys
    assert torch.equal(other(x), net(x))
    assert other.cells == net.cells


def test_copies_and_pickles(net, x):
    expected = net.eval()(x)
    net.cells = None
    assert torch.equal(copy.deepcopy(net)(x), expected)
    restored = pickle.loads(pickle.dumps(net.dcm))
    assert torch.equal(net.classify(restored(net.encode(x).relu())[0]), expected)


def test_summary_prints_every_part(net, x, edge_index):
    text = summary(net, x, edge_index)
    assert "(topology)TopologyInference" in text
    assert "(messages)CellMessages" in text
    count = f"{sum(p.numel() for p in net.parameters()):,}"
    assert count in text


def test_pyg_sequential(x, edge_index):
    layers = [(DCM(8, 4, gain=10.0), "x, edge_index -> x, cells"), (torch.nn.Linear(8, 2), "x -> x")]
    assert Sequential("x, edge_index", layers)(x, edge_index).shape == (40, 2)


def test_gradient_checkpointing(net, x):
    x.requires_grad_()
    plain = torch.autograd.grad(net.eval()(x).sum(), x)[0]
    again = torch.autograd.grad(checkpoint(net, x, use_reentrant=False).sum(), x)[0]
    assert torch.allclose(again, plain)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients(net, x, mode):
    with mode():
        assert not net(x).requires_grad
    net(x).sum().backward()  # and trained with afterwards


def test_functional_call(net, x):
    doubled = {name: 2 * p for name, p in net.named_parameters() if name.startswith("classify")}
    assert torch.allclose(torch.func.functional_call(net.eval(), doubled, (x,)), 2 * net(x), atol=1e-6)
