import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GraphConv, SAGEConv
from torch_geometric.utils import to_undirected

from latopo.errors import LatopoError
from latopo.nn import CellConv, CellMessages, ComplexNeighborhoods, Downlift, NodeConv, Uplift
from latopo.nn.query_neighborhoods import QueryCells, QueryNeighborhoods, RecordedNeighborhoods

RELAXATIONS = ["none", "weighted", "straight_through"]


@pytest.fixture
def x(points):
    return points[:7]


@pytest.fixture
def cells(house):
    return ComplexNeighborhoods(house, house.edge_prob, house.polygon_prob)


@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("rounds", [1, 3])
def test_equals_its_layers(x, house, cells, rounds, concat):
    messages = CellMessages(6, 5, rounds, concat=concat).double()
    nodes = x
    for conv in messages.node_convs:
        nodes = conv(nodes, house.edge_index, house.edge_prob).relu()
    edges = Uplift("mean")(nodes, house)
    for conv in messages.edge_convs:
        edges = conv(edges, house, house.edge_prob, house.polygon_prob).relu()
    down = Downlift("mean")(edges, house, house.edge_prob)
    torch.testing.assert_close(messages(x, cells), torch.cat([nodes, down], 1) if concat else nodes + down)


def test_a_complex_alone_has_weights_of_one(x, house):
    messages = CellMessages(6, 5).double()
    assert torch.equal(messages(x, house), messages(x, ComplexNeighborhoods.relaxed(house, "none")))


def test_without_edges_it_is_a_gcn(x, house):
    messages = CellMessages(6, 5, 2, edges=False).double()
    first, second = messages.node_convs
    assert torch.equal(messages(x, house), second(first(x, house.edge_index).relu(), house.edge_index).relu())
    assert len(messages.edge_convs) == 0
    assert messages.channels == 5


def test_without_rounds_nothing_is_learned(x, house):
    messages = CellMessages(6, 6, 0)
    assert list(messages.parameters()) == []
    out = messages(x, house)
    assert torch.equal(out[:, :6], x)
    torch.testing.assert_close(out[:, 6:], Downlift()(Uplift()(x, house), house))
    assert torch.equal(CellMessages(6, 6, 0, edges=False)(x, house), x)


def test_lifts_may_sum_and_edges_may_listen_without_gradient(x, house):
    plain = CellMessages(6, 6, 0, lift="sum")(x, house)[:, 6:]
    torch.testing.assert_close(plain, Downlift("sum")(Uplift("sum")(x, house), house))
    x = x.clone().requires_grad_()
    for detach in (True, False):
        on_edges = CellMessages(6, 6, 0, detach_edges=detach)(x, house)[:, 6:]
        assert bool(torch.autograd.grad(on_edges.sum(), x)[0].any()) is not detach


@pytest.mark.parametrize(("options", "width"), [({}, 10), ({"concat": False}, 5), ({"edges": False}, 5)])
@pytest.mark.parametrize("rounds", [1, 2])
def test_channels(x, house, rounds, options, width):
    messages = CellMessages(6, 5, rounds, **options).double()
    assert messages.channels == width
    assert messages(x, house).shape == (7, width)


def test_dropout_between_rounds_in_training_only(x, house):
    messages = CellMessages(6, 5, 2, dropout=0.5).double()
    assert not torch.equal(messages(x, house), messages(x, house))
    messages.eval()
    assert torch.equal(messages(x, house), messages(x, house))
    single = CellMessages(6, 5, 1, dropout=0.5).double()
    assert torch.equal(single(x, house), single(x, house))


@pytest.mark.parametrize("polygons", [None, 4])
def test_class_scores_have_not_passed_the_last_relu(x, house, polygons):
    """Only the output differs: what edges hear of nodes, and between rounds, passes it as before."""
    torch.manual_seed(0)
    scores = CellMessages(6, 5, 2, final_relu=False, polygons=polygons).double()
    paper = CellMessages(6, 5, 2, polygons=polygons).double()
    paper.load_state_dict(scores.state_dict())
    found, expected = scores.features(x, house), paper.features(x, house)
    assert bool((found.nodes < 0).any())
    torch.testing.assert_close(found.nodes[:, :5].relu(), expected.nodes[:, :5])
    torch.testing.assert_close(found.edges.relu(), expected.edges)
    assert bool((CellMessages(6, 5, edges=False, final_relu=False).double()(x, house) < 0).any())


@pytest.mark.parametrize("concat", [True, False])
def test_a_gated_layer_starts_as_a_graph_convolution_and_learns_to_open(x, house, cells, concat):
    torch.manual_seed(0)
    plain = CellMessages(6, 5, concat=concat, final_relu=False).double()
    gated = CellMessages(6, 5, concat=concat, final_relu=False, gated=True).double()
    gated.load_state_dict(plain.state_dict() | {"gate": torch.zeros(())})
    nodes, full = plain.node_convs[0](x, cells), plain(x, cells)
    closed = gated(x, cells)
    assert torch.equal(closed[:, :5], nodes)
    assert not bool(closed[:, 5:].any())
    closed.sum().backward()
    assert gated.gate.grad != 0
    with torch.no_grad():
        gated.gate.fill_(10.0)
    torch.testing.assert_close(gated(x, cells), full)
    gated.reset_parameters()
    assert gated.gate == 0


