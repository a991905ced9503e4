"""Tables as Markdown, LaTeX (booktabs) and CSV, written atomically."""

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from latopo._files import atomic_path
from latopo.reproduce.experiments import DATASET_TITLES, Row
from latopo.reproduce.paper import PaperNumber, contradictions
from latopo.reproduce.record import Protocol
from latopo.reproduce.statistics import Summary
from latopo.reproduce.tables import Cell, Comparison, Table

__all__ = ["cells_csv", "comparisons_csv", "folds_csv", "latex", "markdown", "write_table"]

_MISSING = "–"
_Grid = list[list[str]]


def _graph(graph: bool) -> str:
    return "with" if graph else "without"


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−")


def _count(done: int, expected: int, noun: str) -> str:
    plural = noun if max(done, expected) == 1 else f"{noun}s"
    return f"{done} {plural}" if done == expected else f"{done}/{expected} {plural}"


def _ours(cell: Cell, protocol: Protocol, digits: int) -> str:
    """``81.20 ± 6.10 (10 folds, 3 seeds), Δ −4.51``."""
    ours = cell.ours.get(protocol)
    if ours is None:
        return _MISSING
    spread = "" if ours.std is None else f" ± {ours.std:.{digits}f}"
    counts = f"{_count(len(ours.folds), cell.expected_folds, 'fold')}, {_seeds(ours, cell.expected_seeds)}"
    difference = cell.difference(protocol)
    delta = "" if difference is None else f", Δ {_signed(difference, digits)}"
    return f"{ours.mean:.{digits}f}{spread} ({counts}){delta}"


def _seeds(ours: Summary, expected: int) -> str:
    least, most = ours.seeds
    return _count(least, expected, "seed") if least == most else f"{least}–{most} of {expected} seeds"


def _printed(number: PaperNumber | None) -> str:
    if number is None:
        return _MISSING
    is_contradicted = any(number in clash.numbers for clash in contradictions())
    return f"{number.printed} †" if is_contradicted else number.printed


def _label(table: Table, row: Row) -> str:
    if row.model == "input":
        return "input graph"
    return row.model if row.value is None else f"{row.model}, {table.experiment.variable} = {row.value}"


def _main_grid(table: Table) -> _Grid:
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
    test = comparison.test
    if test.difference is None:
        return _MISSING
    p_value = "" if comparison.p_adjusted is None else f", p {_p_text(comparison.p_adjusted)}"
    return f"{_signed(test.difference, 2)}{p_value} ({_count(test.num_folds, test.num_folds, 'fold')})"


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


def _test_grid(table: Table) -> _Grid:
    """Header, then one line per model of ours, graph setting, protocol and baseline."""
    lines: dict[tuple[bool, str, Protocol, str], dict[str, str]] = {}
    for item in table.comparisons:
        place = (item.graph, item.model, item.protocol, item.baseline)
        lines.setdefault(place, {})[item.dataset] = _test_text(item)
    grid = [["graph", "model", "against", "protocol", *(DATASET_TITLES[dataset] for dataset in table.datasets)]]
    for (graph, model, protocol, baseline), texts in sorted(lines.items(), key=lambda line: line[0][0]):
        grid.append([_graph(graph), model, baseline, protocol, *(texts[dataset] for dataset in table.datasets)])
    return grid


def _escape_markdown(text: str) -> str:
    for sign in "\\`*_{}[]<>|#~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _markdown_grid(grid: _Grid) -> str:
    lines = [f"| {' | '.join(map(_escape_markdown, line))} |" for line in grid]
    return "\n".join([lines[0], "|" + " --- |" * len(grid[0]), *lines[1:]])


def markdown(table: Table) -> str:
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


_LATEX = {
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


def _escape_latex(text: str) -> str:
    # One pass over the characters: replacing one sign after another would escape the escapes.
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _latex_grid(grid: _Grid) -> str:
    header, *lines = [" & ".join(map(_escape_latex, line)) + r" \\" for line in grid]
    columns = "l" * len(grid[0])
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule", *lines]) + (
        "\n\\bottomrule\n\\end{tabular}"
    )


