"""The benchmark of few labels: many rows, few of them labelled, no given graph.

The way of the data: :mod:`~latopo.reproduce.few_labels.tasks` (rows, labels, test rows) →
:mod:`~latopo.reproduce.few_labels.rivals` (who answers) → :mod:`~latopo.reproduce.few_labels.work` (records) →
:mod:`~latopo.reproduce.few_labels.table`.
"""

from latopo.reproduce.few_labels.rivals import RIVALS
from latopo.reproduce.few_labels.table import write_few_labels
from latopo.reproduce.few_labels.tasks import TASKS, Task, find_tasks
from latopo.reproduce.few_labels.work import FewLabelsRecord, FewLabelsUnit, plan_few_labels, run_unit

__all__ = [
    "RIVALS", "TASKS", "FewLabelsRecord", "FewLabelsUnit", "Task", "find_tasks", "plan_few_labels", "run_unit",
    "write_few_labels",
]  # fmt: skip
