"""Two runs side by side: what one complex has and the other lacks."""

from typing import NamedTuple

from latopo.errors import LatopoError
from latopo.report.facts import Polygon, strongest_polygons
from latopo.report.report_data import ReportData

__all__ = ["Comparison", "compare_runs"]

_MOST_POLYGONS = 10


class Comparison(NamedTuple):
    """What two complexes share."""

    counts: dict[str, tuple[int, int, int]]  # of edges, polygons: in both, only in the first, only in the second
    only_first: list[Polygon]  # the strongest polygons that the other complex lacks
    only_second: list[Polygon]


def compare_runs(first: ReportData, second: ReportData) -> Comparison:
    """Compare the complexes of two runs on the same points.

    Raises:
        LatopoError: one of them has no complex, or their points differ, so that node numbers mean different things.
    """
    before, after = first.complex, second.complex
    if before is None or after is None:
        title = (first if before is None else second).title
        raise LatopoError(f"report: {title} has no complex to compare; train a model that infers one")
    sizes = before.num_nodes, after.num_nodes
    names = [None if data.points is None else data.points.names for data in (first, second)]
    if sizes[0] != sizes[1] or (None not in names and names[0] != names[1]):
        raise LatopoError(
            f"report: the two runs have different points ({sizes[0]:,} and {sizes[1]:,}); compare runs on the same data"
        )
    change = before.difference(after)
    counts = {
        "edges": (change.edges_kept.size(1), len(change.edges_lost), len(change.edges_gained)),
        "polygons": (change.polygons_kept.size(1), len(change.polygons_lost), len(change.polygons_gained)),
    }
    return Comparison(
        counts,
        strongest_polygons(before, _MOST_POLYGONS, among=change.polygons_lost),
        strongest_polygons(after, _MOST_POLYGONS, among=change.polygons_gained),
    )