# Other convolutions


@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_gcn_of_pyg_is_the_node_convolution(x, house, relaxation):
    ours = CellMessages(6, 5, 2).double()
    theirs = CellMessages(6, 5, 2, node_conv=GCNConv).double()
    theirs.edge_convs.load_state_dict(ours.edge_convs.state_dict())
    with torch.no_grad():
        for own, other in zip(ours.node_convs, theirs.node_convs, strict=True):
            own.bias.uniform_()
            other.conv.lin.weight.copy_(own.weight.t())
            other.conv.bias.copy_(own.bias)
    cells = ComplexNeighborhoods.relaxed(house, relaxation)
    torch.testing.assert_close(theirs(x, cells), ours(x, cells))


def test_graph_conv_of_pyg_hears_weights_and_learns_them(x, house):
    weight = house.edge_prob.clone().requires_grad_()
    messages = CellMessages(6, 5, edges=False, node_conv=GraphConv).double()
    out = messages(x, ComplexNeighborhoods(house, weight))
    conv = messages.node_convs[0].conv
    both, both_weight = to_undirected(house.edge_index, weight)
    torch.testing.assert_close(out, conv(x, both, both_weight).relu())
    out.square().sum().backward()
    assert weight.grad.abs().min() > 0


@pytest.mark.parametrize("conv", [SAGEConv, GATConv])
def test_convolutions_without_edge_weight_want_unweighted_cells(x, house, cells, conv):
    messages = CellMessages(6, 5, edges=False, node_conv=conv).double().eval()
    both = torch.cat([house.edge_index, house.edge_index.flip(0)], dim=1)
    torch.testing.assert_close(messages(x, house), messages.node_convs[0].conv(x, both).relu())
    with pytest.raises(LatopoError, match=f"{conv.__name__}: takes no edge_weight.*use relaxation='none' or"):
        messages(x, cells)


def test_queries_do_not_join_convolutions_of_pyg(x, house):
    messages = CellMessages(6, 5, node_conv=GCNConv).double()
    recorded = RecordedNeighborhoods(house, "none")
    nobody = torch.zeros(0, dtype=torch.int64)
    cells = QueryCells(torch.zeros(2, dtype=torch.int64), nobody, nobody.double(), nobody.double(), [])
    with pytest.raises(LatopoError, match="GCNConv: queries join NodeConv only; leave node_conv out"):
        messages(x[:1], QueryNeighborhoods(recorded, cells))


class UpperOnly(nn.Module):
    """A convolution of one's own: edges hear across polygons."""

    def __init__(self, before, after):
        super().__init__()
        self.linear = nn.Linear(before, after)

    def forward(self, x, neighborhoods):
        upper, _ = neighborhoods.edges(x)
        return self.linear(x + upper)


class Smooth(nn.Linear):
    """And one of nodes."""

    def forward(self, x, neighborhoods):
        return super().forward(neighborhoods.nodes(x))


def test_convolutions_of_ones_own(x, house, cells):
    messages = CellMessages(6, 5, node_conv=Smooth, edge_conv=UpperOnly).double()
    nodes = messages.node_convs[0](x, cells).relu()
    edges = messages.edge_convs[0](Uplift()(nodes, house), cells).relu()
    down = Downlift()(edges, house, house.edge_prob)
    torch.testing.assert_close(messages(x, cells), torch.cat([nodes, down], 1))


# State and errors


@pytest.mark.parametrize("node_conv", [NodeConv, GCNConv])
def test_reset(node_conv):
    messages = CellMessages(6, 5, 2, node_conv=node_conv)
    before = {name: tensor.clone() for name, tensor in messages.state_dict().items() if name.endswith("weight")}
    messages.reset_parameters()
    assert len(before) == 2 + 3 * 2
    assert not any(torch.equal(before[name], messages.state_dict()[name]) for name in before)


def test_repr():
    shown = repr(CellMessages(6, 5))
    for part in ("NodeConv(6, 5", "Uplift(aggr='mean')", "CellConv(", "Downlift(aggr='mean')"):
        assert part in shown
    assert isinstance(CellMessages(6, 5).edge_convs[0], CellConv)


def test_bad_arguments():
    with pytest.raises(LatopoError, match="CellMessages: rounds must be a whole number from 0 to 1,000, got -1"):
        CellMessages(6, 5, -1)
    with pytest.raises(LatopoError, match="CellMessages: without rounds the width stays 6, got out_channels=5"):
        CellMessages(6, 5, 0)
    with pytest.raises(
        LatopoError, match=r"CellMessages: dropout must be a finite number of at least 0 and below 1, got 1.0"
    ):
        CellMessages(6, 5, dropout=1.0)
