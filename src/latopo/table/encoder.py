"""What ``latopo fit`` does to a mixed table, as a scikit-learn transformer."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latopo.errors import LatopoError
from latopo.table.preprocessing import Preprocessing

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Mixed columns in, numbers out: what ``latopo fit`` does to a table, for pipelines.

    Numbers stay (missing ones become the median), dates become days, categories one column for each value, with one for
    "missing"; constant columns, row numbers and free text are left out. ``notes_`` says what was decided. At a
    transform a new category is none of the known ones, and columns that the fit did not see are ignored.

    Args:
        categorical: names of columns to take as categories, whatever they look like.

    Attributes:
        preprocessing_: the columns and how each becomes features.
        notes_: what was decided about the columns, one line each.
        n_features_in_, feature_names_in_: as in scikit-learn.

    Example:
        >>> from latopo.estimators import DCMClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> frame = pd.DataFrame({"size": [1, None, 8] * 10, "colour": ["red", "blue", None] * 10})
        >>> TableEncoder().fit(frame).get_feature_names_out().tolist()
        ['size', 'colour=blue', 'colour=red', 'colour=(missing)']
        >>> model = make_pipeline(TableEncoder(), DCMClassifier(max_epochs=20, random_state=0))
        >>> model.fit(frame, ["a", "b", "c"] * 10).predict(frame[:3]).tolist()
        ['a', 'b', 'c']
    """

    def __init__(self, *, categorical: Sequence[str] = ()) -> None:
        self.categorical = categorical

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> "TableEncoder":
        """Decide on every column of a data frame, or of anything that pandas makes one of."""
        frame = _frame(X)
        unknown = [name for name in self.categorical if name not in frame.columns]
        if unknown:
            raise LatopoError(f"TableEncoder: categorical names {unknown[0]!r}, which is not a column")
        self.preprocessing_ = Preprocessing.fit(frame, self.categorical)
        self.notes_ = self.preprocessing_.notes
        self.n_features_in_ = frame.shape[1]
        self.feature_names_in_ = np.array(frame.columns, object)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features [rows, features]; new categories are told in a warning."""
        check_is_fitted(self)
        frame = _frame(X)
        if not hasattr(X, "columns") and frame.shape[1] != self.n_features_in_:
            raise LatopoError(f"TableEncoder: X has {frame.shape[1]} columns, expected {self.n_features_in_}")
        features, notes = self.preprocessing_.transform(frame)
        for note in notes:
            if "unknown" in note:
                warnings.warn(f"TableEncoder: {note}", stacklevel=2)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features: columns, and ``column=value`` for categories."""
        check_is_fitted(self)
        return np.array(self.preprocessing_.feature_names, object)


def _frame(X: Any) -> pd.DataFrame:
    """As a data frame with texts as column names: an array's columns are x0, x1, …"""
    if not isinstance(X, pd.DataFrame):
        values = np.asarray(X, object)
        if values.ndim != 2:
            raise LatopoError(f"TableEncoder: expected a table with rows and columns, got shape {values.shape}")
        return pd.DataFrame(values, columns=[f"x{number}" for number in range(values.shape[1])])
    frame = X.rename(columns=str)
    if not frame.columns.is_unique:
        raise LatopoError(f"TableEncoder: the column {frame.columns[frame.columns.duplicated()][0]!r} appears twice")
    return frame
