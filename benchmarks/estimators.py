"""The estimators beside what people would use instead: same folds, defaults on both sides.

Prints the two tables of docs/estimators.md, and with ``--write`` puts them there:

    python benchmarks/estimators.py --write
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from latopo.data import read_table
from latopo.estimators import DCMClassifier, DCMRegressor

SETS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
DOCS = Path(__file__).parents[1] / "docs" / "estimators.md"
FOLDS = 5
Scores = dict[str, dict[str, tuple[float, float, float]]]


def scaled(model: Any) -> Any:
    """Behind a standard scaler: what any practitioner does for models that see the units."""
    return make_pipeline(StandardScaler(), model)


def models(regression: bool) -> dict[str, Any]:
    """Every model with its default parameters; a seed where there is one."""
    if regression:
        return {
            "latopo": DCMRegressor(random_state=0),
            "ridge / logistic": scaled(Ridge()),
            "k-NN": scaled(KNeighborsRegressor()),
            "MLP": scaled(MLPRegressor(random_state=0)),
            "random forest": RandomForestRegressor(random_state=0),
            "hist. boosting": HistGradientBoostingRegressor(random_state=0),
        }
    return {
        "latopo": DCMClassifier(random_state=0),
        "ridge / logistic": scaled(LogisticRegression()),
        "k-NN": scaled(KNeighborsClassifier()),
        "MLP": scaled(MLPClassifier(random_state=0)),
        "random forest": RandomForestClassifier(random_state=0),
        "hist. boosting": HistGradientBoostingClassifier(random_state=0),
        "label spreading": scaled(LabelSpreading()),
    }


def splits(y: Any, regression: bool) -> Iterator[tuple[Any, Any]]:
    """The folds, the same for all models."""
    kind = KFold if regression else StratifiedKFold
    return kind(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def all_labels(name: str, model: Any) -> list[float]:
    """Test score of each fold."""
    x, y, _ = read_table(name)
    return [model.fit(x[train], y[train]).score(x[test], y[test]) for train, test in splits(y, name == "diabetes")]


def few_labels(name: str, model: Any, share: float = 0.05) -> list[float]:
    """Score on the rows without a label, a twentieth of the rows being labelled (two of each class at least).

    Models that can use rows without labels get them; the others learn from the labelled ones alone.
    """
    x, y, _ = read_table(name)
    found = []
    for seed in range(FOLDS):
        labelled = _few(y, share, seed, name == "diabetes")
        rest = ~labelled
        last = model[-1] if hasattr(model, "steps") else model
        if isinstance(last, LabelSpreading):
            model.fit(x, np.where(labelled, y, -1))
            found.append(float((last.transduction_[rest] == y[rest]).mean()))
        elif isinstance(last, DCMClassifier):
            semi = DCMClassifier(random_state=0, unlabelled=-1).fit(x, np.where(labelled, y, -1))
            found.append(float((semi.transduction_[rest] == y[rest]).mean()))
        elif isinstance(last, DCMRegressor):
            semi = DCMRegressor(random_state=0, unlabelled="nan").fit(x, np.where(labelled, y, np.nan))
            residual = np.square(y[rest] - semi.transduction_[rest]).sum()
            found.append(float(1 - residual / np.square(y[rest] - y[rest].mean()).sum()))
        else:
            found.append(model.fit(x[labelled], y[labelled]).score(x[rest], y[rest]))
    return found


def _few(y: Any, share: float, seed: int, regression: bool) -> Any:
    random = np.random.RandomState(seed)
    labelled = np.zeros(len(y), bool)
    for members in [np.arange(len(y))] if regression else [np.flatnonzero(y == c) for c in np.unique(y)]:
        labelled[random.permutation(members)[: max(round(share * len(members)), 2)]] = True
    return labelled


def measure(task: Callable[[str, Any], list[float]], names: list[str]) -> Scores:
    """Mean score, its deviation over the folds and seconds a fold, by data set and model."""
    table: Scores = {}
    for name in names:
        for label, model in models(name == "diabetes").items():
            started = time.perf_counter()
            found = task(name, model)
            seconds = (time.perf_counter() - started) / len(found)
            table.setdefault(name, {})[label] = (float(np.mean(found)), float(np.std(found)), seconds)
            print(f"{task.__name__:12s} {name:14s} {label:18s} {np.mean(found):.4f}  {seconds:.1f} s", flush=True)
    return table


def markdown(table: Scores) -> str:
    """One row per model, the best of each data set in bold; ± is the standard deviation over the folds."""
    labels = list(models(False))
    lines = ["| | " + " | ".join(table) + " |", "|---" * (len(table) + 1) + "|"]
    best = {name: max(mean for mean, _, _ in rows.values()) for name, rows in table.items()}
    for label in labels:
        cells = []
        for name, rows in table.items():
            mean, spread, _ = rows.get(label, (float("nan"), 0.0, 0.0))
            text = "–" if np.isnan(mean) else f"{mean:.3f} ± {spread:.3f}"
            cells.append(f"**{text}**" if mean >= best[name] - 5e-4 else text)
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(key: str, text: str) -> None:
    """Put a table between its marks in the documentation."""
    start, end = f"<!-- {key} -->", f"<!-- end {key} -->"
    pattern = re.compile(f"{start}.*?{end}", re.DOTALL)
    DOCS.write_text(pattern.sub(f"{start}\n{text}\n{end}", DOCS.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS), help="data sets, separated by commas")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/estimators.md")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # the MLP's default 200 epochs do not converge everywhere
    for key, task in (("all-labels", all_labels), ("few-labels", few_labels)):
        text = markdown(measure(task, options.sets.split(",")))
        print(text, flush=True)
        if options.write:
            write(key, text)


if __name__ == "__main__":
    main()
