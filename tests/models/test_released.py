"""The authors' public settings: each is a setting of its own, and changes what it says."""

import pytest
import torch

from latopo.models import SYSTEMS, build_model
from latopo.settings import to_plain

RELEASED = SYSTEMS["dcm-released"]
# Point → the value that the paper's description, `dcm`, has in its place.
POINTS = {
    "rounds": 1,
    "lift": "mean",
    "detach_edges": False,
    "encoder_layers": 3,
    "learn_alpha": True,
    "polygon_score": "sum",
    "edge_form": "undirected",
    "dropout": 0.5,
    "input_dropout": 0.0,
    "encoder_dropout": 0.0,
    "normalize_rows": False,
}


def test_all_points_undone_give_the_model_as_described():
    assert RELEASED.settings.change(**POINTS) == SYSTEMS["dcm"].settings
    assert RELEASED.weight_decay == 0.0
    assert "lift" not in to_plain(SYSTEMS["dcm"].settings)["latent"]


@pytest.mark.parametrize("point", POINTS)
def test_each_point_is_a_setting_of_its_own(point):
    changed = RELEASED.settings.change(**{point: POINTS[point]})
    assert changed != RELEASED.settings
    build_model("dcm-released", 6, 3, **{point: POINTS[point]})


@pytest.mark.parametrize("graph", [False, True])
def test_no_gradient_reaches_the_topology(graph, problem, make, step):
    model = make("dcm-released", graph)
    x, y, ring = problem()
    step(model, x, y, ring if graph else None)[0].backward()
    learned = {name for name, item in model.named_parameters() if item.grad is not None}
    assert learned == {"first.weight", "first.bias", "head.linear.weight", "head.linear.bias"}
    rewarded = make("dcm-released", graph, edge_form="undirected")
    step(rewarded, x, y, ring if graph else None)[0].backward()
    assert any("graph.encoder" in name for name, item in rewarded.named_parameters() if item.grad is not None)


def test_without_convolutions_a_node_stands_beside_the_sum_over_its_edges(problem, make):
    x, _, _ = problem()
    model = make("dcm-released", False).eval()
    output = model(x)
    hidden = model.first(x / x.abs().sum(1, keepdim=True)).relu()
    ends = torch.cat([output.complex.edge_index, output.complex.edge_index.flip(0)], dim=1)
    down = torch.zeros_like(hidden).index_add(0, ends[0], hidden[ends[0]] + hidden[ends[1]])
    assert output.complex.num_edges > 0
    assert torch.allclose(output.features, torch.cat([hidden, down], dim=1))


@pytest.mark.parametrize("detach_edges", [True, False])
def test_edges_pass_no_gradient_to_the_features(detach_edges, problem, make):
    x, _, _ = problem()
    model = make("dcm-released", False, detach_edges=detach_edges).eval()
    model(x).features[:, 8:].sum().backward()  # what came down from the edges
    assert bool((model.first.weight.grad == 0).all()) == detach_edges


def test_dropout_acts_on_the_input_and_in_the_encoder_only(problem, make):
    x, _, _ = problem()
    still = {"input_dropout": 0.0, "encoder_dropout": 0.0}
    calm = make("dcm-released", False, **still).train()
    assert torch.equal(calm(x).prediction, calm(x).prediction)
    for name in still:
        model = make("dcm-released", False, **{**still, name: 0.5}).train()
        first, second = model(x), model(x)
        assert not torch.equal(first.complex.edge_index, second.complex.edge_index), name
        same_nodes = torch.equal(first.features[:, :8], second.features[:, :8])
        assert same_nodes == (name == "encoder_dropout")
        assert torch.equal(model.eval()(x).prediction, model(x).prediction)


def test_the_encoder_has_two_layers_and_alpha_stays(make):
    released, described = make("dcm-released", False), make("dcm", False)
    for model, layers in ((released, 2), (described, 3)):
        assert len(model.latent.topology.graph.encoder.layers) == layers
    assert released.facts()["alpha"] == released.facts()["polygon_alpha"] == 1.5
    names = [name for name, _ in released.named_parameters()]
    assert not [name for name in names if "alpha" in name]


def test_the_scale_of_a_row_makes_no_difference(problem, make):
    x, _, _ = problem()
    scaled = x * torch.linspace(0.5, 3, len(x), dtype=x.dtype)[:, None]
    for normalize in (True, False):
        model = make("dcm-released", False, normalize_rows=normalize).eval()
        assert torch.allclose(model(x).features, model(scaled).features) == normalize
