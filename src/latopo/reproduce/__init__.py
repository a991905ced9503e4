"""The bookkeeping of a reproduction: the paper's numbers, units of work, a store, statistics and tables.

The way of the data: :mod:`~latopo.reproduce.plan` (units) → :mod:`~latopo.reproduce.work` (train what is
missing) → :mod:`~latopo.reproduce.store` (records) → :mod:`~latopo.reproduce.tables` → :mod:`~latopo.reproduce.render`.
"""

from latopo.reproduce.paper import contradictions, figure_points, paper_number, paper_numbers
from latopo.reproduce.plan import describe_cost, plan_units
from latopo.reproduce.record import Record
from latopo.reproduce.render import write_table
from latopo.reproduce.statistics import corrected_paired_t, holm, summarize
from latopo.reproduce.store import Store
from latopo.reproduce.tables import build_table
from latopo.reproduce.unit import Unit
from latopo.reproduce.work import train_unit, train_units

__all__ = [
    "Record", "Store", "Unit", "build_table", "contradictions", "corrected_paired_t", "describe_cost", "figure_points",
    "holm", "paper_number", "paper_numbers", "plan_units", "summarize", "train_unit", "train_units", "write_table",
]  # fmt: skip
