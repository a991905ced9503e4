"""The table of topology: a row per moment, and only columns that have something to say."""

from collections.abc import Callable, Sequence

from latopo.draw import Snapshot
from latopo.report.facts import Facts
from latopo.report.report_data import ReportData
from latopo.report.words import percent

__all__ = ["topology_table"]

_NOTHING = "–"
_COLUMNS: dict[str, Callable[[Snapshot, Facts], str]] = {
    "edges": lambda _, facts: f"{facts.edges:,}",
    "polygons": lambda _, facts: f"{facts.num_polygons:,}",
    "mean degree": lambda _, facts: f"{facts.mean_degree:.2f}",
    "isolated points": lambda _, facts: f"{facts.isolated:,}",
    "homophily": lambda _, facts: percent(facts.share(2)),
    "pure polygons": lambda _, facts: percent(facts.polygon_purity.share),
    "correlation of values": lambda _, facts: f"{facts.agreement.correlation:.2f}" if facts.agreement else _NOTHING,
    "polygons kept": lambda snapshot, _: percent(snapshot.polygon_share),
    "b₀": lambda _, facts: f"{facts.betti[0]:,}",
    "b₁": lambda _, facts: f"{facts.betti[1]:,}",
    "b₂": lambda _, facts: f"{facts.betti[2]:,}",
    "χ": lambda _, facts: f"{facts.euler:,}",
}


def topology_table(data: ReportData, facts: Sequence[Facts]) -> dict[str, list[str]]:
    """Heading → a cell per snapshot; headings with nothing in any cell are left out."""
    moments = list(zip(data.snapshots, facts, strict=True))
    columns = {name: [cell(*moment) for moment in moments] for name, cell in _COLUMNS.items()}
    return {name: cells for name, cells in columns.items() if set(cells) != {_NOTHING}}
