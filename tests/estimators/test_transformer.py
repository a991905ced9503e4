import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from latopo.errors import LatopoError
from latopo.estimators import DCMTransformer


def test_features_names_and_dtype(rows):
    X, y = rows
    transformer = DCMTransformer(random_state=0, max_epochs=3, hidden_channels=8).fit(X, y)
    features = transformer.transform(X[:5])
    assert features.shape == (5, 24)
    assert features.dtype == np.float64
    assert transformer.get_feature_names_out().tolist()[::23] == ["dcmtransformer0", "dcmtransformer23"]
    np.testing.assert_allclose(features[2], transformer.transform(X[2:3])[0], rtol=0, atol=1e-12)


def test_a_given_graph_adds_a_part(rows):
    X, y = rows
    transformer = DCMTransformer(random_state=0, max_epochs=3, hidden_channels=8).fit(X, y, edge_index=[[0], [1]])
    assert transformer.transform(X).shape == (60, 32) == (60, len(transformer.get_feature_names_out()))


def test_classes_and_values(rows):
    X, y = rows
    by_class = DCMTransformer(random_state=0, max_epochs=3).fit(X, y)
    by_value = DCMTransformer(random_state=0, max_epochs=3).fit(X, X[:, 0])
    assert (by_class._model.out_channels, by_value._model.out_channels) == (3, 1)


def test_in_a_pipeline(rows):
    X, y = rows
    pipeline = make_pipeline(DCMTransformer(random_state=0, max_epochs=20), LogisticRegression(max_iter=500))
    assert pipeline.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.7


def test_needs_a_target(rows):
    with pytest.raises(ValueError, match="requires y"):
        DCMTransformer().fit(rows[0], None)


def test_values_may_be_missing(rows):
    X, _ = rows
    y = X[:, 0].copy()
    y[::2] = np.nan
    transformer = DCMTransformer(random_state=0, max_epochs=3, unlabelled="nan").fit(X, y)
    assert transformer.target_mean_ == pytest.approx(X[1::2, 0].mean())
    with pytest.raises(LatopoError, match="unlabelled must be None or 'nan'"):
        DCMTransformer(max_epochs=3, unlabelled=-1).fit(X, X[:, 0])
