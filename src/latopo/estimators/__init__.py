"""scikit-learn estimators: a table goes in, predictions and a cell complex come out."""

from latopo.estimators.classifier import DCMClassifier
from latopo.estimators.regressor import DCMRegressor
from latopo.estimators.storage import load_estimator, save_estimator
from latopo.estimators.transformer import DCMTransformer

__all__ = ["DCMClassifier", "DCMRegressor", "DCMTransformer", "load_estimator", "save_estimator"]