def latex(table: Table) -> str:
    """The table, the tests, caption and notes as one LaTeX ``table*``; needs the packages booktabs and graphicx.

    Example:
        >>> from latopo.reproduce.tables import build_table
        >>> print(latex(build_table("depth", [], ["cora"], protocols=["honest"])).splitlines()[7])
        without & dcm, rounds = 1 & honest & -- \\\\
    """
    grids = [_main_grid(table)] + ([_test_grid(table)] if table.comparisons else [])
    bodies = [rf"\resizebox{{\textwidth}}{{!}}{{{_latex_grid(grid)}}}" for grid in grids]
    caption = _escape_latex(" ".join([table.caption, *(f"{note.rstrip('.')}." for note in table.notes)]))
    parts = [r"\begin{table*}", r"\centering", *bodies, rf"\caption{{{caption}}}"]
    return "\n".join([*parts, rf"\label{{tab:latopo-{table.experiment.name}}}", r"\end{table*}"]) + "\n"


def _csv(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if value is None else value for value in line] for line in lines)
    return text.getvalue()


_PLACE = ("table", "dataset", "graph", "model", "variable", "value")
_SUMMARY = ("ours_mean", "ours_std", "folds", "expected_folds", "least_seeds", "most_seeds", "expected_seeds")
_PAPER = ("paper_mean", "paper_std", "paper_printed", "difference")
_TEST = ("table", "dataset", "graph", "protocol", "model", "baseline", "folds", "difference", "t", "p", "p_holm")


def _place(table: Table, row: Row, dataset: str) -> tuple[object, ...]:
    variable = table.experiment.variable
    return (table.experiment.name, dataset, _graph(row.graph), row.model, variable, row.value)


def cells_csv(table: Table) -> str:
    """One line per row, data set and protocol, at full precision; an empty field is a missing value.

    Example:
        >>> from latopo.reproduce.tables import build_table
        >>> print(cells_csv(build_table("depth", [], ["cora"], protocols=["honest"])).splitlines()[2])
        depth,cora,without,dcm,rounds,1,honest,,,0,10,0,0,1,78.8,1.84,78.80 ± 1.84,
    """
    lines: list[tuple[object, ...]] = []
    for row, cells in table.cells.items():
        for dataset, cell in cells.items():
            number = cell.paper
            paper = (None, None, None) if number is None else (number.mean, number.std, number.printed)
            for protocol in table.protocols:
                ours = _summary_fields(cell, protocol)
                lines.append((*_place(table, row, dataset), protocol, *ours, *paper, cell.difference(protocol)))
    return _csv((*_PLACE, "protocol", *_SUMMARY, *_PAPER), lines)


def _summary_fields(cell: Cell, protocol: Protocol) -> tuple[object, ...]:
    ours = cell.ours.get(protocol)
    if ours is None:
        return (None, None, 0, cell.expected_folds, 0, 0, cell.expected_seeds)
    return (ours.mean, ours.std, len(ours.folds), cell.expected_folds, *ours.seeds, cell.expected_seeds)


def folds_csv(table: Table) -> str:
    """One line per row, data set, protocol and fold: the mean over the fold's seeds, in the table's unit."""
    lines = (
        (*_place(table, row, dataset), protocol, fold, value)
        for row, cells in table.cells.items()
        for dataset, cell in cells.items()
        for protocol, ours in cell.ours.items()
        if ours is not None
        for fold, value in ours.folds.items()
    )
    return _csv((*_PLACE, "protocol", "fold", "score"), lines)


def comparisons_csv(table: Table) -> str:
    """One line per test of a model of ours against a baseline; Holm's correction is in the last column."""
    lines: list[tuple[object, ...]] = []
    for item in table.comparisons:
        place = (table.experiment.name, item.dataset, _graph(item.graph), item.protocol, item.model, item.baseline)
        test = item.test
        lines.append((*place, test.num_folds, test.difference, test.statistic, test.p_value, item.p_adjusted))
    return _csv(_TEST, lines)


def write_table(table: Table, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``<table>.md``, ``.tex``, ``.csv``, ``-folds.csv`` and, with tests, ``-tests.csv``; returns the paths.

    Each file is replaced in one step, so a reader or a kill never meets half a table.
    """
    formats: dict[str, Callable[[Table], str]] = {
        ".md": markdown,
        ".tex": latex,
        ".csv": cells_csv,
        "-folds.csv": folds_csv,
    }
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
