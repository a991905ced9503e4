"""Tables as Markdown, LaTeX (booktabs) and CSV, written atomically."""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from latopo._files import atomic_path
from latopo.reproduce.comparisons import Comparison
from latopo.reproduce.experiments import DATASET_TITLES, ResultRow
from latopo.reproduce.paper import PaperNumber, contradictions
from latopo.reproduce.tables import ResultCell, ResultTable
from latopo.reproduce.unit import Protocol

__all__ = ["cells_csv", "comparisons_csv", "folds_csv", "latex", "markdown", "write_table"]

_MISSING = "–"
_Grid = list[list[str]]


def _graph(graph: bool) -> str:
    return "with" if graph else "without"


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _count(least: int, most: int, expected: int, noun: str) -> str:
    plural = noun if max(most, expected) == 1 else f"{noun}s"
    if least != most:
        return f"{least}–{most} of {expected} {plural}"
    return f"{most} {plural}" if most == expected else f"{most}/{expected} {plural}"


def _ours(cell: ResultCell, protocol: Protocol, digits: int) -> str:
    """``81.20 ± 6.10 (10 folds, 3 seeds), Δ −4.51``."""
    ours = cell.ours.get(protocol)
    if ours is None:
        return _MISSING
    spread = "" if ours.std is None else f" ± {ours.std:.{digits}f}"
    folds = _count(len(ours.folds), len(ours.folds), cell.expected_folds, "fold")
    difference = cell.difference(protocol)
    delta = "" if difference is None else f", Δ {_signed(difference, digits)}"
    return f"{ours.mean:.{digits}f}{spread} ({folds}, {_count(*ours.seeds, cell.expected_seeds, 'seed')}){delta}"


def _printed(number: PaperNumber | None) -> str:
    if number is None:
        return _MISSING
    is_contradicted = any(number in numbers for numbers in contradictions())
    return f"{number.printed} †" if is_contradicted else number.printed


def _label(table: ResultTable, row: ResultRow) -> str:
    if row.model == "input":
        return "input graph"
    return row.model if row.value is None else f"{row.model}, {table.experiment.variable} = {row.value}"


def _main_grid(table: ResultTable) -> _Grid:
    """Header, then for every model one line per protocol and one with the paper's number."""
    digits = 2 if table.experiment.scale == 100 else 3
    grid = [["graph", "model", "protocol", *(DATASET_TITLES[dataset] for dataset in table.datasets)]]
    for row, cells in table.cells.items():
        label = [_graph(row.graph), _label(table, row)]
        if row.model != "input":
            for protocol in table.protocols:
                grid.append([*label, protocol, *(_ours(cell, protocol, digits) for cell in cells.values())])
        if any(cell.paper is not None for cell in cells.values()):
            grid.append([*label, "(printed in the paper)", *(_printed(cell.paper) for cell in cells.values())])
    return grid


def _test_text(comparison: Comparison) -> str:
    test, p_value = comparison.test, comparison.p_adjusted
    if test.difference is None:
        return _MISSING
    chance = "" if p_value is None else ", p < 0.001" if p_value < 0.001 else f", p = {p_value:.3f}"
    return f"{_signed(test.difference, 2)}{chance} ({test.num_folds} {'fold' if test.num_folds == 1 else 'folds'})"


