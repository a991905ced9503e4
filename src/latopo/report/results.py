"""Tables of results: sortable, coloured, with the paper's numbers and the folds on hover."""

from collections.abc import Sequence

from latopo.report.data import Table, TableCell, TableRow
from latopo.report.encode import script_json
from latopo.report.markup import Markup, tag

__all__ = ["results_section"]


def results_section(tables: Sequence[Table]) -> Markup:
    """All tables, one under the other."""
    if not tables:
        return Markup()
    intro = (
        "A heading sorts by its column. The darker a cell, the better it is within its column. Point at a number, or "
        "reach it with the tab key, to see its folds."
    )
    return tag("section", tag("h2", "Results"), tag("p", intro), [_table(table) for table in tables], id="results")


def _table(table: Table) -> Markup:
    headings = [*table.label_columns, *table.columns]
    head = [
        tag("th", tag("button", heading, type="button", class_="sort"), scope="col", aria_sort="none")
        for heading in headings
    ]
    ranges = [_range(table.rows, column) for column in range(len(table.columns))]
    rows = [tag("tr", _labels(row), _cells(row, ranges, table.digits, table.columns)) for row in table.rows]
    body = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="results")
    notes = tag("ul", [tag("li", note) for note in table.notes], class_="notes") if table.notes else Markup()
    region = tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=table.title)
    return tag(
        "div", tag("h3", table.title), region, tag("p", table.caption, class_="under"), notes, class_="panel wide"
    )


def _labels(row: TableRow) -> list[Markup]:
    return [tag("th", label, scope="row", data_sort=label) for label in row.labels]


def _range(rows: Sequence[TableRow], column: int) -> tuple[float, float]:
    values = [value for row in rows if (value := row.cells[column].value) is not None]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _cells(row: TableRow, ranges: Sequence[tuple[float, float]], digits: int, columns: Sequence[str]) -> list[Markup]:
    return [
        _cell(cell, *bounds, digits, f"{', '.join(row.labels)}, {column}")
        for cell, bounds, column in zip(row.cells, ranges, columns, strict=True)
    ]


def _cell(cell: TableCell, least: float, most: float, digits: int, label: str) -> Markup:
    remark = tag("span", cell.remark, class_="remark") if cell.remark else Markup()
    if cell.value is None:
        return tag("td", "–", remark, class_="missing")
    level = (cell.value - least) / (most - least) if most > least else 0.0
    spread = "" if cell.spread is None else f" ± {cell.spread:.{digits}f}"
    number = tag("span", f"{cell.value:.{digits}f}", tag("small", spread), class_="number")
    attributes = {"style": f"--level:{level:.3f}", "data_sort": repr(cell.value), "class_": "result"}
    if len(cell.folds) > 1:
        folds = script_json([round(value, 6) for value in cell.folds])
        attributes |= {"data_folds": folds, "data_label": label, "tabindex": "0"}
    return tag("td", number, _difference(cell, digits), remark, **attributes)


def _difference(cell: TableCell, digits: int) -> Markup:
    if cell.difference is None:
        return Markup()
    sign = "better" if cell.difference > 0 else "worse"
    return tag("span", f"{cell.difference:+.{digits}f}".replace("-", "−"), class_=f"difference {sign}")
