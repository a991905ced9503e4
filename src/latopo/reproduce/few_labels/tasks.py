"""The tasks: which rows are labelled, which may choose, which are tested."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from latopo.data import find_dataset, load
from latopo.data.splits import public_split, split
from latopo.errors import LatopoError

__all__ = ["TASKS", "Problem", "Task", "find_tasks"]

IntArray = NDArray[np.int64]
Kind = Literal["tables", "public", "random", "more labels", "validated", "folds"]

_NOISE_COLUMNS = 8


class Problem(NamedTuple):
    """Rows and labels.

    Attributes:
        x: all rows [n, d], dense or sparse.
        y: all classes [n]; a rival may read those of ``train`` and ``val``.
        train, val, test: row numbers; ``val`` is None where no labels are given for choosing.
        edge_index: the given graph, for the ceiling alone.
    """

    x: Any
    y: IntArray
    train: IntArray
    val: IntArray | None
    test: IntArray
    edge_index: Any = None

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return int(self.y.max()) + 1


@dataclass(frozen=True)
class Task:
    """A data set with a number of labels.

    Attributes:
        dataset: its name; ``moons`` and ``moons-noise`` (8 columns of noise beside) are drawn by scikit-learn.
        kind: ``tables``: so many labels per class and none to choose on; ``public``: Planetoid's split; ``random``:
            splits of that size; ``more labels``: the public split with the first half of the validation nodes to learn
            from and the other half to choose on, as LDS did; ``validated``: so many labels in all, and twice as many to
            choose on; ``folds``: the paper's ten folds under the honest protocol.
        labels: per class, or in all.
    """

    dataset: str
    kind: Kind
    labels: int

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return f"{self.dataset}-{self.kind.replace(' ', '-')}-{self.labels}"

    @property
    def title(self) -> str:
        """What it is called in a table."""
        names = {"moons": "Two moons", "moons-noise": "Two moons, 8 noise columns"}
        title = names.get(self.dataset) or find_dataset(self.dataset).title
        words = " (words)" if self.kind == "tables" and self.dataset == "cora" else ""
        return f"{title}{words}, {self.labels}"

    @property
    def draws(self) -> int:
        """How many times the labels are drawn."""
        return 1 if self.kind in ("public", "more labels") else 10

    def problem(self, draw: int, data_root: Path | None = None) -> Problem:
        """The rows with one draw of the labels.

        Example:
            >>> problem = Task("iris", "tables", 5).problem(0)
            >>> len(problem.train), problem.val, len(problem.test)
            (15, None, 135)
        """
        x, y, edges = _rows(self.dataset, data_root)
        train, val, test = self._parts(y, draw, data_root)
        return Problem(x, y, train, val, test, edges)

    def _parts(self, y: IntArray, draw: int, data_root: Path | None) -> tuple[IntArray, IntArray | None, IntArray]:
        if self.kind == "folds":
            nodes = split(len(y), find_dataset(self.dataset).fold_seed, draw)
            assert nodes.val is not None
            return nodes.train.numpy(), nodes.val.numpy(), nodes.test.numpy()
        if self.kind in ("public", "more labels"):
            nodes = public_split(self.dataset, data_root)
            assert nodes.val is not None
            train, val, test = (part.numpy() for part in (nodes.train, nodes.val, nodes.test))
            if self.kind == "public":
                return train, val, test
            half = len(val) // 2
            return np.concatenate([train, val[:half]]), val[half:], test
        random = np.random.RandomState(draw)
        if self.kind == "validated":
            order = _rounds(y, random)
            return order[: self.labels], order[self.labels : 3 * self.labels], order[3 * self.labels :]
        classes = [random.permutation(np.flatnonzero(y == label)) for label in range(y.max() + 1)]
        train = np.concatenate([members[: self.labels] for members in classes])
        rest = random.permutation(np.setdiff1d(np.arange(len(y)), train))
        return (train, None, np.sort(rest)) if self.kind == "tables" else (train, rest[:500], rest[500:1500])


def _rounds(y: IntArray, random: np.random.RandomState) -> IntArray:
    """A random order in which the classes take turns at first, each with one row."""
    order = random.permutation(len(y))
    firsts = np.array([order[np.flatnonzero(y[order] == label)[0]] for label in range(y.max() + 1)])
    return np.concatenate([firsts, order[~np.isin(order, firsts)]])


@lru_cache(maxsize=2)
def _rows(dataset: str, data_root: Path | None) -> tuple[Any, IntArray, Any]:
    if dataset.startswith("moons"):
        from sklearn.datasets import make_moons

        x, y = make_moons(500, noise=0.2, random_state=0)
        noise = np.random.RandomState(1).randn(500, _NOISE_COLUMNS)
        return (x if dataset == "moons" else np.hstack([x, noise])), y.astype(np.int64), None
    data = load(dataset, data_root)
    x = data.x
    if x.layout == torch.sparse_csr:
        parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
        return sparse.csr_array(parts, shape=tuple(x.shape)), data.y.numpy(), data.edge_index
    return x.numpy().astype(np.float64), data.y.numpy(), data.edge_index


_TABLES = ("wine", "breast_cancer", "digits", "iris", "moons", "moons-noise", "cora")
_PLANETOID = ("cora", "citeseer", "pubmed")
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        *(Task(name, "tables", labels) for name in _TABLES for labels in (5, 10, 20)),
        *(Task(name, "public", 20) for name in _PLANETOID),
        *(Task(name, "random", 20) for name in _PLANETOID),
        Task("cora", "more labels", 390),
        Task("citeseer", "more labels", 370),
        *(Task(name, "folds", 80) for name in ("cora", "citeseer", "texas", "wisconsin", "chameleon", "squirrel")),
        *(Task(name, "validated", labels) for name, labels in (("wine", 10), ("breast_cancer", 10), ("digits", 50))),
    )
}


def find_tasks(names: list[str] | None = None) -> list[Task]:
    """The tasks that names stand for: a task, a data set, or a kind such as ``tables``; all by default.

    Example:
        >>> [task.name for task in find_tasks(["iris"])]
        ['iris-tables-5', 'iris-tables-10', 'iris-tables-20']
    """
    if names is None:
        return list(TASKS.values())
    words = {task: {task.name, task.dataset, task.kind.replace(" ", "-")} for task in TASKS.values()}
    for name in names:
        if not any(name in known for known in words.values()):
            known = ", ".join(dict.fromkeys(word for task in words for word in (task.dataset, task.kind)))
            raise LatopoError(f"few-labels: there is no task {name!r}; choose from {known}, or a task by its name")
    return [task for task, known in words.items() if known & set(names)]
