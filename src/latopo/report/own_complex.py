"""The report of a complex that did not come out of a run: your own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latopo.complex import CellComplex
from latopo.draw import Snapshot
from latopo.errors import LatopoError
from latopo.report.report_data import Points, ReportData

__all__ = ["describe_complex"]

_PERSISTENT = 200_000  # cells up to which the filtration is looked at
_WORDS = (("connected piece", "connected pieces"), ("hole", "holes"), ("cavity", "cavities"))


def describe_complex(
    cells: CellComplex,
    title: str = "A cell complex",
    *,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> ReportData:
    """The data of a report on a complex, with what is known of its nodes.

    Args:
        cells: any complex.
        title: heading of the page.
        labels: a class per node, names or numbers, None for unknown; floating point numbers are values.
        names: what to call the nodes; their numbers by default.

    Example:
        >>> square = CellComplex(4, [[0, 1, 2, 3], [1, 2, 3, 0]], [[0, 1, 2, 3]])
        >>> for sentence in describe_complex(square).story:
        ...     print(sentence)
        This complex has 1 connected piece, no holes and no cavities.
    """
    return ReportData(
        title=title,
        story=(f"This complex has {_homology(cells.betti_numbers())}.", *_filtration(cells)),
        points=_points(cells.num_nodes, labels, names),
        snapshots=(Snapshot(cells.detach().to("cpu"), title="The complex"),),
        notes=_torsion(cells),
        learned=False,
    )


def _homology(betti: Sequence[int]) -> str:
    """Betti numbers in words."""
    first, second, third = (
        f"{f'{count:,}' if count else 'no'} {names[count != 1]}" for count, names in zip(betti, _WORDS, strict=True)
    )
    return f"{first}, {second} and {third}"


def _torsion(cells: CellComplex) -> tuple[str, ...]:
    """A note where the field matters."""
    over_two, rational = cells.betti_numbers(), cells.betti_numbers(field="rational")
    if over_two == rational:
        return ()
    found = _homology(rational)
    return (f"Holes and cavities are counted over GF(2). Over the rationals it has {found}: there is torsion.",)


def _filtration(cells: CellComplex) -> list[str]:
    """The hole that lives longest while cells come in by their probability."""
    if cells.edge_prob is None or cells.num_edges + cells.num_polygons > _PERSISTENT:
        return []
    pairs = cells.detach().persistence().pairs[1]
    if not len(pairs):
        return []
    born, dead = pairs[0].tolist()
    end = "is never filled" if dead == float("inf") else f"is filled at {1 - dead:.3g}"
    opened = "1 hole opens" if len(pairs) == 1 else f"{len(pairs):,} holes open"
    return [
        f"As cells come in from the most to the least probable, {opened}; the longest-lived one opens at probability "
        f"{1 - born:.3g} and {end}."
    ]


def _points(count: int, labels: ArrayLike | None, names: Sequence[str] | None) -> Points | None:
    called = None if names is None else tuple(map(str, names))
    for name, given in (("labels", labels), ("names", called)):
        if given is not None and len(np.asarray(given)) != count:
            raise LatopoError(f"describe_complex: {name} has {len(np.asarray(given))} entries for {count} nodes")
    if labels is None:
        return None if called is None else Points(np.full(count, -1), ("unknown",), called)
    column: Any = np.asarray(labels)
    if np.issubdtype(column.dtype, np.floating):
        return Points(column.astype(np.float64), names=called)
    classes = sorted({item for item in column.tolist() if item is not None}, key=lambda item: (str(type(item)), item))
    code = {None: -1} | {item: number for number, item in enumerate(classes)}
    return Points(np.array([code[item] for item in column.tolist()], np.int64), tuple(map(str, classes)), called)
