"""Two models of the store compared, data set by data set, over the folds that both have.

    python benchmarks/compare.py dcm-judged gcn
    python benchmarks/compare.py dcm mlp --a rounds=0
    python benchmarks/compare.py gcn gcn --a epochs=400 --protocol paper

prints means, the difference and the p-value of the corrected paired t-test (Nadeau and Bengio), *not* adjusted for the
number of comparisons. These are the p-values in docs/diary.md; the tables have those of our models against the
baselines, with Holm's correction.
"""

import argparse
from statistics import fmean
from typing import Any

from latopo.cli.train import parse_settings
from latopo.data import list_datasets
from latopo.models import SYSTEMS
from latopo.reproduce import Record, Store
from latopo.reproduce.experiments import default_settings
from latopo.reproduce.statistics import corrected_paired_t, fold_means

# Size of the test fold relative to what is trained on: a tenth to eight or nine tenths.
RATIO = {"honest": 1 / 8, "paper": 1 / 9}


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs=2, metavar="MODEL")
    parser.add_argument("--a", action="append", default=[], metavar="NAME=VALUE", help="setting of the first model")
    parser.add_argument("--b", action="append", default=[], metavar="NAME=VALUE", help="setting of the second model")
    parser.add_argument("--protocol", choices=sorted(RATIO), default="honest")
    parser.add_argument("--results", default="results", help="folder of the store")
    chosen = parser.parse_args()
    records = [record for record in Store(chosen.results).records() if record.unit.protocol == chosen.protocol]
    settings = parse_settings(chosen.a), parse_settings(chosen.b)
    print(f"{'':32} {'folds':>5} {chosen.models[0]:>14} {chosen.models[1]:>14} {'difference':>10} {'p':>6}")
    for graph in (False, True):
        for dataset in list_datasets():
            pair = [
                fold_means(select(records, model, dataset, graph, named))
                for model, named in zip(chosen.models, settings, strict=True)
            ]
            first, second = ({fold: means[fold] for fold in set(pair[0]) & set(pair[1])} for means in pair)
            if first:
                print_line(f"{dataset} {'with' if graph else 'without'} graph", first, second, RATIO[chosen.protocol])


def select(records: list[Record], model: str, dataset: str, graph: bool, named: dict[str, Any]) -> list[Record]:
    """The runs of a model with these settings; an MLP, which sees no graph, stands beside both."""
    place = (model, dataset, graph and SYSTEMS[model].uses_graph)
    return [
        record
        for record in records
        if (record.unit.model, record.unit.dataset, record.unit.graph) == place
        and record.unit.settings == default_settings(model, dataset, record.unit.protocol) | named
    ]


def print_line(place: str, first: dict[int, float], second: dict[int, float], ratio: float) -> None:
    """One row, of two models on the same folds."""
    test = corrected_paired_t(first, second, ratio)
    assert test.difference is not None
    means = [100 * fmean(means.values()) for means in (first, second)]
    p_value = "" if test.p_value is None else f"{test.p_value:.3f}"
    print(
        f"{place:32} {len(first):>5} {means[0]:>14.1f} {means[1]:>14.1f} {100 * test.difference:>+10.1f} {p_value:>6}"
    )


if __name__ == "__main__":
    main()
