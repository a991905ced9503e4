"""Regression of table rows on a learned cell complex."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, column_or_1d

from latopo.errors import LatopoError
from latopo.estimators.base import DCMEstimator
from latopo.estimators.weighting import row_weights

__all__ = ["DCMRegressor", "regression_target"]


class DCMRegressor(RegressorMixin, DCMEstimator):
    """Regressor that learns a cell complex over the training rows and lets every new row join it.

    As :class:`~latopo.estimators.DCMClassifier`, with the same parameters and attributes (but ``classes_``); the loss
    is the mean squared error of standardised targets.

    Args:
        unlabelled: ``"nan"`` accepts NaN in ``y`` as "no target"; such rows take part in the topology.

    Attributes:
        transduction_: value of every training row, with a target or without, within the complex.

    Example:
        >>> X = np.linspace(0, 6, 120)[:, None]
        >>> regressor = DCMRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
        >>> bool(regressor.score(X + 0.01, np.sin(X[:, 0])) > 0.7)
        True
    """

    def fit(self, X: Any, y: Any, edge_index: Any = None, sample_weight: Any = None) -> "DCMRegressor":
        """Learn the complex and the values; ``edge_index`` and ``sample_weight`` as in :meth:`DCMClassifier.fit`."""
        X = self._checked(X, ensure_min_samples=2)
        target, labelled = regression_target(type(self).__name__, y, self.unlabelled)
        check_consistent_length(X, target)
        unit, weights = target_unit(target), row_weights(sample_weight, X)
        prediction = self._fit(X, target / unit, labelled, 0, edge_index, weights)
        self.target_mean_, self.target_scale_ = self.target_mean_ * unit, self.target_scale_ * unit
        self.transduction_ = self._in_units(prediction)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The value of each row, [N]."""
        return self._in_units(self._answers(X).prediction.numpy())

    def predict_with_ties(self, X: Any) -> tuple[NDArray[np.float64], Any]:
        """:meth:`predict` and :meth:`attachments` at once; the rows join the complex only once."""
        answer = self._answers(X)
        return self._in_units(answer.prediction.numpy()), self._ties(answer)

    def tie_effects(self, X: Any) -> list[dict[int, float]]:
        """What each row's value becomes without each of its ties: for each row a dictionary from anchors to values."""
        return [
            dict(zip(anchors.tolist(), self._in_units(guesses.numpy()).tolist(), strict=True))
            for anchors, guesses in self._without_ties(X)
        ]

    def _in_units(self, prediction: NDArray[np.float64]) -> NDArray[np.float64]:
        return in_units(prediction[:, 0], self.target_mean_, self.target_scale_)


def in_units(prediction: NDArray[np.float64], mean: float, scale: float) -> NDArray[np.float64]:
    """Standardised predictions in the units of the target; finite, also at the edge of what float64 can hold."""
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.clip(mean + scale * prediction, -most, most)


def target_unit(target: NDArray[np.float64]) -> float:
    """1, or a power of two to divide by where squares of the values would leave float64."""
    size = float(np.abs(target).max())
    return 1.0 if size == 0 or 1e-100 < size < 1e100 else 2.0 ** min(math.frexp(size)[1], 1023)


def regression_target(caller: str, y: Any, unlabelled: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values as float64 [N], 0 where there is none, and which rows have one."""
    if unlabelled not in (None, "nan"):
        raise LatopoError(f"{caller}: unlabelled must be None or 'nan' (NaN in y means no target), got {unlabelled!r}")
    if y is None:
        raise ValueError(f"{caller}: requires y to be passed, but the target y is None")
    if unlabelled is None:
        y = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, input_name="y")
    else:
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan")
    values = np.asarray(y, np.float64).reshape(len(y), -1)
    if values.shape[1] != 1:
        raise ValueError(f"{caller}: y must have one column, got {values.shape[1]}; fit one estimator for each")
    labelled = ~np.isnan(values[:, 0])
    if not labelled.any():
        raise LatopoError(f"{caller}: y has no value at all; there is nothing to learn from")
    return np.where(labelled, values[:, 0], 0.0), labelled
