"""Features from a learned cell complex."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from latopo.estimators.base import DCMEstimator
from latopo.estimators.classifier import class_targets
from latopo.estimators.regressor import regression_target
from latopo.estimators.weighting import row_weights

__all__ = ["DCMTransformer"]


class DCMTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DCMEstimator):
    """Transformer whose features are what the head of the classifier or regressor sees.

    Three parts side by side, ``hidden_channels`` columns each: node features after message passing, edge features
    brought down to the nodes, and the row's own hidden features (with a given graph a fourth: a convolution over it).
    They are learned for ``y``, which is required. Parameters as in :class:`~latopo.estimators.DCMClassifier`.

    A continuous ``y`` (fractions, by scikit-learn's ``type_of_target``) is regressed, anything else is classified;
    with ``unlabelled="nan"``, NaN in ``y`` means no target, and it is regressed.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> DCMTransformer(random_state=0, max_epochs=10).fit(X, y).transform(X).shape
        (150, 96)
    """

    _few_labels = False  # the recipe has no features of its own to give

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def fit(self, X: Any, y: Any, edge_index: Any = None, sample_weight: Any = None) -> "DCMTransformer":
        """Learn the complex and the features for ``y``; the others as in :meth:`DCMClassifier.fit`."""
        if self.unlabelled == "nan":  # values, some of them missing: checked there
            X = self._checked(X, ensure_min_samples=2)
        else:
            X, y = self._checked(X, y, ensure_min_samples=2, multi_output=False)
        weights = row_weights(sample_weight, X)
        if self.unlabelled == "nan" or type_of_target(y) == "continuous":
            values, labelled = regression_target(type(self).__name__, y, self.unlabelled)
            check_consistent_length(X, values)
            self._fit(X, values, labelled, 0, edge_index, weights)
        else:
            y = column_or_1d(y, warn=True)
            classes, numbers, labelled = class_targets(type(self).__name__, y, self.unlabelled)
            self._fit(X, numbers, labelled, len(classes), edge_index, weights)
        return self

    @property
    def _n_features_out(self) -> int:
        return self._model.feature_channels

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The features of each row, [N, parts · hidden_channels]."""
        return self._answers(X).features.numpy()
