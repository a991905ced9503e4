import pytest
import torch

from latopo.errors import LatopoError
from latopo.models import build_model
from latopo.models.features import FeatureLinear


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
