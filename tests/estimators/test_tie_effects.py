"""What a prediction becomes without a tie."""

import numpy as np
import pytest
import torch

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.nn.query_neighborhoods import QueryCells, QueryPolygons


@pytest.fixture(scope="module")
def problem():
    x = np.random.RandomState(0).randn(60, 3)
    return x, (x[:, 0] > 0).astype(int), np.random.RandomState(1).randn(8, 3)


def test_every_tie_has_its_effect(problem):
    x, y, new = problem
    classifier = DCMClassifier(random_state=0, max_epochs=10, bins=0).fit(x, y)
    ties, usual = classifier.attachments(new), classifier.predict_proba(new)
    at_once = classifier.predict_with_ties(new)
    assert np.array_equal(at_once[0], usual)
    assert (at_once[1] != ties).nnz == 0
    effects = classifier.tie_effects(new)
    for row, without in enumerate(effects):
        assert list(without) == ties.indices[ties.indptr[row] : ties.indptr[row + 1]].tolist()
        assert all(value.sum() == pytest.approx(1) for value in without.values())
    assert max(np.abs(value - usual[row]).max() for row, one in enumerate(effects) for value in one.values()) > 1e-4


def one_by_one(cells, edge):
    """The cells without an edge and the polygons at it."""
    kept = torch.arange(cells.anchor.numel()) != edge
    number = kept.cumsum(0) - 1
    polygons = []
    for ends, sides, weight in cells.polygons:
        left = (ends != edge).all(dim=1)
        polygons.append(QueryPolygons(number[ends[left]], sides[left], weight[left]))
    ptr = cells.ptr - (cells.ptr > edge).long()
    return QueryCells(ptr, cells.anchor[kept], cells.prob[kept], cells.weight[kept], polygons)


@pytest.mark.parametrize("degree", [3, 8])
def test_effects_are_those_of_taking_ties_away_one_by_one(problem, degree):
    x, _, new = problem
    regressor = DCMRegressor(random_state=0, max_epochs=5, bins=0, degree=degree).fit(x, x[:, 0])
    model, fitted, polygons = regressor._model, regressor._fitted, 0
    for row, effects in enumerate(regressor.tie_effects(new)):
        with torch.no_grad():
            view = model._view(regressor._scaling.apply(new[row : row + 1]), None)
            cells = model.latent.join(view.hidden, fitted)[1]
            without = [model.latent.hear(view.hidden, fitted, one_by_one(cells, at)) for at in range(len(cells.anchor))]
            expected = torch.cat([model._read(view, latent).prediction for latent in without])
        assert list(effects) == cells.anchor.tolist()
        assert list(effects.values()) == pytest.approx(regressor._in_units(expected.numpy()).tolist(), abs=1e-12)
        polygons += sum(len(part.weight) for part in cells.polygons)
    assert polygons > 0


def test_without_its_only_tie_a_row_is_as_if_alone():
    nobody = torch.zeros(0, 2, dtype=torch.int64)
    empty = QueryPolygons(nobody, nobody[:, :1], torch.zeros(0))
    one = torch.ones(1)
    cells = QueryCells(torch.tensor([0, 1, 1]), torch.tensor([5]), one, one, [empty]).without_each()
    assert cells.ptr.tolist() == [0, 0]
    assert cells.anchor.numel() == len(cells.polygons[0].weight) == 0


def test_values_are_in_units_and_mlps_have_no_ties(problem):
    x, _, new = problem
    regressor = DCMRegressor(random_state=0, max_epochs=20, bins=0).fit(x, 1000 + 100 * x[:, 0])
    assert all(500 < value < 1500 for without in regressor.tie_effects(new) for value in without.values())
    with pytest.raises(LatopoError, match="no ties"):
        DCMRegressor(model="mlp", max_epochs=2).fit(x, x[:, 0]).tie_effects(new)
