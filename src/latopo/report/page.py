"""The page: sections, data, styles and scripts in one HTML file that asks nothing of the network."""

import base64
import hashlib
import os
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from latopo._files import atomic_path
from latopo._version import __version__
from latopo.errors import LatopoError
from latopo.report.charts import describe_charts
from latopo.report.compare import check_comparable, comparison_section
from latopo.report.data import ReportData
from latopo.report.encode import Packer, script_json
from latopo.report.facts import measure_agreement, measure_complex
from latopo.report.markup import Markup, join, tag
from latopo.report.results import results_section
from latopo.report.scenes import describe_drawing
from latopo.report.sections import curves_section, glossary, settings_section, strongest_section, structure_section
from latopo.report.summary import summary

__all__ = ["build_page", "is_report", "write_report"]

# One after another in one function: browsers cannot import from an inline module.
_SCRIPTS = ("data", "colors", "camera", "cells", "painter", "picker", "drawing", "panel", "charts", "tables", "main")


_OVERLINE = b'<p class="overline">latopo report</p>'  # of assets/page.html


def is_report(path: Path) -> bool:
    """Whether a file is a report that :func:`write_report` wrote."""
    return _OVERLINE in path.read_bytes()


def write_report(path: str | os.PathLike[str], data: ReportData, other: ReportData | None = None) -> Path:
    """Write the report of a run, or of two beside each other, as one HTML file; returns its path."""
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
    if other is not None:
        check_comparable(data, other)
    packer = Packer()
    facts = [measure_complex(snapshot.complex, data.points) for snapshot in data.snapshots]
    agreement = None if data.complex is None else measure_agreement(data.complex, data.points)
    runs = [run.histories for run in (data, other) if run is not None and run.histories]
    metric = data.score.metric if data.score is not None else "accuracy"
    content: dict[str, Any] = {"charts": describe_charts(runs, metric), "drawing": None}
    if data.snapshots:
        content["drawing"] = describe_drawing(data, facts, packer, other)
    sections = [
        summary(data, facts[data.shown] if facts else None, agreement),
        Markup(_asset("drawing.html")) if data.snapshots else Markup(),
        comparison_section(data, other) if other is not None else Markup(),
        strongest_section(data),
        curves_section(bool(content["charts"])),
        structure_section(data, facts, agreement),
        results_section(data.tables),
        tag("section", settings_section(data.settings), glossary(), id="details"),
    ]
    title = data.title if other is None else f"{data.title} and {other.title}"
    needs_charts = bool(content["charts"] or data.snapshots)
    return _assemble(title, join(sections), script_json(content), packer.text(), _plotly() if needs_charts else "")


def _assemble(title: str, body: Markup, content: str, arrays: str, plotly: str) -> str:
    script = '(() => {\n"use strict";\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "})();\n"
    return Template(_asset("page.html")).substitute(
        policy=_policy(plotly, script),
        title=escape(title),
        heading=tag("h1", title),
        style=_asset("page.css"),
        body=body,
        version=__version__,
        content=content,
        arrays=arrays,
        plotly=plotly,
        script=script,
    )


def _policy(*scripts: str) -> str:
    """A Content-Security-Policy: these very scripts, inline styles (plotly sets some), and nothing from anywhere."""
    digests = [hashlib.sha256(script.encode("utf-8")).digest() for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("latopo.report") / "assets" / name).read_text(encoding="utf-8")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise LatopoError('report: the charts need plotly; install it with pip install "latopo[viz]"') from error
    return str(get_plotlyjs())
