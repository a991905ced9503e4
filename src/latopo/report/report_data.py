"""What a report is made of, whatever kind of run it comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latopo._stored import check_form
from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError

__all__ = ["Baseline", "Column", "History", "Points", "ReportData", "Score", "ShownCell", "ShownRow", "ShownTable"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
History = Mapping[str, Sequence[float | None]]
"""Column name → one value per row; ``epoch`` is a column, None is a value that was not measured in that epoch."""

ROLES = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)

_NUMBER = int | float
_SCORE = {"value": _NUMBER, "spread": (_NUMBER, None), "metric": str, "more": {str: {str: _NUMBER}}}


_BASELINE = {"name": str, "value": _NUMBER}


def _check(owner: str, content: Any, form: Any) -> None:
    try:
        check_form(content, form)
    except ValueError as error:
        raise LatopoError(f"{owner}: {error}") from error


class Baseline(NamedTuple):
    """Something to compare a score with."""

    name: str  #: for instance mlp
    value: float  #: in the unit of the score
    meaning: str = ""  #: what it is, for people who do not know the name


@dataclass(frozen=True)
class Score:
    """How good the predictions are."""

    value: float  #: share of correct predictions from 0 to 1, or R²
    metric: str = "accuracy"  #: or "r2"
    where: str = "test points"  #: it was measured on, in words
    spread: float | None = None  #: standard deviation over folds, None for one fold
    baselines: tuple[Baseline, ...] = ()  #: what others reach on the same points
    more: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  #: model → other scores by name

    def __post_init__(self) -> None:
        """Refuse what is not a number: it may stem from a stranger's file."""
        _check("Score", vars(self), _SCORE)
        _check("Score", [{"name": item.name, "value": item.value} for item in self.baselines], [_BASELINE])


class Column(NamedTuple):
    """What a column of the table says about the points."""

    name: str
    values: tuple[str | float | None, ...]  #: of each point: a number, a text, None for missing


