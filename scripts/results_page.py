"""Write the generated parts of docs/results.md from the store: the counts of the goals and the table of accuracies.

    python scripts/results_page.py

A part stands between ``<!-- name -->`` and ``<!-- end -->``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latopo.reproduce import Record, Store, build_table, paper_number
from latopo.reproduce.experiments import DATASET_TITLES, needed_folds
from latopo.reproduce.goals import count_goals, goals_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results.md"
TABLES = {
    "table2": ("texas", "wisconsin", "squirrel", "chameleon"),
    "table1": ("cora", "citeseer", "pubmed", "cs", "physics"),
}
HONEST = (
    "mlp", "gcn", "dgm-e", "dgm-m", "dcm", "dcm-all", "dcm-released", "gcn-plus", "dcm-plus", "gcn-judged",
    "dcm-judged", "dcm-fused",
)  # fmt: skip
PAPER = ("mlp", "gcn", "dcm", "dcm-all", "dcm-released", "dcm-plus", "dcm-judged")


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8"), parts(Store(ROOT / "results").records())))


def parts(records: Sequence[Record]) -> dict[str, str]:
    """What is generated, by name."""
    return {"goals": goals_text(count_goals(records)), "accuracy": accuracy(records)}


def with_parts(page: str, found: dict[str, str]) -> str:
    """The page with these parts in their places."""
    for name, text in found.items():
        before, rest = page.split(f"<!-- {name} -->\n")
        page = f"{before}<!-- {name} -->\n\n{text}\n\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def accuracy(records: Sequence[Record]) -> str:
    """Two tables, without and with graph: means of the cells that have all their folds."""
    cells = {
        (cell.graph, cell.model, cell.protocol, cell.dataset): cell
        for name in TABLES
        for cell in build_table(name, records, settings={}).cells.itertuples()
    }
    datasets = [dataset for names in TABLES.values() for dataset in names]
    lines = []
    for given in ("without", "with"):
        lines += [
            "" if lines else None, f"**{given.capitalize()} graph**", "",
            f"| protocol | model | {' | '.join(DATASET_TITLES[name] for name in datasets)} |",
            "|" + " --- |" * (2 + len(datasets)),
        ]  # fmt: skip
        for protocol, models in (("honest", HONEST), ("paper", PAPER)):
            for model in models:
                means = [mean(cells.get((given, model, protocol, name))) for name in datasets]
                lines.append(f"| {protocol} | `{model}` | {' | '.join(means)} |" if any(means) else None)
        lines.append(f"| printed | `dcm` | {' | '.join(printed(name, given == 'with') for name in datasets)} |")
    return "\n".join(line for line in lines if line is not None)


def mean(cell: Any) -> str:
    """The mean of a cell, empty unless all folds that it needs are there."""
    return f"{cell.ours_mean:.1f}" if cell is not None and set(needed_folds(cell.dataset)) <= set(cell.scores) else ""


def printed(dataset: str, graph: bool) -> str:
    """The paper's figure."""
    table = next(name for name, datasets in TABLES.items() if dataset in datasets)
    number = paper_number(table, dataset, graph, "dcm")
    assert number is not None
    return f"{number.mean:.1f}"


if __name__ == "__main__":
    main()
