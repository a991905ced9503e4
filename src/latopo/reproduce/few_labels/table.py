"""From records to tables: accuracies beside published ones, and paired tests against every rival."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from latopo.reproduce.few_labels.rivals import RIVALS
from latopo.reproduce.few_labels.tasks import TASKS, Task
from latopo.reproduce.few_labels.work import FewLabelsRecord
from latopo.reproduce.render import markdown_grid, write_texts
from latopo.reproduce.statistics import corrected_paired_t, holm

__all__ = ["accuracies", "first_places", "markdown", "paired_tests", "published", "write_few_labels"]

_OURS = "alpha-diffusion"
_NEAR = 0.5  # points within which a place counts as shared
_MISSING = "–"
_KINDS = {
    "tables": "Tables: 5, 10, 20 labels per class, none to choose on",
    "public": "Documents: Planetoid's public split",
    "random": "Documents: random splits of that size",
    "more labels": "Documents: training nodes and the first half of the validation nodes learn, the other half chooses",
    "folds": "Many labels: the paper's ten folds, honest",
    "validated": "Tables with validation labels: so many labels, twice as many to choose on",
}
_CAPTION = (
    "Test accuracy in per cent, mean ± sample standard deviation over the draws; no graph is given, but to gcn, the "
    "ceiling. Every rival has up to six settings, chosen on the validation rows, or by five stratified folds of the "
    "labelled rows where there are none. Words are unit rows of presence · √idf for all, numbers standardised (pixels "
    "divided by the largest). **Where a task has validation rows, alpha-diffusion takes the shares of the classes from "
    "them, beside the weights of its branches.** Its constants were fixed on other draws and on random splits without "
    "the public test nodes; these figures were then looked at once (tables twice: a first version had been seen on "
    "these draws before today's was developed on others). Seconds are those of one core, the choice included."
)


def published() -> dict[str, Any]:
    """The published figures and their protocol."""
    text = files("latopo.reproduce.few_labels").joinpath("published.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def accuracies(records: Iterable[FewLabelsRecord]) -> pd.DataFrame:
    """One line per task and model: mean, std (in per cent), draws and seconds.

    Records of settings that have changed since are left out.
    """
    columns = ["task", "model", "draw", "accuracy", "seconds"]
    rows = [
        (record.unit.task, record.unit.model, record.unit.draw, 100 * record.accuracy, record.seconds)
        for record in _current(records)
    ]
    groups = pd.DataFrame(rows, columns=columns).groupby(["task", "model"])
    found = groups.agg(
        mean=("accuracy", "mean"), std=("accuracy", "std"), draws=("draw", "count"), seconds=("seconds", "mean")
    ).reset_index()
    order = {name: place for names in (TASKS, RIVALS) for place, name in enumerate(names)}
    return found.sort_values(["task", "model"], key=lambda names: names.map(order), ignore_index=True)


def _current(records: Iterable[FewLabelsRecord]) -> Iterator[FewLabelsRecord]:
    """Those of tasks and rivals that there are, with the settings that they have now."""
    for record in records:
        known = record.unit.task in TASKS and record.unit.model in RIVALS
        if known and record.key == record.unit.key:
            yield record


def paired_tests(records: Iterable[FewLabelsRecord]) -> pd.DataFrame:
    """The recipe against every rival on each task: corrected paired t-tests over the draws, Holm's within a task."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for record in _current(records):
        scores.setdefault((record.unit.task, record.unit.model), {})[record.unit.draw] = 100 * record.accuracy
        sizes[record.unit.task] = (record.num_train, record.num_test)
    lines = []
    for task in (task for task in TASKS if (task, _OURS) in scores):
        names = [name for name in RIVALS if name != _OURS and (task, name) in scores]
        train, test = sizes[task]
        tests = [corrected_paired_t(scores[task, _OURS], scores[task, name], test / train) for name in names]
        adjusted = holm([test.p_value for test in tests])
        for name, outcome, p_holm in zip(names, tests, adjusted, strict=True):
            lines.append((task, name, outcome.num_folds, outcome.difference, outcome.p_value, p_holm))
    return pd.DataFrame(lines, columns=["task", "against", "draws", "difference", "p", "p_holm"])


