"""What a report is made of, whatever kind of run it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError

__all__ = ["Baseline", "History", "Points", "ReportData", "Score", "Table", "TableCell", "TableRow"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
History = Mapping[str, Sequence[float | None]]
"""Column name → one value per row; ``epoch`` is a column, None is a value that was not measured in that epoch."""

ROLES = ("train", "validation", "test")


@dataclass(frozen=True)
class Baseline:
    """What a score stands beside.

    Attributes:
        name: for instance ``mlp``.
        value: in the unit of the score.
        meaning: what it is, for people who do not know the name.
    """

    name: str
    value: float
    meaning: str = ""


@dataclass(frozen=True)
class Score:
    """How good the predictions are.

    Attributes:
        value: share of right predictions from 0 to 1, or R².
        metric: ``accuracy`` or ``r2``.
        where: the points it was measured on, in words: "test points".
        spread: standard deviation over folds, None for one fold.
        folds: score of each fold, in order; empty if there are no folds.
        baselines: what others reach on the same points.
    """

    value: float
    metric: str = "accuracy"
    where: str = "test points"
    spread: float | None = None
    folds: tuple[float, ...] = ()
    baselines: tuple[Baseline, ...] = ()


@dataclass(frozen=True, eq=False)
class Points:
    """What is known of the nodes, [N] each.

    Attributes:
        labels: numbers of classes, −1 for unknown; or values, for regression.
        class_names: names of classes 0, 1, …; empty for regression.
        names: what to call the nodes; their numbers by default.
        predictions: as ``labels``; −1 or NaN where there is none.
        confidence: the predicted class's probability, NaN for unknown.
        roles: 0 train, 1 validation, 2 test, −1 none.

    Example:
        >>> points = Points(np.array([0, 1, -1]), ("no", "yes"))
        >>> points.name(2), points.class_name(points.labels[1])
        ('2', 'yes')
    """

    labels: NDArray[Any]
    class_names: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    predictions: NDArray[Any] | None = None
    confidence: FloatArray | None = None
    roles: IntArray | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, and classes without a name."""
        for name in ("names", "predictions", "confidence", "roles"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.labels):
                raise LatopoError(f"Points: {name} has {len(column)} entries, labels {len(self.labels)}")
        for name in ("labels", "predictions"):
            column = getattr(self, name)
            if self.class_names and column is not None and len(column) and column.max() >= len(self.class_names):
                raise LatopoError(f"Points: {name} holds class {column.max()}, but {len(self.class_names)} have names")

    @property
    def is_quantity(self) -> bool:
        """Whether labels are values and not classes."""
        return not self.class_names

    def name(self, node: int) -> str:
        """What to call a node."""
        return str(node) if self.names is None else self.names[node]

    def class_name(self, code: int) -> str:
        """Name of a class."""
        return self.class_names[code] if code >= 0 else "unknown"


@dataclass(frozen=True)
class TableCell:
    """One result among others.

    Attributes:
        value: what is shown and sorted by; None for nothing.
        spread: standard deviation over folds.
        folds: the folds' values, for the distribution.
        remark: a short text under the number, such as the paper's number.
        difference: distance to that, coloured by its sign.
    """

    value: float | None
    spread: float | None = None
    folds: tuple[float, ...] = ()
    remark: str = ""
    difference: float | None = None


@dataclass(frozen=True)
class TableRow:
    """A row of results: its labels, then one cell per data set."""

    labels: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes:
        title: what is in it.
        label_columns: headings of the rows' labels.
        columns: headings of the cells.
        rows: in the order in which they are first shown.
        digits: after the point.
        caption: how the numbers were made.
        notes: what else to know.
    """

    title: str
    label_columns: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    digits: int = 2
    caption: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that one report shows; what is empty is left out of the page.

    Attributes:
        title: heading, for instance "dcm-plus on Texas".
        story: what was run, on what, in sentences that need no prior knowledge.
        score: how good the predictions are.
        points: what is known of the nodes.
        snapshots: the complex over the training, in order, all on the same nodes.
        shown: number of the snapshot that the report's statements are about; the last by default.
        histories: name of a fold → its history.
        confusion: [classes, classes], true by predicted; by default from the predictions of the test points.
        settings: how it was run, name → value.
        tables: tables of results.
        notes: what a careful reader should know.
    """

    title: str
    story: tuple[str, ...] = ()
    score: Score | None = None
    points: Points | None = None
    snapshots: tuple[Snapshot, ...] = ()
    shown: int = -1
    histories: Mapping[str, History] = field(default_factory=dict)
    confusion: IntArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse snapshots of different nodes."""
        sizes = {snapshot.complex.num_nodes for snapshot in self.snapshots}
        if self.points is not None and self.snapshots:
            sizes.add(len(self.points.labels))
        if len(sizes) > 1:
            raise LatopoError(f"ReportData: snapshots and points have {sorted(sizes)} nodes, expected one number")
        if self.snapshots and not -len(self.snapshots) <= self.shown < len(self.snapshots):
            raise LatopoError(f"ReportData: shown is {self.shown}, but there are {len(self.snapshots)} snapshots")

    @property
    def complex(self) -> CellComplex | None:
        """The complex that the report's statements are about."""
        return self.snapshots[self.shown].complex if self.snapshots else None
