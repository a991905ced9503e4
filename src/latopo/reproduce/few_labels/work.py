"""Units of the benchmark, and what they come to."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from latopo._environment import environment
from latopo._parallel import one_thread
from latopo.errors import LatopoError
from latopo.reproduce.few_labels.rivals import RIVALS
from latopo.reproduce.few_labels.tasks import TASKS, find_tasks
from latopo.reproduce.record import StoredRecord
from latopo.reproduce.unit import Hashed, Key

__all__ = ["FewLabelsRecord", "FewLabelsUnit", "plan_few_labels", "run_unit"]

# Raised when the same unit comes to give other numbers.
_NUMERICS = 1


@dataclass(frozen=True)
class FewLabelsUnit:
    """One rival on one draw of one task."""

    model: str
    task: str
    draw: int

    @property
    def place(self) -> tuple[int, int]:
        """The draw, in the form of the other tables' fold and seed."""
        return self.draw, 0

    @property
    def key(self) -> Key:
        """What identifies a result."""
        return self.model, self.resolved().hash, *self.place

    def resolved(self) -> Hashed:
        """All that decides the numbers but the draw."""
        settings = [{name: list(value) if isinstance(value, tuple) else value for name, value in item.items()}
                    for item in RIVALS[self.model].settings]  # fmt: skip
        return Hashed(model=self.model, task=self.task, settings=settings, numerics=_NUMERICS)

    def __str__(self) -> str:
        return f"{self.model} on {self.task}, draw {self.draw}"


@dataclass(frozen=True)
class FewLabelsRecord(StoredRecord):
    """What a unit came to.

    Attributes:
        unit: what was run.
        accuracy: share of the test rows that are right.
        num_train, num_test: how many rows there were.
        seconds: time of one core, the choice of the settings included.
        chosen: the settings, or the weights of the branches.
        resolved, environment: as in :class:`~latopo.reproduce.Record`.
    """

    unit_kind: ClassVar[type] = FewLabelsUnit
    form: ClassVar[dict[str, Any]] = {
        "model": str, "task": str, "draw": int, "accuracy": int | float, "num_train": int, "num_test": int,
        "seconds": int | float, "chosen": (dict, None),
    }  # fmt: skip

    unit: FewLabelsUnit
    accuracy: float
    num_train: int
    num_test: int
    seconds: float
    chosen: dict[str, Any] = field(default_factory=dict, hash=False)
    resolved: Hashed = field(default_factory=Hashed, hash=False)
    environment: Hashed = field(default_factory=Hashed, hash=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be: the tables divide by these numbers."""
        if not 0 <= self.accuracy <= 1 or not 0 <= self.seconds < 1e9 or self.num_train < 1 or self.num_test < 1:
            raise LatopoError("FewLabelsRecord: expected an accuracy between 0 and 1, rows, and seconds of at least 0")


def plan_few_labels(
    tasks: list[str] | None = None, models: Sequence[str] | None = None, draws: Sequence[int] = range(10)
) -> list[FewLabelsUnit]:
    """The units in the order they should be done: task by task, the quick rivals first.

    Example:
        >>> [str(unit) for unit in plan_few_labels(["iris-tables-5"], ["logistic"], [0, 1])]
        ['logistic on iris-tables-5, draw 0', 'logistic on iris-tables-5, draw 1']
    """
    for name in models or ():
        if name not in RIVALS:
            raise LatopoError(f"few-labels: no model {name!r}; choose from {', '.join(RIVALS)}")
    units = []
    for task in find_tasks(tasks):
        for name, rival in RIVALS.items():
            # With many labels the table has what the tables of the paper do not: the recipe.
            if (models and name not in models) or (task.kind == "folds" and name != "alpha-diffusion"):
                continue
            if rival.ceiling and task.kind not in ("public", "random", "more labels"):
                continue
            units += [FewLabelsUnit(name, task.name, draw) for draw in range(task.draws) if draw in draws]
    return units


def run_unit(unit: FewLabelsUnit, data_root: Path | None = None) -> FewLabelsRecord:
    """Solve one unit and report it.

    Example:
        >>> run_unit(FewLabelsUnit("logistic", "iris-tables-20", 0)).accuracy > 0.8
        True
    """
    problem = TASKS[unit.task].problem(unit.draw, data_root)
    with one_thread():
        start = time.process_time()
        answer, chosen = RIVALS[unit.model].solve(unit.model, problem)
        seconds = time.process_time() - start
        machine = Hashed(environment())
    accuracy = float((answer[problem.test] == problem.y[problem.test]).mean())
    return FewLabelsRecord(
        unit, accuracy, len(problem.train), len(problem.test), seconds, _plain(chosen), unit.resolved(), machine
    )


def _plain(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in JSON's types."""
    return {name: list(value) if isinstance(value, tuple | np.ndarray) else value for name, value in chosen.items()}
