"""How the fit of a table grows with its rows."""

import time
from functools import partial

from sklearn.datasets import make_classification

from latopo.bench.harness import Measurement, best_runs
from latopo.estimators import DCMClassifier

__all__ = ["measure"]

EPOCHS = 15


def measure(quick: bool = False) -> list[Measurement]:
    """The bar of a fit: four times the rows in at most six times the time."""
    small, large = (200, 800) if quick else (5_000, 20_000)
    _fit(100)  # compiles
    works = [partial(_fit, rows) for rows in (large, small)]
    (ours, note), (theirs, _) = best_runs(*works, repeats=1, clock=time.process_time)
    what = f"DCMClassifier().fit, {large:,} × 20, {EPOCHS} epochs"
    return [Measurement(what, ours, f"{small:,} × 20", theirs, bar=1 / 6, note=f"CPU time of all threads; {note}")]


def _fit(rows: int) -> str:
    X, y = make_classification(rows, 20, n_informative=8, n_classes=4, n_clusters_per_class=3, random_state=0)
    fitted = DCMClassifier(random_state=0, max_epochs=EPOCHS).fit(X, y)
    return str(fitted._model.search_report())
