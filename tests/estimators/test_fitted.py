import torch

from latopo.estimators.fitted import AnchorStates, PolygonRule
from latopo.nn.relaxation import cell_weights


def test_rule_gives_fitted_polygons_their_fitted_weights(classifier):
    topology, inference = classifier._topology, classifier._model.dcm.polygons
    complex = topology.complex
    assert complex.num_polygons > 20
    scores = inference.scores(topology.x_aux, complex.edge_index, complex.polygons)
    expected = complex.polygon_prob / complex.polygon_prob.max() * topology.rule.share
    torch.testing.assert_close(topology.rule.weights(scores), expected, rtol=1e-6, atol=1e-9)


def test_rule_threshold_cap_and_share():
    rule = PolygonRule(mean=0.0, deviation=1.0, gain=1.0, alpha=2.0, threshold=0.5, largest=0.5, share=0.25)
    # p = max(s − 0.5, 0), divided by 0.5, at most 1, times 0.25
    scores = torch.tensor([0.4, 0.5, 0.75, 1.0, 9.0])
    assert rule.weights(scores).tolist() == [0.0, 0.0, 0.125, 0.25, 0.25]


def test_rule_without_fitted_polygons_or_without_spread():
    scores = torch.tensor([-1.0, 5.0])
    none = PolygonRule(0.0, 0.0, 0.0, 1.5, 0.0, largest=0.0, share=1.0)
    flat = PolygonRule(0.0, 0.0, 1.0, 1.5, 0.0, largest=0.1, share=0.5)
    assert none.weights(scores).tolist() == [0.0, 0.0]
    assert flat.weights(scores).tolist() == [0.5, 0.5]


def test_states_are_those_of_the_transductive_pass(classifier):
    topology, model = classifier._topology, classifier._model
    states = AnchorStates.of(model, topology)
    with torch.no_grad():
        through = model.dcm.propagate(topology.hidden, topology.complex)
    torch.testing.assert_close(states.x_node, through[:, : states.x_node.size(1)])
    weight = cell_weights(topology.complex, "weighted")[0]
    total = torch.zeros(60, dtype=torch.float64)
    for (u, v), w in zip(topology.complex.edge_index.t().tolist(), weight.tolist(), strict=True):
        total[u] += w
        total[v] += w
    torch.testing.assert_close(states.degree, total)
