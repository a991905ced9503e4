"""What a prediction becomes without a tie."""

import numpy as np
import pytest
import torch

from latopo.errors import LatopoError
from latopo.estimators import DCMClassifier, DCMRegressor


@pytest.fixture(scope="module")
def problem():
    x = np.random.RandomState(0).randn(60, 3)
    return x, (x[:, 0] > 0).astype(int), np.random.RandomState(1).randn(8, 3)


def test_every_tie_has_its_effect(problem):
    x, y, new = problem
    classifier = DCMClassifier(random_state=0, max_epochs=10, bins=0).fit(x, y)
    ties, usual = classifier.attachments(new), classifier.predict_proba(new)
    effects = classifier.tie_effects(new)
    for row, without in enumerate(effects):
        assert list(without) == ties.indices[ties.indptr[row] : ties.indptr[row + 1]].tolist()
        assert all(value.sum() == pytest.approx(1) for value in without.values())
    assert max(np.abs(value - usual[row]).max() for row, one in enumerate(effects) for value in one.values()) > 1e-4


def test_without_its_only_tie_a_row_is_as_if_alone(problem):
    x, _, new = problem
    regressor = DCMRegressor(random_state=0, max_epochs=5, bins=0).fit(x, x[:, 0])
    model, fitted = regressor._model, regressor._fitted
    with torch.no_grad():
        hidden = model.first(regressor._scaling.apply(new[:1])).relu()
        cells = model.latent.join(hidden, fitted)[1]
        while cells.anchor.numel():
            cells = cells.without(0)
        assert all(len(part.weight) == 0 for part in cells.polygons)
        assert cells.ptr.tolist() == [0, 0]
        assert torch.isfinite(model.latent.hear(hidden, fitted, cells)).all()


def test_cells_without_an_edge_keep_the_others(problem):
    x, y, new = problem
    classifier = DCMClassifier(random_state=0, max_epochs=5, bins=0, degree=8).fit(x, y)
    model = classifier._model
    with torch.no_grad():
        hidden = model.first(classifier._scaling.apply(new)).relu()
        cells = model.latent.join(hidden, classifier._fitted)[1]
    assert sum(len(part.weight) for part in cells.polygons)
    for edge in range(cells.anchor.numel()):
        fewer = cells.without(edge)
        assert fewer.anchor.tolist() == cells.anchor[torch.arange(cells.anchor.numel()) != edge].tolist()
        before, after = (
            {tuple(sorted(part.anchor[ends].tolist())) + tuple(sides.tolist()) + (int(part.query[ends[0]]),)
             for group in part.polygons for ends, sides in zip(group.ends, group.sides, strict=True)}
            for part in (cells, fewer)
        )  # fmt: skip
        gone = int(cells.anchor[edge]), int(cells.query[edge])
        assert after == {corners for corners in before if gone[0] not in corners[:2] or corners[-1] != gone[1]}


def test_values_are_in_units_and_mlps_have_no_ties(problem):
    x, _, new = problem
    regressor = DCMRegressor(random_state=0, max_epochs=20, bins=0).fit(x, 1000 + 100 * x[:, 0])
    assert all(500 < value < 1500 for without in regressor.tie_effects(new) for value in without.values())
    with pytest.raises(LatopoError, match="no ties"):
        DCMRegressor(model="mlp", max_epochs=2).fit(x, x[:, 0]).tie_effects(new)
