"""A run as one HTML file: what was learned, in words, an interactive drawing, curves and tables.

The way of the data: a run folder → :class:`ReportData` (:mod:`~latopo.report.runs`) → sections and the drawing's
content → :func:`write_report`.
"""

from latopo.report.data import Baseline, Points, ReportData, Score, Table, TableCell, TableRow
from latopo.report.page import build_page, is_report, write_report
from latopo.report.runs import read_run

__all__ = [
    "Baseline",
    "Points",
    "ReportData",
    "Score",
    "Table",
    "TableCell",
    "TableRow",
    "build_page",
    "is_report",
    "read_run",
    "write_report",
]
