"""What is measured of a complex; every statement about classes comes with what chance would give."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from torch import Tensor

from latopo.complex import CellComplex
from latopo.cycles import count_induced_cycles, induced_cycles
from latopo.report.report_data import FloatArray, IntArray, Points

__all__ = [
    "Agreement",
    "Facts",
    "Polygon",
    "Purity",
    "chance_agreement",
    "measure_complex",
    "ring_purity",
    "strongest_polygons",
    "value_agreement",
    "with_strengths",
]

_PAIRINGS = 200  # random ones, to tell what chance gives
# Comparing with all rings of the graph must not take longer than the rest of the report.
_MOST_RINGS = 300_000


class Purity(NamedTuple):
    """How many cells of one kind have all their corners in one class."""

    length: int  # corners of a cell; 2 for edges
    pure: int  # cells with all corners in one class
    counted: int  # cells whose corners all have a known class
    chance: float  # the share of pure cells if corners were random points

    @property
    def share(self) -> float | None:
        """Share of pure cells, None if there are none to count."""
        return self.pure / self.counted if self.counted else None


class Agreement(NamedTuple):
    """How alike the values of joined nodes are."""

    correlation: float  # of the values at the two ends of an edge, edges weighed by their probability
    chance: float  # 19 of 20 random pairings stay below it
    counted: int  # edges with a value at both ends


@dataclass(frozen=True)
class Facts:
    """The numbers of one complex."""

    nodes: int
    edges: int
    polygons: dict[int, int]  # length → how many, for the lengths that occur
    isolated: int  # nodes without an edge
    betti: tuple[int, int, int]
    euler: int
    purity: dict[int, Purity] = field(default_factory=dict)  # of the edges (2) and polygons; empty without classes
    agreement: Agreement | None = None  # with the values; None without any

    @property
    def num_polygons(self) -> int:
        """Polygons of all lengths."""
        return sum(self.polygons.values())

    @property
    def mean_degree(self) -> float:
        """Neighbours per node."""
        return 2 * self.edges / max(self.nodes, 1)

    def share(self, length: int) -> float | None:
        """Share of the cells of a length that lie within a class, None if there are none to count."""
        return self.purity[length].share if length in self.purity else None

    @property
    def polygon_purity(self) -> Purity:
        """Purity of the polygons of all lengths together (length 0); chance is that of their mixture."""
        known = [item for item in self.purity.values() if item.length > 2 and item.counted]
        pure, counted = sum(item.pure for item in known), sum(item.counted for item in known)
        return Purity(0, pure, counted, sum(item.counted * item.chance for item in known) / max(counted, 1))


class Polygon(NamedTuple):
    """Corners in cyclic order, and how strong it is: its probability, or that as a share of the largest."""

    corners: tuple[int, ...]
    strength: float | None


def measure_complex(cx: CellComplex, points: Points | None = None) -> Facts:
    """Counts, topology and, with classes or values, how far the cells agree with them."""
    polygons = {length: rows for length, rows in cx.polygons.items() if len(rows)}
    purity = {}
    if points is not None and points.targets and not points.is_quantity:
        cells = {2: cx.edge_index.t(), **polygons}
        purity = {length: _purity(rows, points.labels) for length, rows in cells.items()}
    return Facts(
        nodes=cx.num_nodes,
        edges=cx.num_edges,
        polygons={length: len(rows) for length, rows in polygons.items()},
        isolated=int((cx.node_degree() == 0).sum()),
        betti=cx.betti_numbers(),
        euler=cx.euler_characteristic(),
        purity=purity,
        agreement=value_agreement(cx, points.labels) if points is not None and points.is_quantity else None,
    )


def value_agreement(cx: CellComplex, values: FloatArray) -> Agreement | None:
    """The correlation of the nodes' values [N] (NaN for unknown) across the edges; None where it has no meaning.

    Each edge counts in both directions, so that the mean and the deviation are those of the joined nodes, and nodes
    with many edges are not taken for typical ones. Chance is what the same edges give if the values are shuffled.

    Example:
        >>> path = CellComplex(5, [[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> round(value_agreement(path, np.arange(5.0)).correlation, 3)
        0.667
    """
    ends = cx.edge_index.cpu().numpy()
    known = np.isfinite(values)
    counted = known[ends].all(axis=0)
    ends, weight = ends[:, counted], np.ones(int(counted.sum()))
    if cx.edge_prob is not None:
        weight = cx.edge_prob.double().cpu().numpy()[counted]
    if not weight.any() or np.ptp(values[ends]) == 0:
        return None
    scaled = values / np.abs(values[known]).max()  # squares stay within float64
    found, random, shuffled = _correlation(scaled, ends, weight), np.random.default_rng(0), scaled.copy()
    draws = []
    for _ in range(_PAIRINGS):
        shuffled[known] = random.permutation(scaled[known])
        draws.append(_correlation(shuffled, ends, weight))
    return Agreement(found, float(np.quantile(draws, 0.95)), len(weight))


def _correlation(values: FloatArray, ends: IntArray, weight: FloatArray) -> float:
    pairs, share = values[ends], weight / weight.sum()
    pairs = pairs - (pairs.mean(axis=0) @ share)
    variance = float(np.square(pairs).mean(axis=0) @ share)
    return float(pairs.prod(axis=0) @ share) / variance if variance > 0 else 0.0


def with_strengths(cx: CellComplex) -> CellComplex:
    """The complex with p / max p in place of its polygons' probabilities: these sum to 1, which says little of one."""
    if cx.polygon_prob is None or not cx.polygon_prob.any():
        return cx
    return cx.with_probabilities(cx.edge_prob, cx.polygon_prob / cx.polygon_prob.max())


def ring_purity(cx: CellComplex, facts: Facts, points: Points | None) -> dict[int, Purity]:
    """Purity of *all* chordless cycles of the graph, polygons or not, for the lengths of the polygons.

    Edges that agree with the classes make pure rings on their own: this is what a choice of polygons has to beat. Empty
    without classes, and if there are too many rings.
    """
    lengths = facts.purity.keys() - {2}
    if points is None or not lengths:
        return {}
    if sum(count_induced_cycles(cx.edge_index, cx.num_nodes, max(lengths)).values()) > _MOST_RINGS:
        return {}
    rings = induced_cycles(cx.edge_index, cx.num_nodes, max(lengths))
    return {length: _purity(rings[length], points.labels) for length in sorted(lengths)}


def _purity(rows: Tensor, labels: IntArray) -> Purity:
    found = labels[rows.cpu().numpy()]
    counted = (found >= 0).all(axis=1)
    pure = counted & (found == found[:, :1]).all(axis=1)
    return Purity(rows.size(1), int(pure.sum()), int(counted.sum()), chance_agreement(labels, rows.size(1)))


def chance_agreement(labels: IntArray, length: int) -> float:
    """Probability that ``length`` different random points of known class all belong to one class."""
    counts = np.bincount(labels[labels >= 0])
    drawn = math.comb(int(counts.sum()), length)
    return sum(math.comb(int(count), length) for count in counts) / drawn if drawn else math.nan


def strongest_polygons(cx: CellComplex, most: int, among: Tensor | None = None) -> list[Polygon]:
    """The strongest polygons, strongest first; ties go to the shorter one, then to the first in order.

    ``among`` holds numbers of polygons; by default all of them.
    """
    corners = [tuple(row) for rows in cx.polygons.values() for row in rows.tolist()]
    prob = [None] * len(corners) if cx.polygon_prob is None else cx.polygon_prob.tolist()
    numbers = range(len(corners)) if among is None else among.tolist()
    best = sorted(numbers, key=lambda number: -(prob[number] or 0.0))[:most]  # stable
    return [Polygon(corners[number], prob[number]) for number in best]
