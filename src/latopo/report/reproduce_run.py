"""The report of a folder that ``latopo reproduce`` wrote: the tables of all finished runs."""

from pathlib import Path
from typing import Any

from latopo.errors import LatopoError
from latopo.report.report_data import ReportData, ShownCell, ShownRow, ShownTable
from latopo.reproduce import Record, Store, build_table
from latopo.reproduce.experiments import DATASET_TITLES, EXPERIMENTS
from latopo.reproduce.tables import ResultTable
from latopo.reproduce.unit import PROTOCOLS, Protocol

__all__ = ["read_results"]

_PROTOCOL_WORDS: dict[Protocol, str] = {
    "honest": "the epoch is chosen without the test points",
    "paper": "the best test score is reported, as in the paper's experiments",
    "patient": "as honest, with up to 1,000 epochs",
}


def read_results(folder: Path) -> ReportData:
    """Read a store of results: every table that has runs, once per protocol, and the tests against the baselines."""
    records = Store(folder).records()
    if not records:
        raise LatopoError(f"report: {folder} has no finished runs; let latopo reproduce finish one first")
    tables = [table for name in EXPERIMENTS for protocol in PROTOCOLS for table in _tables(name, records, protocol)]
    if not tables:
        raise LatopoError(f"report: the runs in {folder} do not belong to any table of the paper")
    datasets = sorted({record.unit.dataset for record in records})
    return ReportData(
        title="The paper's tables, reproduced",
        story=(
            f"{len(records):,} training runs on {', '.join(DATASET_TITLES.get(name, name) for name in datasets)}.",
            "Each number is a mean over folds; below it is the paper's number, beside it how far ours is from that.",
        ),
        tables=tuple(tables),
    )


def _tables(name: str, records: list[Record], protocol: Protocol) -> list[ShownTable]:
    experiment = EXPERIMENTS[name]
    seen = {record.unit.dataset for record in records if record.unit.protocol == protocol}
    datasets = [dataset for dataset in experiment.known_datasets if dataset in seen]
    if not datasets:
        return []
    table = build_table(name, records, datasets, protocols=[protocol])
    if table.cells.ours_mean.isna().all():
        return []
    return [_main_table(table, protocol), *_test_table(table, protocol)]


def _title(table: ResultTable, protocol: Protocol, what: str = "") -> str:
    return f"{table.experiment.title}{what} (protocol {protocol}: {_PROTOCOL_WORDS[protocol]})"


def _columns(table: ResultTable) -> tuple[str, ...]:
    return tuple(DATASET_TITLES[dataset] for dataset in table.datasets)


def _main_table(table: ResultTable, protocol: Protocol) -> ShownTable:
    rows = []
    for _, cells in table.cells.groupby(["graph", "model", "value"], sort=False, dropna=False):
        if cells.ours_mean.notna().any() or cells.model.iloc[0] == "input":
            rows.append(ShownRow(_labels(cells.iloc[0]), tuple(map(_cell, cells.itertuples()))))
    labels = ("graph", "model") if table.experiment.variable is None else ("graph", "model", table.experiment.variable)
    digits = 2 if table.experiment.scale == 100 else 3
    return ShownTable(_title(table, protocol), labels, _columns(table), tuple(rows), digits, table.caption, table.notes)


def _labels(cell: Any) -> tuple[str, ...]:
    labels = (cell.graph, "input graph" if cell.model == "input" else cell.model)
    return labels if cell.variable is None else (*labels, "–" if cell.value is None else str(cell.value))


def _cell(cell: Any) -> ShownCell:
    remark = "" if cell.paper_printed is None else f"paper {cell.paper_printed}"
    if cell.ours_mean is None:
        return ShownCell(None, remark=remark)
    if cell.folds < cell.expected_folds:
        remark = ", ".join(filter(None, [remark, f"{cell.folds} of {cell.expected_folds} folds"]))
    return ShownCell(cell.ours_mean, cell.ours_std, tuple(cell.scores.values()), remark, cell.difference)


def _test_table(table: ResultTable, protocol: Protocol) -> list[ShownTable]:
    """Our models against each baseline: mean paired difference and adjusted p."""
    lines: dict[tuple[str, str, str], dict[str, ShownCell]] = {}
    for test in table.tests[table.tests.difference.notna()].itertuples():
        untested = "one fold" if test.folds == 1 else "the same in every fold"
        p_text = untested if test.p_holm is None else f"p = {test.p_holm:.3f}"
        lines.setdefault((test.graph, test.model, test.baseline), {})[test.dataset] = ShownCell(
            test.difference, remark=p_text
        )
    if not lines:
        return []
    empty = ShownCell(None)
    rows = [ShownRow(place, tuple(cells.get(name, empty) for name in table.datasets)) for place, cells in lines.items()]
    caption = "Mean difference over common folds, in points; p after Holm's correction. Positive: ours is better."
    title = _title(table, protocol, ": our models against the baselines")
    return [ShownTable(title, ("graph", "model", "against"), _columns(table), tuple(rows), caption=caption)]
