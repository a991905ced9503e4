import torch

from latopo.models import MLP


def test_it_is_two_linear_maps_and_sees_no_graph():
    model, x = MLP(4, 3, hidden_channels=5).eval(), torch.randn(6, 4)
    output = model(x, torch.tensor([[0], [1]]))
    torch.testing.assert_close(output.prediction, model.head(model.first(x).relu()))
    assert torch.equal(output.prediction, model(x).prediction)
    assert output.features.shape == (6, 5) == (6, model.feature_channels)
    assert not MLP.uses_graph
