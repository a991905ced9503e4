"""A run as one HTML file: what was learned, in words, an interactive drawing, curves and tables.

The way of the data: a run folder → :class:`ReportData` (:mod:`~latopo.report.read_run`) → facts, charts and scenes →
templates, filled by :func:`write_report`.
"""

from latopo.report.fitted import describe_fit
from latopo.report.own_complex import describe_complex
from latopo.report.page import build_page, is_report, write_report
from latopo.report.read_run import read_run
from latopo.report.report_data import Baseline, Column, Points, ReportData, Score, ShownCell, ShownRow, ShownTable

__all__ = [
    "Baseline",
    "Column",
    "Points",
    "ReportData",
    "Score",
    "ShownCell",
    "ShownRow",
    "ShownTable",
    "build_page",
    "describe_complex",
    "describe_fit",
    "is_report",
    "read_run",
    "write_report",
]
