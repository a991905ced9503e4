import torch

from latopo.nn import AuxiliaryEncoder
from latopo.nn.node_conv import graph_product


def test_mlp_and_gcn_share_weights(house, points):
    encoder, x = AuxiliaryEncoder((6, 5, 4)).double(), points[:7]
    first, second = encoder.layers
    with torch.no_grad():
        first.bias.uniform_(-1, 1)
    torch.testing.assert_close(encoder(x), (x @ first.weight + first.bias).relu() @ second.weight)
    hidden = (graph_product(x @ first.weight, house.edge_index) + first.bias).relu()
    expected = graph_product(hidden @ second.weight, house.edge_index)
    torch.testing.assert_close(encoder(x, house.edge_index), expected)


def test_only_the_last_bias_may_be_missing():
    assert [layer.bias is None for layer in AuxiliaryEncoder().layers] == [False, False, True]
    assert [layer.bias is None for layer in AuxiliaryEncoder(last_bias=True).layers] == [False] * 3


def test_dropout_before_every_layer_in_training_only():
    x = torch.ones(1, 400)
    for widths in ((400, 3), (400, 400, 3)):
        encoder = AuxiliaryEncoder(widths, dropout=0.5)
        assert not torch.equal(encoder(x), encoder(x))
        assert torch.equal(encoder.eval()(x), encoder(x))


def test_reset_and_repr():
    encoder = AuxiliaryEncoder((2, 3, 4))
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items() if "weight" in name}
    encoder.reset_parameters()
    assert not any(torch.equal(before[name], encoder.state_dict()[name]) for name in before)
    assert "NodeConv(2, 3, bias=True)" in repr(encoder)
    assert "NodeConv(3, 4, bias=False)" in repr(encoder)
