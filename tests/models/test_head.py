import pytest
import torch

from latopo.models.head import Head, WeighedHead

WIDTHS = {"latent": 4, "own": 2, "given": 3}


@pytest.fixture
def features():
    return torch.randn(5, 9, generator=torch.Generator().manual_seed(0))


def test_the_prediction_is_the_sum_of_the_read_outs(features):
    head = Head(WIDTHS, 3)
    alone = sum(head.alone(features, name) - head.linear.bias for name in WIDTHS)
    torch.testing.assert_close(head(features), alone + head.linear.bias)


def test_a_branch_sees_its_own_columns_only(features):
    head = Head(WIDTHS, 3)
    other = features.clone()
    other[:, 4:6] = 7.0
    assert torch.equal(head.alone(features, "latent"), head.alone(other, "latent"))
    assert not torch.equal(head.alone(features, "own"), head.alone(other, "own"))
    with pytest.raises(KeyError):
        head.alone(features, "graph")


def test_equal_weights_change_nothing(features):
    torch.manual_seed(0)
    plain = Head(WIDTHS, 3)
    torch.manual_seed(0)
    weighed = WeighedHead(WIDTHS, 3)
    torch.testing.assert_close(weighed(features), plain(features))
    assert weighed.branch_weights() == pytest.approx(dict.fromkeys(WIDTHS, 1 / 3))


def test_reset_weighs_all_branches_alike_again():
    head = WeighedHead(WIDTHS, 3)
    with torch.no_grad():
        head.raw[0] = 1.0
    assert head.branch_weights()["latent"] > 0.99
    head.reset_parameters()
    assert not head.raw.any()
