import pytest
import torch
from torch_geometric.data import Data

from latopo.complex import CellComplex
from latopo.data import from_graphs
from latopo.errors import LatopoError
from latopo.models import GRAPH_SYSTEMS, GraphNet, load_model, save_model


def molecules(seed=0, count=12):
    """Rings of 3 to 7 nodes with a tail, and a tree without rings."""
    draw = torch.Generator().manual_seed(seed)
    graphs = []
    for number in range(count):
        size = 3 + number % 5
        around = torch.arange(size)
        ring = torch.stack([around, (around + 1) % size])
        tail = torch.tensor([[0, size], [size, size + 1]])
        edges = torch.cat([ring, tail], dim=1) if number % 4 else torch.tensor([[0, 1], [1, 2]])
        nodes = int(edges.max()) + 1
        attr = torch.eye(2)[torch.randint(2, (edges.size(1),), generator=draw)]
        graphs.append(Data(x=torch.randn(nodes, 3, generator=draw), edge_index=edges, edge_attr=attr, y=number % 2))
    return graphs


def net(name, seed=0, **changes):
    torch.manual_seed(seed)
    system = GRAPH_SYSTEMS[name]
    return GraphNet(3, 2, system.resolved(True, changes), edge_channels=2)


@pytest.mark.parametrize("name", GRAPH_SYSTEMS)
def test_a_graph_does_not_depend_on_its_batch(name):
    graphs, _ = from_graphs(molecules())
    model = net(name).double()
    for index in torch.arange(12).split(4):  # running statistics that differ from their start
        model(_double(graphs.batch(index)))
    model.eval()
    together = model(_double(graphs.batch(torch.arange(12)))).prediction
    alone = torch.cat([model(_double(graphs.batch(torch.tensor([number])))).prediction for number in range(12)])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-10)


def _double(batch):
    return batch._replace(x=batch.x.double(), edge_attr=batch.edge_attr.double())


@pytest.mark.parametrize("name", GRAPH_SYSTEMS)
def test_the_order_of_the_nodes_makes_no_difference(name):
    plain = molecules()
    order = [torch.randperm(len(graph.x), generator=torch.Generator().manual_seed(1)) for graph in plain]
    moved = []
    for graph, new in zip(plain, order, strict=True):
        x = torch.empty_like(graph.x)
        x[new] = graph.x
        moved.append(Data(x=x, edge_index=new[graph.edge_index], edge_attr=graph.edge_attr, y=graph.y))
    model = net(name).double().eval()
    first, second = (_double(from_graphs(graphs)[0].batch(torch.arange(12))) for graphs in (plain, moved))
    torch.testing.assert_close(model(first).prediction, model(second).prediction, rtol=0, atol=1e-10)


def test_only_networks_with_polygons_tell_two_triangles_from_a_hexagon():
    around = torch.arange(6)
    hexagon = torch.stack([around, (around + 1) % 6])
    triangles = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
    graphs, _ = from_graphs([Data(x=torch.ones(6, 3), edge_index=e, y=0) for e in (hexagon, triangles) * 5])
    found = {}
    for name in ("gin", "cells-edges", "cells-rings", "cells-chosen"):
        torch.manual_seed(0)
        model = GraphNet(3, 2, GRAPH_SYSTEMS[name].resolved(True)).eval()
        with torch.no_grad():
            one, other = model(graphs.batch(torch.tensor([0, 1]))).prediction
        found[name] = float((one - other).abs().max()) > 1e-5
    assert found == {"gin": False, "cells-edges": False, "cells-rings": True, "cells-chosen": True}


@pytest.mark.parametrize("name", GRAPH_SYSTEMS)
def test_every_weight_gets_a_gradient(name):
    graphs, _ = from_graphs(molecules())
    model = net(name, dropout=0.0)
    loss = torch.nn.functional.cross_entropy(model(graphs.batch(torch.arange(12))).prediction, graphs.y)
    loss.backward()
    learned = {key: weight for key, weight in model.named_parameters() if weight.requires_grad}
    unused = [key for key, weight in learned.items() if weight.grad is None or not weight.grad.any()]
    # These graphs have one ring at most, which leaves nothing to choose.
    assert [key for key in unused if not key.startswith("choice.")] == []


def test_the_complex_is_what_the_network_sees():
    graphs, _ = from_graphs(molecules())
    batch = graphs.batch(torch.arange(12))
    assert net("gin").complex(batch).num_polygons == 0
    every = net("cells-rings").complex(batch)
    assert every.num_polygons == batch.ring_length.numel() == 8
    assert sorted(k for k, rows in every.polygons.items() for _ in rows) == sorted(batch.ring_length.tolist())
    chosen = net("cells-chosen").eval().complex(batch)
    assert isinstance(chosen, CellComplex)
    assert bool((chosen.polygon_prob > 0).all())
    assert float(chosen.polygon_prob.max()) == 1.0


def test_it_can_be_saved_and_loaded(tmp_path):
    graphs, _ = from_graphs(molecules())
    model = net("cells-chosen").eval()
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    batch = graphs.batch(torch.arange(12))
    assert torch.equal(again(batch).prediction, model(batch).prediction)
    assert again.edge_channels == 2


def test_wrong_widths_and_settings_are_named():
    graphs, _ = from_graphs(molecules())
    with pytest.raises(LatopoError, match="edges 2 features, expected in_channels=3 and edge_channels=0"):
        GraphNet(3, 2)(graphs.batch(torch.tensor([0])))
    with pytest.raises(LatopoError, match="edge_features=true"):
        GraphNet(3, 2, edge_features=False, rings="all")
