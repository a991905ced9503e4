"""Two runs beside each other: what one complex has and the other lacks."""

from torch import Tensor

from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.report.data import ReportData
from latopo.report.facts import edge_purity, polygon_purity, strongest_polygons
from latopo.report.markup import Markup, tag
from latopo.report.sections import plain_table
from latopo.report.summary import corner_buttons
from latopo.report.words import kind_name, number_text, percent

__all__ = ["check_comparable", "comparison_section"]

_MOST_POLYGONS = 10


def check_comparable(first: ReportData, second: ReportData) -> None:
    """Refuse runs on different points: numbers of nodes would mean different things."""
    if first.complex is None or second.complex is None:
        missing = first if first.complex is None else second
        raise LatopoError(f"report: {missing.title} has no complex to compare; train a model that infers one")
    sizes = first.complex.num_nodes, second.complex.num_nodes
    names = [None if data.points is None else data.points.names for data in (first, second)]
    if sizes[0] != sizes[1] or (None not in names and names[0] != names[1]):
        raise LatopoError(
            f"report: the two runs are about different points ({sizes[0]:,} and {sizes[1]:,}); compare runs on one "
            "data set"
        )


def comparison_section(first: ReportData, second: ReportData) -> Markup:
    """Counts, shares, and the strongest polygons that only one of the two has."""
    assert first.complex is not None
    assert second.complex is not None
    change = first.complex.difference(second.complex)
    edges = (change.edges_kept.size(1), len(change.edges_lost), len(change.edges_gained))
    polygons = (change.polygons_kept.size(1), len(change.polygons_lost), len(change.polygons_gained))
    rows = [[name, *(f"{count:,}" for count in counts), percent(counts[0] / max(sum(counts), 1))]
            for name, counts in (("edges", edges), ("polygons", polygons))]  # fmt: skip
    shared = plain_table(["cells", "in both", "only in A", "only in B", "shared"], rows, "Common cells", "numbers")
    sides = plain_table(["", "A", "B"], _sides(first, second), "The two runs", "numbers")
    lists = [
        _only(first.complex, change.polygons_lost, "Strongest polygons only in A", first),
        _only(second.complex, change.polygons_gained, "Strongest polygons only in B", second),
    ]
    text = f"Run A is {first.title}, run B is {second.title}. Both are about the same points."
    panels = [tag("div", tag("h3", "Side by side"), sides, class_="panel"),
              tag("div", tag("h3", "Common cells"), shared, class_="panel"), *lists]  # fmt: skip
    return tag(
        "section", tag("h2", "What differs"), tag("p", text), tag("div", panels, class_="panels"), id="comparison"
    )


def _sides(first: ReportData, second: ReportData) -> list[list[str]]:
    columns = [_column(data) for data in (first, second)]
    return [[name, columns[0].get(name, "–"), columns[1].get(name, "–")] for name in {**columns[0], **columns[1]}]


def _column(data: ReportData) -> dict[str, str]:
    assert data.complex is not None
    column = {"run": data.title}
    if data.score is not None:
        column["score"] = number_text(data.score, data.score.value)
    column |= {"edges": f"{data.complex.num_edges:,}", "polygons": f"{data.complex.num_polygons:,}"}
    if data.points is not None and not data.points.is_quantity:
        found = polygon_purity(data.complex, data.points)
        column["edges within a class"] = percent(edge_purity(data.complex, data.points).share)
        column |= {f"{kind_name(item.length, 2)} within a class": percent(item.share) for item in found}
    return column


def _only(complex: CellComplex, numbers: Tensor, heading: str, data: ReportData) -> Markup:
    polygons = strongest_polygons(complex, _MOST_POLYGONS, among=numbers)
    if not polygons:
        return tag("div", tag("h3", heading), tag("p", "There are none."), class_="panel")
    rows = [
        [kind_name(len(item.corners)), "–" if item.probability is None else f"{item.probability:.3g}",
         tag("span", corner_buttons(item.corners, data.points), class_="corners")]
        for item in polygons
    ]  # fmt: skip
    return tag("div", tag("h3", heading), plain_table(["kind", "probability", "points"], rows, heading), class_="panel")
