import pytest
import torch
from torch import nn

from latopo import CellComplex
from latopo.errors import LatopoError
from latopo.nn import AlphaDGM, EntmaxSampler, TopologyLoss

FORMS = ["undirected", "score", "log", "literal"]


@pytest.fixture
def graph(points):
    """The directed choices of seven points."""
    torch.manual_seed(0)
    with torch.no_grad():
        return AlphaDGM(6, 8, sampler=EntmaxSampler(1.0)).double()(points[:7])


def logits(right, y, classes=3):
    """Predictions that are right where asked, and wrong elsewhere."""
    guess = torch.where(right, y, (y + 1) % classes)
    return nn.functional.one_hot(guess, classes).double()


@pytest.fixture
def case():
    y = torch.tensor([0, 1, 2, 0, 1, 2, 0])
    return logits(torch.tensor([1, 0, 1, 0, 0, 1, 1]).bool(), y), y


def reward_by_loop(prediction, y, average, mask):
    return [
        average[i] - float(prediction[i].argmax() == y[i]) if mask[i] else 0.0 for i in range(len(average))
    ]  # fmt: skip


def edges_by_loop(reward, form, complex, graph):
    total = 0.0
    if form == "undirected":
        for (u, v), p in zip(complex.edge_index.t().tolist(), complex.edge_prob.tolist(), strict=True):
            total += (reward[u] + reward[v]) * p
        return total
    for i in range(complex.num_nodes):
        at = (graph.row == i).nonzero().flatten()
        if form == "literal":
            total += reward[i] * float(graph.prob[at].sum())
        elif form == "log":
            total += reward[i] * float(graph.prob[at].clamp(min=1e-6).log().sum())
        else:
            total += reward[i] * float(graph.score[at].mean())
    return total