def _test_grid(table: ResultTable) -> _Grid:
    """Header, then one line per model of ours, graph setting, protocol and baseline."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for item in sorted(table.comparisons, key=lambda item: item.graph):
        lines.setdefault((_graph(item.graph), item.model, item.baseline, item.protocol), []).append(_test_text(item))
    header = ["graph", "model", "against", "protocol", *(DATASET_TITLES[dataset] for dataset in table.datasets)]
    return [header, *([*place, *texts] for place, texts in lines.items())]


def _escape_markdown(text: str) -> str:
    for sign in "\\`*_{}[]<>|#~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _markdown_grid(grid: _Grid) -> str:
    lines = [f"| {' | '.join(map(_escape_markdown, line))} |" for line in grid]
    return "\n".join([lines[0], "|" + " --- |" * len(grid[0]), *lines[1:]])


def markdown(table: ResultTable) -> str:
    """The table, its caption, the tests and the notes as GitHub Markdown.

    Example:
        >>> from latopo.reproduce.tables import build_table
        >>> print(markdown(build_table("homophily", [], ["texas"], ["dcm"], ["honest"])).splitlines()[4])
        | without | dcm | honest | – |
    """
    parts = [f"# {_escape_markdown(table.experiment.title)}", _markdown_grid(_main_grid(table))]
    if table.comparisons:
        parts += ["## Are our models better than the baselines?", _markdown_grid(_test_grid(table))]
    parts.append(_escape_markdown(table.caption))
    if table.notes:
        parts.append("\n".join(f"- {_escape_markdown(note)}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
        "Δ": r"$\Delta$",
        "†": r"\dag{}",
        "·": r"$\cdot$",
        "²": "$^2$",
        "α": r"$\alpha$",
    }
)


def _latex_grid(grid: _Grid) -> str:
    header, *lines = [" & ".join(text.translate(_LATEX) for text in line) + r" \\" for line in grid]
    start = rf"\begin{{tabular}}{{{'l' * len(grid[0])}}}"
    return "\n".join([start, r"\toprule", header, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"])


def latex(table: ResultTable) -> str:
    """The table, the tests, caption and notes as one LaTeX ``table*``; needs the packages booktabs and graphicx.

    Example:
        >>> from latopo.reproduce.tables import build_table
        >>> print(latex(build_table("depth", [], ["cora"], protocols=["honest"])).splitlines()[7])
        without & dcm, rounds = 1 & honest & -- \\\\
    """
    grids = [_main_grid(table)] + ([_test_grid(table)] if table.comparisons else [])
    bodies = [rf"\resizebox{{\textwidth}}{{!}}{{{_latex_grid(grid)}}}" for grid in grids]
    caption = " ".join([table.caption, *(f"{note.rstrip('.')}." for note in table.notes)]).translate(_LATEX)
    parts = [r"\begin{table*}", r"\centering", *bodies, rf"\caption{{{caption}}}"]
    return "\n".join([*parts, rf"\label{{tab:latopo-{table.experiment.name}}}", r"\end{table*}"]) + "\n"


def _csv(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *lines])  # None is an empty field
    return text.getvalue()


_PLACE = ("table", "dataset", "graph", "model", "variable", "value", "protocol")
_SUMMARY = ("ours_mean", "ours_std", "folds", "expected_folds", "least_seeds", "most_seeds", "expected_seeds")
_PAPER = ("paper_mean", "paper_std", "paper_printed", "difference")
_TEST = ("table", "dataset", "graph", "protocol", "model", "baseline", "folds", "difference", "t", "p", "p_holm")


def _cells(table: ResultTable) -> Iterator[tuple[tuple[object, ...], ResultCell, Protocol]]:
    """The fields that say where a cell stands, the cell, and the protocol."""
    item = table.experiment
    for row, cells in table.cells.items():
        for (dataset, cell), protocol in product(cells.items(), table.protocols):
            place = (item.name, dataset, _graph(row.graph), row.model, item.variable, row.value, protocol)
            yield place, cell, protocol


def cells_csv(table: ResultTable) -> str:
    """One line per row, data set and protocol, at full precision; an empty field is a missing value.

    Example:
        >>> from latopo.reproduce.tables import build_table
        >>> print(cells_csv(build_table("depth", [], ["cora"], protocols=["honest"])).splitlines()[2])
        depth,cora,without,dcm,rounds,1,honest,,,0,10,0,0,1,78.8,1.84,78.80 ± 1.84,
    """
    lines = []
    for place, cell, protocol in _cells(table):
        ours, number = cell.ours.get(protocol), cell.paper
        mean, std, folds = (None, None, 0) if ours is None else (ours.mean, ours.std, len(ours.folds))
        counts = (folds, cell.expected_folds, *((0, 0) if ours is None else ours.seeds), cell.expected_seeds)
        paper = (None, None, None) if number is None else (number.mean, number.std, number.printed)
        lines.append((*place, mean, std, *counts, *paper, cell.difference(protocol)))
    return _csv((*_PLACE, *_SUMMARY, *_PAPER), lines)


def folds_csv(table: ResultTable) -> str:
    """One line per row, data set, protocol and fold: the mean over the fold's seeds, in the table's unit."""
    summaries = ((place, cell.ours.get(protocol)) for place, cell, protocol in _cells(table))
    lines = ((*place, *fold) for place, ours in summaries if ours is not None for fold in ours.folds.items())
    return _csv((*_PLACE, "fold", "score"), lines)


def comparisons_csv(table: ResultTable) -> str:
    """One line per test of a model of ours against a baseline; Holm's correction is in the last column."""
    lines = []
    for item in table.comparisons:
        place = (table.experiment.name, item.dataset, _graph(item.graph), item.protocol, item.model, item.baseline)
        test = item.test
        lines.append((*place, test.num_folds, test.difference, test.statistic, test.p_value, item.p_adjusted))
    return _csv(_TEST, lines)


def write_table(table: ResultTable, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``<table>.md``, ``.tex``, ``.csv``, ``-folds.csv`` and, with tests, ``-tests.csv``; returns the paths.

    Each file is replaced in one step, so a reader or a kill never meets half a table.
    """
    formats: dict[str, Callable[[ResultTable], str]] = {
        ".md": markdown, ".tex": latex, ".csv": cells_csv, "-folds.csv": folds_csv,
    }  # fmt: skip
    if table.comparisons:
        formats["-tests.csv"] = comparisons_csv
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = []
    for ending, render in formats.items():
        path = Path(folder) / f"{table.experiment.name}{ending}"
        with atomic_path(path) as draft:
            draft.write_text(render(table), encoding="utf-8", newline="")
        paths.append(path)
    return paths
