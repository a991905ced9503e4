import pytest
import torch

from latopo.complex import CellComplex
from latopo.models import ModelOutput, build_model
from latopo.nn.polygon_inference import LatentPolygons
from latopo.training.measure import MEASURES, kept_share, measure


def test_counts_and_homophily_of_training_nodes(blobs):
    model = build_model("dcm", 6, 3, gain=4.0).eval()
    output = model(blobs.x)
    labels = torch.where(torch.arange(40) < 20, blobs.y, -1)
    found = measure(model, output, labels)
    assert set(found) == {*MEASURES, "alpha", "gain", "polygon_alpha"}
    u, v = output.complex.edge_index
    inside = (u < 20) & (v < 20)
    assert found["train_homophily"] == pytest.approx(float((blobs.y[u] == blobs.y[v])[inside].double().mean()))
    assert found["mean_degree"] == pytest.approx(float(output.complex.node_degree().double().mean()))
    assert found["num_polygons"] == output.complex.num_polygons
    assert found["kept_share"] == output.complex.num_polygons / output.polygons.num_candidates
    assert found["alpha"] == pytest.approx(1.5)
    assert found["polygon_alpha"] == pytest.approx(1.5)
    assert found["gain"] == pytest.approx(4.0)
    assert found["polygon_gain"] == pytest.approx(1.0)


def test_what_a_model_has_not_is_none(blobs):
    found = measure(build_model("mlp", 6, 3), ModelOutput(torch.zeros(40, 3), torch.zeros(40, 1)))
    assert set(found.values()) == {None}
    model = build_model("dgm-e", 6, 3).eval()
    found = measure(model, model(blobs.x))
    assert found["kept_share"] is found["train_homophily"] is found["polygon_gain"] is None
    assert "alpha" not in found
    assert found["mean_degree"] >= 5
    model = build_model("dcm-all", 6, 3, gain=4.0).eval()
    found = measure(model, model(blobs.x))
    assert found["kept_share"] == 1.0
    assert found["polygon_gain"] is None
    assert "polygon_alpha" not in found


def test_weights_of_the_branches(blobs):
    parts = {"dcm-judged": ("latent", "own", "given"), "gcn-judged": ("own", "given"), "dcm-plus": ()}
    for name, expected in parts.items():
        model = build_model(name, 6, 3, graph=True).eval()
        found = measure(model, model(blobs.x, blobs.ring))
        weights = {key: value for key, value in found.items() if key.startswith("weight_")}
        assert weights == pytest.approx({f"weight_{part}": 1 / len(expected) for part in expected})


def test_share_is_of_the_scored_candidates():
    triangle = torch.tensor([[0, 1, 2]])
    complex = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: triangle})
    polygons = LatentPolygons(
        {3: triangle}, torch.ones(1), num_candidates=100, num_scored=4, mean=0.0, deviation=1.0, gain=1.0
    )
    output = ModelOutput(torch.zeros(3, 1), torch.zeros(3, 1), complex, None, polygons)
    assert kept_share(output) == 0.25
    assert kept_share(output._replace(polygons=polygons._replace(num_scored=0))) is None
