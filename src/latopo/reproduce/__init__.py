"""The bookkeeping of a reproduction: the paper's numbers, units of work, a store, statistics and tables.

The way of the data: :mod:`~latopo.reproduce.plan` (units) → :mod:`~latopo.reproduce.run` (train what is missing) →
:mod:`~latopo.reproduce.store` (records) → :mod:`~latopo.reproduce.tables` → :mod:`~latopo.reproduce.render`.
"""

from latopo.reproduce.paper import contradictions, figure_points, paper_number, paper_numbers
from latopo.reproduce.plan import estimate_cost, plan_units, unfinished
from latopo.reproduce.record import Record, Unit
from latopo.reproduce.render import write_table
from latopo.reproduce.run import run_units
from latopo.reproduce.statistics import corrected_paired_t, holm, summarize
from latopo.reproduce.store import Store
from latopo.reproduce.tables import build_table

__all__ = [
    "Record",
    "Store",
    "Unit",
    "build_table",
    "contradictions",
    "corrected_paired_t",
    "estimate_cost",
    "figure_points",
    "holm",
    "paper_number",
    "paper_numbers",
    "plan_units",
    "run_units",
    "summarize",
    "unfinished",
    "write_table",
]