def polygons_by_loop(reward, complex):
    rows = [row for rows in complex.polygons.values() for row in rows.tolist()]
    return sum(sum(reward[i] for i in row) * p for row, p in zip(rows, complex.polygon_prob.tolist(), strict=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_equals_loops(house, graph, case, form, reduction):
    loss = TopologyLoss(7, 3, form, reduction=reduction).double()
    loss.reset_parameters()  # the start, 1/3, was rounded before the module became double
    mask = torch.tensor([1, 1, 0, 1, 1, 0, 1]).bool()
    reward = reward_by_loop(*case, [1 / 3] * 7, mask)
    count = 5 if reduction == "mean" else 1
    parts = loss(*case, house, mask, graph)
    assert parts.edges.item() == pytest.approx(edges_by_loop(reward, form, house, graph) / count)
    assert parts.polygons.item() == pytest.approx(polygons_by_loop(reward, house) / count)
    assert parts.total.item() == pytest.approx(parts.edges.item() + parts.polygons.item())


def test_averages_move_for_masked_nodes_only(house, case):
    loss = TopologyLoss(7, 3).double()
    prediction, y = case
    average = [1 / 3] * 7
    for mask in ([1, 1, 0, 1, 0, 0, 1], [0, 1, 1, 1, 0, 0, 0], [0] * 7):
        reward = reward_by_loop(prediction, y, average, mask)
        parts = loss(prediction, y, house, torch.tensor(mask).bool())
        assert parts.polygons.item() == pytest.approx(polygons_by_loop(reward, house) / max(sum(mask), 1), rel=1e-6)
        for i in range(7):
            if mask[i]:
                average[i] = 0.9 * average[i] + 0.1 * float(prediction[i].argmax() == y[i])
        assert loss.average.tolist() == pytest.approx(average)
    assert average[4] == average[5] == 1 / 3


def test_no_mask_means_all(house, case):
    everyone = torch.ones(7, dtype=torch.bool)
    first, second = TopologyLoss(7, 3)(*case, house), TopologyLoss(7, 3)(*case, house, everyone)
    assert first == second


def test_evaluation_leaves_the_averages_alone(house, case):
    loss = TopologyLoss(7, 3).eval()
    loss(*case, house)
    assert torch.equal(loss.average, torch.full((7,), 1 / 3))


def test_regression(house):
    loss = TopologyLoss(7, 0, momentum=0.5, reduction="sum").double()
    y = torch.tensor([0.0, 2.0, 4.0, 0.0, 0.0, 0.0, torch.nan], dtype=torch.float64)
    prediction = torch.tensor([0.0, 3.0, 9.0, 1.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    mask = torch.tensor([1, 1, 1, 0, 0, 0, 0]).bool()
    # Var(0, 2, 4) = 8/3: qualities 1, 1 − 3/8 and, clipped, −1.
    quality = [1.0, 0.625, -1.0, 0.0, 0.0, 0.0, 0.0]
    parts = loss(prediction[:, None], y, house, mask)
    reward = [-a for a in quality]
    assert parts.edges.item() == pytest.approx(edges_by_loop(reward, "undirected", house, None))
    assert parts.polygons.item() == pytest.approx(polygons_by_loop(reward, house))
    assert loss.average.tolist() == pytest.approx([0.5 * a for a in quality])


def test_regression_on_whole_numbers_and_constants(house):
    mask = torch.tensor([1, 1, 1, 0, 0, 0, 0]).bool()
    loss = TopologyLoss(7, 0, momentum=0.0)
    loss(torch.tensor([0.0, 3, 9, 1, 1, 1, 1]), torch.tensor([0, 2, 4, 0, 0, 0, 0]), house, mask)
    assert loss.average[:3].tolist() == pytest.approx([1.0, 0.625, -1.0])
    loss(torch.tensor([2.0, 3, 2, 1, 1, 1, 1]), torch.full((7,), 2.0), house, mask)
    assert loss.average[:3].tolist() == [1.0, -1.0, 1.0]


def test_gradients(points, case):
    """Reward moves the topology in every form but the literal one, whose gradient is zero by construction."""
    module = AlphaDGM(6, 8, sampler=EntmaxSampler(1.0)).double()
    silent = {}
    for form in FORMS:
        module.zero_grad()
        graph = module(points[:7])
        complex = CellComplex(7, graph.edge_index, edge_prob=graph.edge_prob)
        edges = TopologyLoss(7, 3, form).double()(*case, complex, graph=graph).edges
        # Not even rounding noise: Adam would turn it into drift.
        assert edges.requires_grad == (form != "literal")
        if edges.requires_grad:
            edges.backward()
        silent[form] = {name for name, p in module.named_parameters() if p.grad is None or p.grad.abs().max() < 1e-9}
    everything = {name for name, _ in module.named_parameters()}
    assert silent == {
        "undirected": set(), "score": {"sampler.gain.shift", "sampler.alpha.raw"}, "log": set(), "literal": everything,
    }  # fmt: skip


def test_literal_edge_loss_is_constant_in_the_parameters(points, case):
    """With gradients it would be rounding noise: Σ_j p_i(j) = 1 whatever the parameters are."""
    graph = AlphaDGM(6, 8, sampler=EntmaxSampler(1.0)).double()(points[:7])
    sums = graph.prob.new_zeros(7).index_add(0, graph.row, graph.prob)
    torch.testing.assert_close(sums, torch.ones(7, dtype=torch.float64))
    gradient = torch.autograd.grad((sums * torch.arange(7)).sum(), graph.x_aux)[0]
    assert gradient.abs().max() < 1e-12


def test_log_is_finite_at_tiny_probabilities(house, graph, case):
    prob = torch.full_like(graph.prob, 1e-30).requires_grad_()
    edges = TopologyLoss(7, 3, "log").double()(*case, house, graph=graph._replace(prob=prob)).edges
    edges.backward()
    assert torch.isfinite(edges)
    assert torch.isfinite(prob.grad).all()


def test_prediction_gets_no_gradient(house, case):
    prediction = case[0].clone().requires_grad_()
    assert not TopologyLoss(7, 3)(prediction, case[1], house).total.requires_grad


def test_no_polygons(house, case):
    parts = TopologyLoss(7, 3)(*case, house.skeleton(1))
    assert parts.polygons.item() == 0.0
    none = {3: torch.zeros(0, 3, dtype=torch.int64)}
    empty = CellComplex(7, house.edge_index, none, house.edge_prob, torch.zeros(0))
    assert TopologyLoss(7, 3)(*case, empty).polygons.item() == 0.0


def test_state_reset_and_repr(house, case):
    loss, other = TopologyLoss(7, 3), TopologyLoss(7, 3)
    loss(*case, house)
    other.load_state_dict(loss.state_dict())
    assert torch.equal(other.average, loss.average)
    assert other(*case, house) == loss(*case, house)
    loss.reset_parameters()
    assert torch.equal(loss.average, torch.full((7,), 1 / 3))
    assert torch.equal(TopologyLoss(7, 0).average, torch.zeros(7))
    assert repr(loss) == "TopologyLoss(edge_form='undirected', momentum=0.9, reduction='mean')"


def test_bad_arguments(house, case, graph):
    prediction, y = case
    with pytest.raises(LatopoError, match="edge_form must be undirected, score, log or literal, got 'best'"):
        TopologyLoss(7, 3, "best")
    with pytest.raises(LatopoError, match="reduction must be mean or sum, got 'max'"):
        TopologyLoss(7, 3, reduction="max")
    loss = TopologyLoss(7, 3)
    with pytest.raises(LatopoError, match="made for num_nodes=6, got a complex of 7 nodes"):
        TopologyLoss(6, 3)(prediction, y, house)
    with pytest.raises(LatopoError, match=r"y has shape \[7, 1\], expected \[7\]"):
        loss(prediction, y[:, None], house)
    with pytest.raises(LatopoError, match=r"prediction has shape \[7, 2\], expected \[7, 3\]"):
        loss(prediction[:, :2], y, house)
    with pytest.raises(LatopoError, match=r"mask must be bool of shape \[7\], got torch.int64"):
        loss(prediction, y, house, torch.tensor([0, 1]))
    with pytest.raises(LatopoError, match="edge_form='score' needs graph="):
        TopologyLoss(7, 3, "score")(prediction, y, house)
    with pytest.raises(LatopoError, match="no edge probabilities"):
        loss(prediction, y, CellComplex(7, house.edge_index))


def test_momentum_is_a_share():
    with pytest.raises(LatopoError, match=r"momentum must be a finite number of at least 0 and below 1, got 7.0"):
        TopologyLoss(5, 3, momentum=7.0)
