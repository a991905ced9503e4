"""Tables as Markdown, LaTeX (booktabs) and CSV, written atomically."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from latopo._files import atomic_path
from latopo.reproduce.experiments import DATASET_TITLES
from latopo.reproduce.paper import contradictions, paper_number
from latopo.reproduce.tables import ResultTable
from latopo.reproduce.unit import USUAL_PROTOCOLS

__all__ = ["latex", "markdown", "markdown_grid", "write_table", "write_texts"]

_MISSING = "–"
_Grid = list[list[str]]


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _count(least: int, most: int, expected: int, noun: str) -> str:
    plural = noun if max(most, expected) == 1 else f"{noun}s"
    if least != most:
        return f"{least}–{most} of {expected} {plural}"
    return f"{most} {plural}" if most == expected else f"{most}/{expected} {plural}"


def _ours(cell: Any, digits: int) -> str:
    """``81.20 ± 6.10 (10 folds, 3 seeds), Δ −4.51``."""
    if cell.ours_mean is None:
        return _MISSING
    spread = "" if cell.ours_std is None else f" ± {cell.ours_std:.{digits}f}"
    folds = _count(cell.folds, cell.folds, cell.expected_folds, "fold")
    seeds = _count(cell.least_seeds, cell.most_seeds, cell.expected_seeds, "seed")
    delta = "" if cell.difference is None else f", Δ {_signed(cell.difference, digits)}"
    return f"{cell.ours_mean:.{digits}f}{spread} ({folds}, {seeds}){delta}"


def _printed(cell: Any) -> str:
    if cell.paper_printed is None:
        return _MISSING
    number = paper_number(cell.table, cell.dataset, cell.graph == "with", cell.model, cell.value)
    return f"{cell.paper_printed} †" if any(number in numbers for numbers in contradictions()) else cell.paper_printed


def _main_grid(table: ResultTable) -> _Grid:
    """Header, then for every model one line per protocol and one with the paper's number."""
    digits = 2 if table.experiment.scale == 100 else 3
    grid = [["graph", "model", "protocol", *(DATASET_TITLES[dataset] for dataset in table.datasets)]]
    for (graph, model, value), block in table.cells.groupby(["graph", "model", "value"], sort=False, dropna=False):
        label = [graph, f"{model}, {table.experiment.variable} = {value}" if table.experiment.variable else model]
        if model == "input":
            label[1] = "input graph"
        else:
            for protocol, cells in block.groupby("protocol", sort=False):
                if protocol not in USUAL_PROTOCOLS and cells.ours_mean.isna().all():
                    continue  # an additional protocol shows where it was run
                grid.append([*label, protocol, *(_ours(cell, digits) for cell in cells.itertuples())])
        if block.paper_printed.notna().any():
            printed = block[block.protocol == table.protocols[0]].itertuples()
            grid.append([*label, "(printed in the paper)", *map(_printed, printed)])
    return grid


def _test_text(test: Any) -> str:
    if test.difference is None:
        return _MISSING
    chance = "" if test.p_holm is None else ", p < 0.001" if test.p_holm < 0.001 else f", p = {test.p_holm:.3f}"
    return f"{_signed(test.difference, 2)}{chance} ({test.folds} {'fold' if test.folds == 1 else 'folds'})"


def _test_grid(table: ResultTable) -> _Grid:
    """Header, then one line per model of ours, graph setting, protocol and baseline."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for test in sorted(table.tests.itertuples(), key=lambda test: test.graph == "with"):
        lines.setdefault((test.graph, test.model, test.baseline, test.protocol), []).append(_test_text(test))
    header = ["graph", "model", "against", "protocol", *(DATASET_TITLES[dataset] for dataset in table.datasets)]
    shown = (place for place, texts in lines.items() if place[3] in USUAL_PROTOCOLS or set(texts) != {_MISSING})
    return [header, *([*place, *lines[place]] for place in shown)]


def _escape_markdown(text: str) -> str:
    for sign in "\\`*_{}[]<>|#~":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def markdown_grid(grid: _Grid) -> str:
    """Lines of cells, the header first, as a Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in grid]
    return "\n".join([lines[0], "|" + " --- |" * len(grid[0]), *lines[1:]])


def _escaped_grid(grid: _Grid) -> str:
    return markdown_grid([list(map(_escape_markdown, line)) for line in grid])


def markdown(table: ResultTable) -> str:
    """The table, its caption, the tests and the notes as GitHub Markdown."""
    parts = [f"# {_escape_markdown(table.experiment.title)}", _escaped_grid(_main_grid(table))]
    if not table.tests.empty:
        parts += ["## Are our models better than the baselines?", _escaped_grid(_test_grid(table))]
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
    """The table, the tests, caption and notes as one LaTeX ``table*``; needs the packages booktabs and graphicx."""
    grids = [_main_grid(table)] + ([_test_grid(table)] if not table.tests.empty else [])
    bodies = [rf"\resizebox{{\textwidth}}{{!}}{{{_latex_grid(grid)}}}" for grid in grids]
    caption = " ".join([table.caption, *(f"{note.rstrip('.')}." for note in table.notes)]).translate(_LATEX)
    parts = [r"\begin{table*}", r"\centering", *bodies, rf"\caption{{{caption}}}"]
    return "\n".join([*parts, rf"\label{{tab:latopo-{table.experiment.name}}}", r"\end{table*}"]) + "\n"


def write_table(table: ResultTable, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``<table>.md``, ``.tex``, ``.csv``, ``-folds.csv`` and, with tests, ``-tests.csv``; returns the paths.

    Each file is replaced in one step, so a reader or a kill never meets half a table.
    """
    texts = {".md": markdown(table), ".tex": latex(table)}
    scores = [(*cell[:7], *score) for cell in table.cells.itertuples(index=False) for score in cell.scores.items()]
    folds = pd.DataFrame(scores, columns=[*table.cells.columns[:7], "fold", "score"], dtype=object)
    frames = {".csv": table.cells.drop(columns="scores"), "-folds.csv": folds}
    frames |= {} if table.tests.empty else {"-tests.csv": table.tests}
    texts |= {ending: frame.to_csv(index=False, lineterminator="\n") for ending, frame in frames.items()}
    return write_texts(folder, {f"{table.experiment.name}{ending}": text for ending, text in texts.items()})


def write_texts(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> list[Path]:
    """Write files by their names, each in one step; returns the paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with atomic_path(Path(folder) / name) as draft:
            draft.write_text(text, encoding="utf-8", newline="")
    return [Path(folder) / name for name in texts]
