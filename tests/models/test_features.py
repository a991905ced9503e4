import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import build_model
from latopo.models.features import FeatureLinear, drop_entries, normalize_rows


def test_another_sparse_matrix_while_the_first_is_still_there():
    model = build_model("mlp", 3, 2).eval()
    for x in (first := torch.eye(3), torch.eye(3)[[2, 0, 1]], torch.ones(5, 3), first.clone()):
        sparse = x.to_sparse_csr()
        model(kept := sparse).prediction.sum().backward()
        assert torch.allclose(model(sparse).prediction, model(x).prediction)
    assert kept is not None


def test_sparse_features_may_change_in_place():
    x = torch.eye(3).to_sparse_csr()
    layer = FeatureLinear(3, 2)
    gradients = []
    for _ in range(2):
        layer.zero_grad()
        layer(x).sum().backward()
        gradients.append(layer.weight.grad.clone())
        x.values().mul_(2)
    assert torch.equal(gradients[1], 2 * gradients[0])


def test_wrong_width():
    with pytest.raises(LatopoError, match=r"FeatureLinear: x has shape \[2, 4\], expected \[N, 3\]"):
        FeatureLinear(3, 2)(torch.ones(2, 4))


def test_rows_are_normalised_alike_dense_and_sparse():
    x = torch.tensor([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, -2.0, 2.0]])
    expected = torch.tensor([[0.25, 0.0, 0.75], [0.0, 0.0, 0.0], [0.0, -0.5, 0.5]])
    assert torch.equal(normalize_rows(x), expected)
    assert torch.equal(normalize_rows(x.to_sparse_csr()).to_dense(), expected)


@pytest.mark.parametrize("sparse", [False, True])
def test_entries_are_dropped_in_training_only(sparse):
    x = torch.eye(200) + torch.eye(200).roll(1, 0)
    given = x.to_sparse_csr() if sparse else x
    assert drop_entries(given, 0.5, training=False) is given
    torch.manual_seed(0)
    dropped = drop_entries(given, 0.5, training=True)
    dropped = dropped.to_dense() if sparse else dropped
    assert set(dropped[x > 0].tolist()) == {0.0, 2.0}
    assert 120 < int((dropped > 0).sum()) < 280
    assert not dropped[x == 0].any()
