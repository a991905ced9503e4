"""Our models against the baselines, fold by fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from latopo.models import SYSTEMS
from latopo.reproduce.experiments import Experiment, ResultRow
from latopo.reproduce.record import Record
from latopo.reproduce.statistics import PairedTest, corrected_paired_t, fold_means, holm
from latopo.reproduce.unit import Protocol

__all__ = ["Comparison", "Place", "compare"]

Place = tuple[ResultRow, str, Protocol]
"""Row, data set and protocol of a cell."""


@dataclass(frozen=True)
class Comparison:
    """One of our models against one baseline in one column.

    Attributes:
        model, dataset, graph, protocol, baseline: what is compared; a baseline without graph stands in both settings.
        test: the test in the table's unit.
        p_adjusted: p after Holm's correction over the baselines of this model, data set, graph setting and protocol.
    """

    model: str
    dataset: str
    graph: bool
    protocol: Protocol
    baseline: str
    test: PairedTest
    p_adjusted: float | None


def compare(
    item: Experiment,
    groups: Mapping[Place, Sequence[Record]],
    datasets: Sequence[str],
    protocols: Sequence[Protocol],
    rows: Sequence[ResultRow],
) -> tuple[Comparison, ...]:
    """The tests of a table: every model of ours against every baseline, in each column, under each protocol.

    Args:
        item: the table; one that does not show test scores has no tests.
        groups: the records of every cell.
        datasets: columns.
        protocols: protocols shown.
        rows: rows shown.
    """
    if item.quantity != "test_score":
        return ()
    shown = [model for model in item.models if any(row.model == model for row in rows)]
    baselines = [model for model in shown if SYSTEMS[model].role == "baseline"]
    return tuple(
        comparison
        for model in shown
        if SYSTEMS[model].role == "ours"
        for dataset in datasets
        for row in rows
        if row.model == model
        for protocol in protocols
        for comparison in _family(item, groups, row, dataset, protocol, baselines)
    )


def _family(
    item: Experiment,
    groups: Mapping[Place, Sequence[Record]],
    row: ResultRow,
    dataset: str,
    protocol: Protocol,
    baselines: Sequence[str],
) -> list[Comparison]:
    """A model of ours against every baseline in one column: the tests that Holm's correction counts together."""
    ours = groups.get((row, dataset, protocol), [])
    names = [name for name in baselines if row.graph or not SYSTEMS[name].needs_graph]
    tests = []
    for name in names:
        baseline = groups.get((ResultRow(name, row.graph and SYSTEMS[name].uses_graph), dataset, protocol), [])
        tests.append(_paired(ours, baseline, item.scale))
    adjusted = holm([test.p_value for test in tests])
    return [
        Comparison(row.model, dataset, row.graph, protocol, name, test, p_adjusted)
        for name, test, p_adjusted in zip(names, tests, adjusted, strict=True)
    ]


def _paired(ours: Sequence[Record], baseline: Sequence[Record], scale: float) -> PairedTest:
    if not ours or not baseline:
        return PairedTest(None, None, None, 0)
    ratio = fmean(record.num_test for record in ours) / fmean(record.num_train for record in ours)
    scaled = [{fold: scale * mean for fold, mean in fold_means(side).items()} for side in (ours, baseline)]
    return corrected_paired_t(scaled[0], scaled[1], ratio)
