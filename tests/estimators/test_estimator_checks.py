"""scikit-learn's own checks: how many ran, and that none failed."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from latopo.estimators import DCMClassifier, DCMRegressor, DCMTransformer

# Small and quick, but able to learn: some checks ask for a score.
QUICK = {"max_epochs": 3, "hidden_channels": 16, "learning_rate": 0.1}


@pytest.mark.parametrize(
    ("estimator", "at_least"),
    [
        (DCMClassifier(**QUICK), 54),
        (DCMRegressor(**QUICK | {"max_epochs": 6}), 51),
        (DCMTransformer(**QUICK | {"max_epochs": 1}), 47),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, at_least):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}  # none is expected to fail
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    # Array API input needs SCIPY_ARRAY_API in the environment before scipy is imported.
    assert skipped <= {"check_array_api_input"}
    assert sum(result["status"] == "passed" for result in results) >= at_least