def first_places(cells: pd.DataFrame) -> tuple[int, int]:
    """In how many tables the recipe is first or within half a point of the first, and how many have a rival."""
    first = total = 0
    for name, group in cells.groupby("task"):
        means = group.set_index("model")["mean"]
        if TASKS[str(name)].kind == "tables" and _OURS in means and len(means) > 1:
            total += 1
            first += bool(means[_OURS] >= means.max() - _NEAR)
    return first, total


def markdown(records: Sequence[FewLabelsRecord]) -> str:
    """All tables with their caption."""
    cells = accuracies(records)
    parts = ["# Few labels", _CAPTION]
    for kind, title in _KINDS.items():
        tasks = [task for task in TASKS.values() if task.kind == kind and task.name in set(cells.task)]
        if tasks:
            parts += [f"## {title}", _grid(tasks, cells)]
        if kind == "tables" and tasks:
            first, total = first_places(cells)
            parts.append(f"alpha-diffusion is first, or within {_NEAR} points of the first, in {first} of {total}.")
    tests = paired_tests(records)
    parts += ["## Is the recipe better than its rivals?", _tests(tests), published()["protocol"]]
    return "\n\n".join(parts) + "\n"


def _grid(tasks: list[Task], cells: pd.DataFrame) -> str:
    """Rows are models, then published figures; the best mean without the given graph is bold."""
    by_place = cells.set_index(["model", "task"])
    lines = [["model", *(task.title for task in tasks)]]
    best = {
        task.name: max(cells[(cells.task == task.name) & (cells.model != "gcn")]["mean"], default=None)
        for task in tasks
    }
    for name in RIVALS:
        row = [_cell(by_place, name, task, best[task.name]) for task in tasks]
        if set(row) != {_MISSING}:
            lines.append([name, *row])
    figures = {(item["model"], item["task"]): item for item in published()["figures"]}
    for name in dict.fromkeys(model for model, _ in figures):
        row = [_printed(figures.get((name, task.name))) for task in tasks]
        if set(row) != {_MISSING}:
            lines.append([f"{name} (published)", *row])
    return markdown_grid(lines)


def _cell(by_place: pd.DataFrame, model: str, task: Task, best: float | None) -> str:
    if (model, task.name) not in by_place.index:
        return _MISSING
    cell: Any = by_place.loc[(model, task.name)]
    spread = "" if task.draws == 1 or pd.isna(cell["std"]) else f" ± {cell['std']:.1f}"
    text = f"{cell['mean']:.1f}"
    text = f"**{text}**" if cell["mean"] == best else text
    draws = "" if cell["draws"] == task.draws else f", {cell['draws']:.0f} of {task.draws} draws"
    return f"{text}{spread} ({cell['seconds']:.1f} s{draws})"


def _printed(figure: dict[str, str] | None) -> str:
    if figure is None:
        return _MISSING
    return figure["printed"] + (f" (re-run {figure['rerun']})" if "rerun" in figure else "")


def _tests(tests: pd.DataFrame) -> str:
    """Per rival: on how many tasks the recipe is ahead, and on how many beyond chance, both ways."""
    lines = [["against", "tasks", "ahead", "ahead, p < 0.05", "behind, p < 0.05"]]
    for name in RIVALS:
        found = tests[(tests.against == name) & tests.p_holm.notna()]
        if len(found):
            sure = found[found.p_holm < 0.05]
            counts = (
                len(found),
                (found.difference > 0).sum(),
                (sure.difference > 0).sum(),
                (sure.difference < 0).sum(),
            )
            lines.append([name, *map(str, counts)])
    rule = (
        "Corrected paired t-tests over the draws (Nadeau and Bengio), p-values by Holm's method within a task. The "
        "correction grows with test rows over labelled rows, here often ten to a hundred: it can hardly ever be passed."
    )
    return f"{markdown_grid(lines)}\n\n{rule}"


def write_few_labels(records: Sequence[FewLabelsRecord], folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``few-labels.md``, ``few-labels.csv`` and ``few-labels-tests.csv``; returns the paths."""
    contents = {
        "few-labels.md": markdown(records),
        "few-labels.csv": accuracies(records).to_csv(index=False, lineterminator="\n"),
        "few-labels-tests.csv": paired_tests(records).to_csv(index=False, lineterminator="\n"),
    }
    return write_texts(folder, contents)
