"""The page: sections, data, styles and scripts in one HTML file that asks nothing of the network."""

import base64
import hashlib
import os
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from latopo._files import atomic_path
from latopo._version import __version__
from latopo.report import words
from latopo.report.charts import describe_charts
from latopo.report.common import common_ground
from latopo.report.comparison import compare_runs
from latopo.report.confusion import find_confusion
from latopo.report.facts import measure_complex, ring_purity, strongest_polygons, with_strengths
from latopo.report.packer import Packer
from latopo.report.report_data import ReportData, ShownTable
from latopo.report.scenes import describe_drawing
from latopo.report.topology import topology_table

__all__ = ["build_page", "is_report", "write_report"]

# One after another in one function: browsers cannot import from an inline module.
_SCRIPTS = ("data", "colors", "camera", "cells", "painter", "picker", "drawing", "panel", "charts", "tables", "main")
_OVERLINE = b'<p class="overline">latopo report</p>'  # as in templates/page.html
_MOST_POLYGONS = 20


def is_report(path: Path) -> bool:
    """Whether a file is a report that :func:`write_report` wrote."""
    return _OVERLINE in path.read_bytes()


def write_report(path: str | os.PathLike[str], data: ReportData, other: ReportData | None = None) -> Path:
    """Write the report of a run, or of two side by side, as one HTML file; returns its path."""
    target = Path(path)
    content = build_page(data, other)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as draft:
        draft.write_bytes(content.encode("utf-8"))
    return target


def build_page(data: ReportData, other: ReportData | None = None) -> str:
    """The whole HTML page: self-contained, all text from data escaped, scripts allowed by their hashes alone.

    Example:
        >>> page = build_page(ReportData("<b>Texas</b>", story=("A run.",)))
        >>> "&lt;b&gt;Texas&lt;/b&gt;" in page, "<b>Texas" in page
        (True, False)
    """
    runs = [_with_strengths(run) for run in (data, other) if run is not None]
    data = runs[0]
    comparison = None if other is None else compare_runs(*runs)
    facts = [[measure_complex(snapshot.complex, run.points) for snapshot in run.snapshots] for run in runs]
    shown = facts[0][data.shown] if data.snapshots else None
    metric = "accuracy" if data.score is None else data.score.metric
    charts = describe_charts([run.histories for run in runs if run.histories], metric)
    polygons = [] if data.complex is None else strongest_polygons(data.complex, _MOST_POLYGONS)
    packer = Packer()
    drawing = describe_drawing(runs, facts, packer) if data.snapshots else None
    return _template().render(
        data=data,
        title=" and ".join(run.title for run in runs),
        runs=runs,
        facts=facts,
        shown=shown,
        rings={} if data.complex is None or shown is None else ring_purity(data.complex, shown, data.points),
        polygons=polygons,
        common=common_ground(() if data.points is None else data.points.columns, [item.corners for item in polygons]),
        confusion=find_confusion(data),
        topology=topology_table(data, facts[0]),
        comparison=comparison,
        charts=charts,
        content={"charts": charts, "drawing": drawing, "tables": [_numbers(table) for table in data.tables]},
        arrays=packer.text(),
        **_scripts(),
    )


def _with_strengths(data: ReportData) -> ReportData:
    """A model's polygons with their strengths; a complex of the reader's own keeps its probabilities."""
    if not data.learned:
        return data
    snapshots = (replace(snapshot, complex=with_strengths(snapshot.complex)) for snapshot in data.snapshots)
    return replace(data, snapshots=tuple(snapshots))


def _numbers(table: ShownTable) -> dict[str, Any]:
    """What the page sorts by, and shows on hover."""
    rows = [[{"value": cell.value, "folds": cell.folds} for cell in row.cells] for row in table.rows]
    return {"digits": table.digits, "rows": rows}


@cache  # compiling the templates takes longer than filling them
def _template() -> Template:
    loader = PackageLoader("latopo.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters |= {
        "percent": words.percent,
        "probability": words.probability,
        "number": "{:,}".format,
        "score": "{:.4g}".format,
    }
    environment.globals |= {"words": words, "version": __version__}
    return environment.get_template("page.html")


def _scripts() -> dict[str, str]:
    """Style, script, and the policy that lets this very script run."""
    script = '(() => {\n"use strict";\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "})();\n"
    return {"style": _asset("page.css"), "script": script, "policy": _policy(script)}


def _policy(script: str) -> str:
    """A Content-Security-Policy: this very script, inline styles (widths and colours), and nothing from anywhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("latopo.report") / "assets" / name).read_text(encoding="utf-8")
