"""What is measured of a complex and of the predictions; statements about classes always beside chance."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.cycles import count_induced_cycles, induced_cycles
from latopo.report.data import IntArray, Points

__all__ = [
    "Agreement",
    "Facts",
    "Purity",
    "Strongest",
    "chance_agreement",
    "confusion_matrix",
    "edge_purity",
    "measure_agreement",
    "measure_complex",
    "polygon_purity",
    "strongest_polygons",
]

# Comparing with all cycles of the graph must not take longer than the rest of the report.
_MOST_CYCLES = 300_000


@dataclass(frozen=True)
class Purity:
    """How many cells of one kind have all their corners in one class.

    Attributes:
        length: corners of a cell; 2 for edges.
        pure: cells with all corners in one class.
        counted: cells whose corners all have a known class.
        chance: the share that as many random points would have.
    """

    length: int
    pure: int
    counted: int
    chance: float

    @property
    def share(self) -> float | None:
        """Share of pure cells, None without any."""
        return self.pure / self.counted if self.counted else None


@dataclass(frozen=True)
class Facts:
    """The numbers of one snapshot; shares are None where there is nothing to count."""

    edges: int
    polygons: dict[int, int]
    mean_degree: float
    isolated: int
    betti: tuple[int, int, int]
    euler: int
    homophily: float | None
    polygon_purity: float | None

    @property
    def num_polygons(self) -> int:
        """Polygons of all lengths."""
        return sum(self.polygons.values())


@dataclass(frozen=True)
class Agreement:
    """How far the cells of a complex keep within a class.

    Attributes:
        edges: of the edges.
        polygons: of the polygons, length by length.
        cycles: length → of *all* chordless cycles of the graph, polygons or not; empty if there are too many. Edges
            that agree with the classes make pure cycles by themselves: this is what a choice of polygons has to beat.
    """

    edges: Purity
    polygons: tuple[Purity, ...]
    cycles: dict[int, Purity]


@dataclass(frozen=True)
class Strongest:
    """One of the most probable polygons: its corners in cyclic order."""

    corners: tuple[int, ...]
    probability: float | None


def measure_complex(complex: CellComplex, points: Points | None = None) -> Facts:
    """Counts, degrees, topology and, with classes, agreement with them.

    Example:
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> measure_complex(triangle).betti
        (1, 0, 0)
    """
    known = points is not None and not points.is_quantity
    edges = edge_purity(complex, points) if known and points is not None else None
    polygons = polygon_purity(complex, points) if known and points is not None else []
    counted = sum(item.counted for item in polygons)
    degree = complex.node_degree()
    return Facts(
        edges=complex.num_edges,
        polygons={length: len(rows) for length, rows in complex.polygons.items() if len(rows)},
        mean_degree=2 * complex.num_edges / max(complex.num_nodes, 1),
        isolated=int((degree == 0).sum()),
        betti=complex.betti_numbers(),
        euler=complex.euler_characteristic(),
        homophily=None if edges is None else edges.share,
        polygon_purity=sum(item.pure for item in polygons) / counted if counted else None,
    )


def chance_agreement(labels: IntArray, length: int) -> float:
    """Probability that ``length`` different random points with a known class are all of one class.

    Example:
        >>> chance_agreement(np.array([0, 0, 1, -1]), 2)
        0.333...
    """
    counts = np.bincount(labels[labels >= 0])
    drawn = math.comb(int(counts.sum()), length)
    return sum(math.comb(int(count), length) for count in counts) / drawn if drawn else math.nan


def edge_purity(complex: CellComplex, points: Points) -> Purity:
    """Edges with both ends in one class."""
    return _purity(complex.edge_index.t().cpu().numpy(), points.labels)


def polygon_purity(complex: CellComplex, points: Points) -> list[Purity]:
    """Polygons with all corners in one class, length by length."""
    return [_purity(rows.cpu().numpy(), points.labels) for rows in complex.polygons.values() if len(rows)]


def measure_agreement(complex: CellComplex, points: Points | None) -> Agreement | None:
    """How the cells agree with the classes; None without classes."""
    if points is None or points.is_quantity:
        return None
    polygons = polygon_purity(complex, points)
    cycles = _cycle_purity(complex, points, [item.length for item in polygons])
    return Agreement(edge_purity(complex, points), tuple(polygons), cycles)


def _cycle_purity(complex: CellComplex, points: Points, lengths: list[int]) -> dict[int, Purity]:
    if not lengths:
        return {}
    count = count_induced_cycles(complex.edge_index, complex.num_nodes, max(lengths))
    if sum(count.values()) > _MOST_CYCLES:
        return {}
    cycles = induced_cycles(complex.edge_index, complex.num_nodes, max(lengths))
    return {length: _purity(cycles[length].cpu().numpy(), points.labels) for length in lengths}


def _purity(rows: IntArray, labels: IntArray) -> Purity:
    found = labels[rows]
    counted = (found >= 0).all(axis=1)
    pure = counted & (found == found[:, :1]).all(axis=1)
    return Purity(rows.shape[1], int(pure.sum()), int(counted.sum()), chance_agreement(labels, rows.shape[1]))


def strongest_polygons(complex: CellComplex, count: int = 20, among: Tensor | None = None) -> list[Strongest]:
    """The most probable polygons, most probable first, of equals the shorter and then the first in order.

    ``among`` are numbers of polygons; by default all of them.

    Example:
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> strongest_polygons(triangle)
        [Strongest(corners=(0, 1, 2), probability=None)]
    """
    prob = None if complex.polygon_prob is None else complex.polygon_prob.detach().cpu().double()
    numbers = torch.arange(complex.num_polygons) if among is None else among.cpu()
    if prob is not None:
        numbers = numbers[torch.argsort(prob[numbers], descending=True, stable=True)]
    return [
        Strongest(_corners(complex, number), None if prob is None else float(prob[number]))
        for number in numbers[:count].tolist()
    ]


def _corners(complex: CellComplex, number: int) -> tuple[int, ...]:
    for rows in complex.polygons.values():
        if number < len(rows):
            return tuple(rows[number].tolist())
        number -= len(rows)
    raise IndexError(number)


def confusion_matrix(points: Points) -> IntArray | None:
    """True class by predicted class, [classes, classes], of the test points, or of all if nothing else is known.

    Example:
        >>> points = Points(np.array([0, 1, 1]), ("a", "b"), predictions=np.array([0, 0, 1]))
        >>> confusion_matrix(points)
        array([[1, 0],
               [1, 1]])
    """
    if points.is_quantity or points.predictions is None:
        return None
    chosen = (points.labels >= 0) & (points.predictions >= 0)
    if points.roles is not None and (points.roles == 2).any():
        chosen &= points.roles == 2
    size = len(points.class_names)
    pairs = points.labels[chosen] * size + points.predictions[chosen]
    return np.bincount(pairs, minlength=size * size).reshape(size, size).astype(np.int64)
