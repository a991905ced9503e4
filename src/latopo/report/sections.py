"""The sections of the page below its top."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from latopo.report.data import IntArray, Points, ReportData
from latopo.report.facts import Agreement, Facts, Purity, Strongest, confusion_matrix, strongest_polygons
from latopo.report.markup import Markup, join, tag
from latopo.report.scenes import moment_title
from latopo.report.summary import class_dot, corner_buttons
from latopo.report.words import kind_name, percent

__all__ = ["curves_section", "glossary", "plain_table", "polygons_section", "settings_section", "structure_section"]

_MOST_CLASSES = 30


def plain_table(
    head: Sequence[str | Markup], rows: Iterable[Sequence[str | Markup]], caption: str = "", class_: str = ""
) -> Markup:
    """A table with a heading row; the first cell of each row is its heading."""
    lines = [tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest]) for first, *rest in rows]
    header = tag("thead", tag("tr", [tag("th", cell, scope="col") for cell in head]))
    title = tag("caption", caption) if caption else Markup()
    table = tag("table", title, header, tag("tbody", lines), class_=class_ or False)
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption or "table")


def polygons_section(polygons: Sequence[Strongest], points: Points | None, heading: str, intro: str) -> Markup:
    """The most probable polygons with their members."""
    rows = []
    for rank, item in enumerate(polygons, start=1):
        probability = "–" if item.probability is None else f"{item.probability:.3g}"
        corners = tag("span", corner_buttons(item.corners, points), class_="corners")
        show = tag(
            "button", str(rank), type="button", class_="show-polygon", data_corners=" ".join(map(str, item.corners)),
            aria_label=f"show polygon {rank} in the drawing",
        )  # fmt: skip
        rows.append([show, kind_name(len(item.corners)), probability, corners, _class_words(item, points)])
    table = plain_table(["", "kind", "probability", "points", "classes"], rows, heading, "polygons")
    return tag("section", tag("h2", heading), tag("p", intro), table, id="polygons")


def strongest_section(data: ReportData) -> Markup:
    """The twenty most probable polygons of the complex."""
    if data.complex is None or not data.complex.num_polygons:
        return Markup()
    polygons = strongest_polygons(data.complex, 20)
    intro = "The polygons that the model is surest of. A number shows the polygon in the drawing, a name its point."
    if data.complex.polygon_prob is None:
        intro = "This model takes every polygon and gives none a probability: these are the first ones in order."
    heading = f"The {len(polygons)} most probable polygons" if len(polygons) > 1 else "The only polygon"
    return polygons_section(polygons, data.points, heading, intro)


def _class_words(item: Strongest, points: Points | None) -> str | Markup:
    if points is None or points.is_quantity:
        return "–"
    codes = [int(points.labels[node]) for node in item.corners]
    if len(set(codes)) == 1:
        return join([class_dot(codes[0]), f"all {points.class_name(codes[0])}"])
    names = {code: points.class_name(code) for code in codes}
    return join([[class_dot(code), f"{codes.count(code)} {name} "] for code, name in names.items()])


def curves_section(has_histories: bool) -> Markup:
    """Room for the curves; the script fills it."""
    if not has_histories:
        return Markup()
    intro = "What happened during the training, epoch by epoch. Drag to zoom into a curve, double-click to go back."
    return tag(
        "section", tag("h2", "Training"), tag("p", intro), tag("div", class_="charts", id="charts"), id="training"
    )


def structure_section(data: ReportData, facts: Sequence[Facts], agreement: Agreement | None) -> Markup:
    """Topology over the training, agreement with the classes, degrees and confusion matrix."""
    parts = []
    if data.complex is not None:
        parts += [_topology(data, facts), _degrees()]
        if agreement is not None:
            parts.append(_purity_table(agreement))
    confusion = data.confusion if data.confusion is not None or data.points is None else confusion_matrix(data.points)
    if confusion is not None and data.points is not None and confusion.sum():
        parts.append(_confusion(confusion, data.points.class_names, _confusion_words(data)))
    return (
        tag("section", tag("h2", "Structure"), tag("div", parts, class_="panels"), id="structure")
        if parts
        else Markup()
    )


def _topology(data: ReportData, facts: Sequence[Facts]) -> Markup:
    head = [
        "moment",
        "edges",
        "polygons",
        "mean degree",
        "alone",
        "homophily",
        "pure polygons",
        "kept",
        "b₀",
        "b₁",
        "b₂",
        "χ",
    ]
    rows = []
    for snapshot, item in zip(data.snapshots, facts, strict=True):
        kept = percent(snapshot.polygon_share)
        shares = [percent(item.homophily), percent(item.polygon_purity), kept]
        counts = [f"{item.edges:,}", f"{item.num_polygons:,}", f"{item.mean_degree:.2f}", f"{item.isolated:,}"]
        topology = [f"{number:,}" for number in (*item.betti, item.euler)]
        rows.append([moment_title(snapshot), *counts, *shares, *topology])
    note = (
        "b₀ counts the pieces that hang together, b₁ the holes (rings that no polygon fills), b₂ the enclosed hollow "
        "spaces: the Betti numbers. The Euler characteristic χ is points − edges + polygons = b₀ − b₁ + b₂."
    )
    return tag(
        "div", tag("h3", "Topology"), tag("p", note), plain_table(head, rows, "Topology over the training", "numbers"),
        class_="panel wide",
    )  # fmt: skip


def _degrees() -> Markup:
    text = "How many neighbours the points have, at the moment chosen under the drawing."
    chart = tag("div", id="degrees", class_="chart", role="img", aria_label="histogram of the degrees")
    return tag("div", tag("h3", "Neighbours per point"), tag("p", text), chart, class_="panel")


def _purity_table(agreement: Agreement) -> Markup:
    found, cycles = [agreement.edges, *agreement.polygons], agreement.cycles
    rows = [
        ["edges" if item.length == 2 else kind_name(item.length, 2), f"{item.counted:,}", percent(item.share),
         percent(item.chance), _cycle_text(cycles.get(item.length))]
        for item in found
    ]  # fmt: skip
    note = (
        "A cell is pure if all its corners have one class. Chance is the share among as many random points. Edges that "
        "agree with the classes make pure rings by themselves, so polygons are also compared with all rings of the "
        "same graph: only what exceeds that share was gained by choosing polygons."
    )
    table = plain_table(
        ["cells", "number", "pure", "chance", "all rings of the graph"], rows, "Class purity", "numbers"
    )
    return tag("div", tag("h3", "Do cells stay within a class?"), tag("p", note), table, class_="panel")


def _cycle_text(item: Purity | None) -> str:
    return "–" if item is None else f"{percent(item.share)} of {item.counted:,}"


def _confusion_words(data: ReportData) -> str:
    """Of which points the confusion matrix is."""
    points = data.points
    roles = None if points is None else points.roles
    if data.confusion is not None or (roles is not None and (roles == 2).any()):
        return "test points are right, on the diagonal."
    if points is not None and roles is not None and (roles[points.labels >= 0] == 0).all():
        return "training points are right, on the diagonal. The model learned from them: new ones are harder."
    return "points are right, on the diagonal."


def _confusion(matrix: IntArray, names: Sequence[str], words: str) -> Markup:
    right, total = int(np.trace(matrix)), int(matrix.sum())
    text = f"Rows: the true class. Columns: the predicted one. {right:,} of {total:,} {words}"
    if len(names) > _MOST_CLASSES:
        order = np.argsort(-matrix.sum(axis=1), kind="stable")[:_MOST_CLASSES]
        matrix, names = matrix[np.ix_(order, order)], [names[code] for code in order]
        text += f" Shown are the {_MOST_CLASSES} most frequent classes."
    head = tag("tr", tag("td"), [tag("th", tag("span", name), scope="col") for name in names])
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            [_confusion_cell(row, column, code, names) for column in range(len(names))],
        )
        for code, (name, row) in enumerate(zip(names, matrix, strict=True))
    ]
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="confusion")
    region = tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="confusion matrix")
    return tag("div", tag("h3", "Which classes are confused?"), tag("p", text), region, class_="panel")


def _confusion_cell(row: IntArray, column: int, code: int, names: Sequence[str]) -> Markup:
    share = float(row[column]) / max(int(row.sum()), 1)
    kind = "right" if column == code else "wrong"
    title = f"{names[code]}, predicted as {names[column]}: {int(row[column]):,} ({percent(share)})"
    return tag("td", f"{int(row[column]):,}", class_=kind, style=f"--share:{share:.3f}", title=title)


def settings_section(settings: Mapping[str, Any], heading: str = "How it was run") -> Markup:
    """The settings, folded away."""
    if not settings:
        return Markup()
    rows = [[name, "–" if value is None else str(value)] for name, value in settings.items()]
    return tag("details", tag("summary", heading), plain_table(["setting", "value"], rows, heading), class_="settings")


def glossary() -> Markup:
    """The words of the field, folded away."""
    terms = {
        "Cell complex": "points, edges that join two of them, and polygons that fill rings of edges.",
        "Homophily": "the share of edges whose two ends have the same class.",
        "Probability of a cell": "how much the model wants this edge or polygon; cells of probability 0 are left out.",
        "Fold": "a part of the points is held back for the test while the others train; each fold holds back another.",
        "Chance": "what random points would give; structure means something where it differs from chance.",
    }
    items = [[tag("dt", name), tag("dd", meaning)] for name, meaning in terms.items()]
    return tag("details", tag("summary", "What the words mean"), tag("dl", items))
