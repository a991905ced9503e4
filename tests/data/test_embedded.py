import numpy as np
import pytest
import torch

from latopo.data import find_dataset, load, read_table
from latopo.data.embedded import read_embedded
from latopo.errors import LatopoError

SHAPES = {"digits": (1797, 64, 10), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2), "iris": (150, 4, 3)}


@pytest.mark.parametrize("name", SHAPES)
def test_tables(name):
    data = load(name)
    assert (*data.x.shape, data.num_classes) == SHAPES[name]
    assert data.x.dtype == torch.float32
    assert data.y.dtype == torch.int64
    assert data.edge_index is None
    assert data.task == "classification"


def test_diabetes_is_a_regression_in_its_own_units():
    data = load("diabetes")
    assert data.y.dtype == torch.float32
    assert (float(data.y.min()), float(data.y.max())) == (25.0, 346.0)
    assert (data.task, data.num_classes) == ("regression", 0)
    table = read_table("diabetes")
    assert table.columns[:2] == ("age", "sex")
    assert 19 <= table.x[:, 0].min() < table.x[:, 0].max() <= 79


def test_treatment_of_tables():
    wine = load("wine").x.double()
    assert torch.allclose(wine.mean(0), torch.zeros(13, dtype=torch.double), atol=1e-5)
    assert torch.allclose(wine.std(0, correction=0), torch.ones(13, dtype=torch.double), atol=1e-5)
    digits = load("digits").x
    assert (float(digits.min()), float(digits.max())) == (0.0, 1.0)
    assert np.array_equal(digits.double().numpy() * 16, read_table("digits").x)


def test_karate_club_needs_no_download(monkeypatch):
    monkeypatch.setattr("torch_geometric.data.Dataset._download", pytest.fail)
    data = read_embedded(find_dataset("karate"))
    assert data.x.shape == (34, 34)
    assert data.edge_index.shape == (2, 156)


def test_read_table_refuses_graphs():
    with pytest.raises(LatopoError, match="Cora is a graph"):
        read_table("cora")
