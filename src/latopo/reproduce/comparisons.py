"""Our models against the baselines, fold by fold."""

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean

import pandas as pd

from latopo.models import find_system
from latopo.reproduce.experiments import Experiment, ResultRow
from latopo.reproduce.record import Record
from latopo.reproduce.statistics import PairedTest, corrected_paired_t, fold_means, holm
from latopo.reproduce.unit import Protocol

__all__ = ["Place", "compare"]

Place = tuple[ResultRow, str, Protocol]
"""Row, data set and protocol of a cell."""

_COLUMNS = ("table", "dataset", "graph", "protocol", "model", "baseline", "folds", "difference", "t", "p", "p_holm")


def compare(
    item: Experiment,
    groups: Mapping[Place, Sequence[Record]],
    datasets: Sequence[str],
    protocols: Sequence[Protocol],
    rows: Sequence[ResultRow],
) -> pd.DataFrame:
    """The tests of a table: every model of ours against every baseline, in each column, under each protocol.

    ``difference`` is in the table's unit; ``p_holm`` is p after Holm's correction over the baselines of one model, data
    set, graph setting and protocol. A baseline without graph stands in both settings. A table that does not show test
    scores has no tests.
    """
    role = {row.model: find_system(row.model).role for row in rows if item.quantity == "test_score"}
    shown = [model for model in item.models if model in role]
    baselines = [model for model in shown if role[model] == "baseline"]
    lines: list[tuple[object, ...]] = []
    for model, dataset in product([model for model in shown if role[model] == "ours"], datasets):
        for row, protocol in product([row for row in rows if row.model == model], protocols):
            if protocol not in row.protocols:
                continue
            names = [name for name in baselines if row.graph or not find_system(name).needs_graph]
            tests = [_test(item, groups, (row, dataset, protocol), name) for name in names]
            place = (item.name, dataset, row.given, protocol, model)
            for name, test, p_holm in zip(names, tests, holm([test.p_value for test in tests]), strict=True):
                lines.append((*place, name, test.num_folds, test.difference, test.statistic, test.p_value, p_holm))
    return pd.DataFrame(lines, columns=_COLUMNS, dtype=object)


def _test(item: Experiment, groups: Mapping[Place, Sequence[Record]], place: Place, name: str) -> PairedTest:
    """The model of a cell against a baseline beside it."""
    row, dataset, protocol = place
    beside = ResultRow(name, row.graph and find_system(name).uses_graph)
    ours, baseline = groups.get(place), groups.get((beside, dataset, protocol))
    if not ours or not baseline:
        return PairedTest(None, None, None, 0)
    ratio = fmean(record.num_test for record in ours) / fmean(record.num_train for record in ours)
    scaled = [{fold: item.scale * mean for fold, mean in fold_means(side).items()} for side in (ours, baseline)]
    return corrected_paired_t(scaled[0], scaled[1], ratio)
