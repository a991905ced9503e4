import copy

import torch

from latopo.nn import DCM, AlphaDGM, BudgetSampler, PolygonInference


def trained(net, x, seed):
    torch.manual_seed(seed)
    net = copy.deepcopy(net)
    # Every random choice there is: a budget of edges, a sample of candidates, a budget of polygons.
    graph = AlphaDGM(16, sampler=BudgetSampler(60.0))
    net.dcm = DCM(16, 8, graph=graph, polygons=PolygonInference(sampler="budget", k=5, candidate_budget=8), dropout=0.2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()
    return net(x), net.cells


def test_the_global_seed_decides_everything(net, x):
    (first, cells), (second, same), (third, other) = (trained(net, x, seed) for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert cells == same
    assert not torch.equal(first, third)
    assert cells != other


def test_evaluation_draws_nothing(net, x):
    state = torch.get_rng_state()
    net.eval()(x)
    assert torch.equal(torch.get_rng_state(), state)


def test_numpys_seed_is_not_touched(net, x):
    import numpy as np

    before = np.random.get_state()[1].copy()  # noqa: NPY002
    net(x)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
