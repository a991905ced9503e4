"""Units of the benchmark, and what they come to."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from latopo._environment import environment
from latopo._parallel import one_thread
from latopo.engine import run_jobs
from latopo.errors import LatopoError
from latopo.reproduce.few_labels.rivals import RIVALS
from latopo.reproduce.few_labels.tasks import TASKS, find_tasks
from latopo.reproduce.store import Store
from latopo.reproduce.unit import Hashed

__all__ = ["FewLabelsRecord", "FewLabelsUnit", "plan_few_labels", "run_unit", "run_units"]

# Raised when the same unit comes to give other numbers.
_NUMERICS = 1


@dataclass(frozen=True)
class FewLabelsUnit:
    """One rival on one draw of one task."""

    model: str
    task: str
    draw: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What identifies a result; it has the form of the other tables' keys."""
        return self.model, self.resolved().hash, self.draw, 0

    def resolved(self) -> Hashed:
        """All that decides the numbers but the draw."""
        settings = [{name: list(value) if isinstance(value, tuple) else value for name, value in item.items()}
                    for item in RIVALS[self.model].settings]  # fmt: skip
        return Hashed(model=self.model, task=self.task, settings=settings, numerics=_NUMERICS)

    def __str__(self) -> str:
        return f"{self.model} on {self.task}, draw {self.draw}"


@dataclass(frozen=True)
class FewLabelsRecord:
    """What a unit came to.

    Attributes:
        unit: what was run.
        accuracy: share of the test rows that are right.
        num_train, num_test: how many rows there were.
        seconds: time of one core, the choice of the settings included.
        chosen: the settings, or the weights of the branches.
        resolved, environment: as in :class:`~latopo.reproduce.Record`.
    """

    unit: FewLabelsUnit
    accuracy: float
    num_train: int
    num_test: int
    seconds: float
    chosen: dict[str, Any] = field(default_factory=dict, hash=False)
    resolved: Hashed = field(default_factory=Hashed, hash=False)
    environment: Hashed = field(default_factory=Hashed, hash=False)

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What identifies the result."""
        return self.unit.model, self.resolved.hash, self.unit.draw, 0

    def to_json(self) -> dict[str, Any]:
        """One flat dictionary, with hashes for settings and environment."""
        content = {**vars(self.unit), **vars(self)}
        del content["unit"]
        return {**content, "resolved": self.resolved.hash, "environment": self.environment.hash}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], definitions: Mapping[str, Hashed]) -> Self:
        """The record that :meth:`to_json` wrote."""
        values = dict(content)
        try:
            unit = FewLabelsUnit(values.pop("model"), values.pop("task"), values.pop("draw"))
            for name in ("resolved", "environment"):
                values[name] = definitions[values[name]]
            return cls(unit, **values)
        except (KeyError, TypeError) as error:
            raise LatopoError(f"FewLabelsRecord: a field is missing or unknown: {error}") from error


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


def run_units(
    units: Sequence[FewLabelsUnit], store: Store, jobs: int = 1, data_root: Path | None = None,
    on_end: Callable[[FewLabelsUnit, FewLabelsRecord | LatopoError], None] | None = None,
) -> list[FewLabelsUnit]:  # fmt: skip
    """Run what the store does not have and store each as soon as it is done; returns those that failed."""
    failed = []
    with store.writing():
        todo = [unit for unit in units if unit.key not in store]
        for unit, outcome in run_jobs(partial(_attempt, data_root=data_root), todo, jobs):
            if isinstance(outcome, FewLabelsRecord):
                store.append(outcome)
            else:
                failed.append(unit)
            if on_end is not None:
                on_end(unit, outcome)
    return failed


def _attempt(unit: FewLabelsUnit, data_root: Path | None) -> FewLabelsRecord | LatopoError:
    """A unit that fails is no reason to stop the others."""
    try:
        return run_unit(unit, data_root)
    except LatopoError as error:
        return error
