import pytest
import torch
from torch_geometric.explain import Explainer, GNNExplainer

from latopo.errors import LatopoError
from latopo.nn import DCM, FixedTopology


@pytest.fixture
def explained(net, x):
    """A model on the complex that it inferred, an explainer of it, and the latent edges."""
    net.eval()(x)
    cells = net.cells.detach()
    net.dcm.topology = FixedTopology(cells)
    explainer = Explainer(
        net,
        GNNExplainer(epochs=30),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    return explainer, cells


def test_masks_are_on_the_latent_edges(explained, x):
    explainer, cells = explained
    edge_index, _ = cells.to_edge_index()
    torch.manual_seed(0)
    explanation = explainer(x, edge_index, index=5)
    mask = explanation.edge_mask.view(2, -1).mean(0)
    assert explanation.edge_mask.numel() == 2 * cells.num_edges
    # Two rounds of messages (nodes, then edges) and their polygons: what is farther away cannot matter.
    near = torch.zeros(cells.num_nodes, dtype=torch.bool)
    near[5] = True
    for _ in range(4):
        near[cells.edge_index[:, near[cells.edge_index].any(0)].flatten()] = True
    assert mask[near[cells.edge_index].any(0)].max() > 0.1
    assert (mask[~near[cells.edge_index].any(0)] == 0).all()


def test_without_an_edge_its_mask_says_so(net, x):
    """A mask of 0 is the model on the complex without that edge's weight, one of 1 the model as it is."""
    plain = net.eval()(x)
    cells = net.cells.detach()
    net.dcm.topology = topology = FixedTopology(cells)
    topology.edges.explain, topology.edges._apply_sigmoid = True, False
    topology.edges._edge_mask = torch.ones(2 * cells.num_edges)
    assert torch.equal(net(x), plain)
    silent = torch.ones(cells.num_edges)
    silent[3] = 0
    topology.edges._edge_mask = silent.repeat(2)
    without = net.dcm.propagate(
        net.encode(x).relu(), cells.with_probabilities(cells.edge_prob * silent, cells.polygon_prob)
    )
    assert torch.allclose(net(x), net.classify(without))
    assert not torch.allclose(net(x), plain)


def test_other_edges_are_refused(explained, x, edge_index):
    with pytest.raises(LatopoError, match=r"masks 60 edges, expected both directions.*to_edge_index"):
        explained[0](x, edge_index, index=5)


def test_a_complex_of_other_points_is_refused(x):
    layer = DCM(8, 4)
    layer.topology = FixedTopology(layer(x)[1])
    with pytest.raises(LatopoError, match="x has 39 rows, but the complex 40 nodes"):
        layer(x[1:])