@dataclass(frozen=True, eq=False)
class Points:
    """What is known about the nodes, [N] each."""

    labels: NDArray[Any]  #: class numbers, −1 for unknown; or values, for regression
    class_names: tuple[str, ...] = ()  #: of classes 0, 1, …; empty for regression
    names: tuple[str, ...] | None = None  #: what to call the nodes; their numbers by default
    predictions: NDArray[Any] | None = None  #: like labels; −1 or NaN where there is none
    confidence: FloatArray | None = None  #: probability of the predicted class, NaN for unknown
    roles: IntArray | None = None  #: 0 train, 1 validation, 2 test, −1 none
    labelled: NDArray[np.bool_] | None = None  #: whether the model knew the label, where it did not know all of them
    columns: tuple[Column, ...] = ()  #: of the table, if they are to be shown
    targets: bool = True  #: whether labels are what the model predicts; those of a molecule's atoms are not

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, and classes without a name."""
        sized = {name: getattr(self, name) for name in ("names", "predictions", "confidence", "roles", "labelled")}
        sized |= {f"the column {column.name!r}": column.values for column in self.columns}
        for name, column in sized.items():
            if column is not None and len(column) != len(self.labels):
                raise LatopoError(f"Points: {name} has {len(column)} entries, but labels has {len(self.labels)}")
        for name in ("labels", "predictions"):
            column = getattr(self, name)
            if self.class_names and column is not None and len(column) and column.max() >= len(self.class_names):
                raise LatopoError(f"Points: {name} has class {column.max()}, but {len(self.class_names)} have names")

    @property
    def is_quantity(self) -> bool:
        """Whether labels are values rather than classes."""
        return not self.class_names

    @property
    def shown(self) -> NDArray[Any]:
        """What the points are taken for: their labels, and predictions where the model did not know the label."""
        if self.labelled is None or self.predictions is None:
            return self.labels
        return np.where(self.labelled, self.labels, self.predictions)

    def class_name(self, code: int) -> str:
        """Name of a class."""
        return self.class_names[code] if code >= 0 else "unknown"


@dataclass(frozen=True)
class ShownCell:
    """One number of a table of results."""

    value: float | None  #: what is shown and sorted by; None for nothing
    spread: float | None = None  #: standard deviation over folds
    folds: tuple[float, ...] = ()  #: the value of each fold
    remark: str = ""  #: a short text under the number, such as the paper's number
    difference: float | None = None  #: distance to that number, coloured by its sign


class ShownRow(NamedTuple):
    """A row of results: its labels, then one cell per column."""

    labels: tuple[str, ...]
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True)
class ShownTable:
    """A table of results."""

    title: str
    label_columns: tuple[str, ...]  #: headings of the rows' labels
    columns: tuple[str, ...]  #: headings of the cells
    rows: tuple[ShownRow, ...]  #: in the order in which they are first shown
    digits: int = 2
    caption: str = ""  #: how the numbers were made
    notes: tuple[str, ...] = ()

    def level(self, value: float, column: int) -> float:
        """Where a value lies in its column: 0 is the lowest, 1 the highest."""
        values = [cell.value for row in self.rows if (cell := row.cells[column]).value is not None]
        low, high = min(values), max(values)
        return (value - low) / (high - low) if high > low else 0.0


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that one report shows; what is empty is left out of the page."""

    title: str  #: for instance "dcm-plus on Texas"
    story: tuple[str, ...] = ()  #: what was run, on what, in sentences that need no prior knowledge
    score: Score | None = None
    points: Points | None = None
    snapshots: tuple[Snapshot, ...] = ()  #: the complex over the course of training, in order, all on the same nodes
    shown: int = -1  #: index of the snapshot that the report describes
    histories: Mapping[str, History] = field(default_factory=dict)  #: name of a fold → its history
    confusion: IntArray | None = None  #: true by predicted class; by default from the predictions of the test points
    settings: Mapping[str, Any] = field(default_factory=dict)  #: how it was run, name → value
    tables: tuple[ShownTable, ...] = ()
    notes: tuple[str, ...] = ()  #: what a careful reader should know
    learned: bool = True  #: whether a model made the complex, and not the reader
    predicted_classes: tuple[str, ...] = ()  #: their names, where they are not those of the points

    def __post_init__(self) -> None:
        """Refuse snapshots of different nodes, curves that are not numbers, and a matrix that is not one of classes."""
        _check("ReportData", vars(self), {"title": str})
        for history in self.histories.values():
            _check("ReportData", dict(history), {str: [_NUMBER | None]})
        if self.confusion is not None and (self.confusion.ndim != 2 or len(set(self.confusion.shape)) != 1):
            raise LatopoError(f"ReportData: confusion is {self.confusion.shape}, expected as many rows as columns")
        sizes = {snapshot.complex.num_nodes for snapshot in self.snapshots}
        if self.points is not None and self.snapshots:
            sizes.add(len(self.points.labels))
        if len(sizes) > 1:
            raise LatopoError(f"ReportData: snapshots and points have {sorted(sizes)} nodes, expected one number")
        if self.snapshots and not -len(self.snapshots) <= self.shown < len(self.snapshots):
            raise LatopoError(f"ReportData: shown is {self.shown}, but there are {len(self.snapshots)} snapshots")

    @property
    def complex(self) -> CellComplex | None:
        """The complex that the report describes."""
        return self.snapshots[self.shown].complex if self.snapshots else None

    def name(self, node: int) -> str:
        """What to call a node."""
        return str(node) if self.points is None or self.points.names is None else self.points.names[node]

    def classes_of(self, nodes: Iterable[int]) -> list[int]:
        """Class that each node is taken for, −1 for unknown; empty if the points have no classes."""
        if self.points is None or self.points.is_quantity:
            return []
        return self.points.shown[list(nodes)].tolist()

    def predicted(self, nodes: Iterable[int]) -> int:
        """How many of the nodes have no label that the model knew, so that their class is a prediction."""
        if self.points is None or self.points.labelled is None or self.points.predictions is None:
            return 0
        return int((~self.points.labelled[list(nodes)]).sum())

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes that are predicted."""
        return self.predicted_classes or (() if self.points is None else self.points.class_names)

    @property
    def polygon_word(self) -> str:
        """What the number at a polygon is: a model's probabilities sum to 1 over all, so their strength is shown."""
        return "strength" if self.learned else "probability"
