"""Who hears whom on a complex with weighted cells: the sums of message passing, one for each equation.

Layers hold weights and know no complex; they ask for these sums. So the same layer works on a complex
(:class:`ComplexNeighborhoods`) and for queries that join a fitted one
(:class:`~latopo.nn.query_neighborhoods.QueryNeighborhoods`).
"""

from typing import Protocol

import torch
from torch import Tensor

from latopo._arguments import check_dense
from latopo._modes import unwatched
from latopo._precision import widen
from latopo.complex import CellComplex
from latopo.complex.side_sums import sum_over_upper
from latopo.errors import LatopoError
from latopo.nn.checks import check_weight
from latopo.nn.node_conv import graph_product
from latopo.nn.relaxation import Relaxation, cell_weights

__all__ = ["ComplexNeighborhoods", "Neighborhoods", "as_neighborhoods", "effective_polygon_weight"]


class Neighborhoods(Protocol):
    """The sums that layers ask for, by cells that hear; ``x`` holds the features of those cells."""

    def nodes(self, x: Tensor) -> Tensor:
        """Over neighbouring nodes and the node itself, normalised (equation 14), [N, F]."""
        ...

    def ends(self, x: Tensor) -> Tensor:
        """Over the two ends of each edge (equation 5), [E, F]."""
        ...

    def edges(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Over upper and over lower neighbours of each edge, normalised (equation 15), [E, F] each."""
        ...

    def around(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Over the edges at each node, weighted, [N, F], and 1 + the sum of their weights (equation 9), [N, 1]."""
        ...

    def sides(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The mean over the sides of each polygon, [P, F], and their number, [P]."""
        ...

    def above(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Over the polygons at each edge, weighted, [E, F], and 1 + the sum of their weights, [E, 1]."""
        ...


class ComplexNeighborhoods:
    """The sums on a complex.

    Args:
        cx: the complex.
        edge_weight: [E], 1 by default.
        polygon_weight: [P], 1 by default. A polygon also weighs as little as the lightest of its edges: it fades out
            with any of them, as it would vanish with it.

    Example:
        >>> path = CellComplex(3, torch.tensor([[0, 1], [1, 2]]))
        >>> ComplexNeighborhoods(path).around(torch.tensor([[1.0], [10.0]]))[0].flatten()
        tensor([ 1., 11., 10.])
    """

    def __init__(
        self, cx: CellComplex, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
    ) -> None:
        self.cx, self.edge_weight, self._given_weight = cx, edge_weight, polygon_weight
        self._effective_weight: Tensor | None = None

    @classmethod
    def relaxed(cls, cx: CellComplex, relaxation: Relaxation) -> "ComplexNeighborhoods":
        """With the weights that a relaxation gives to the cells."""
        return cls(cx, *cell_weights(cx, relaxation))

    @property
    def polygon_weight(self) -> Tensor | None:
        """The polygons' weights, their edges' taken into account; None if all are 1."""
        # Kept by hand: torch.compile cannot look into cached_property.
        if self._effective_weight is None:
            self._effective_weight = effective_polygon_weight(self.cx, self.edge_weight, self._given_weight)
        return self._effective_weight

    def nodes(self, x: Tensor) -> Tensor:
        """Equation 14."""
        _check_rows(x, self.cx.num_nodes, "nodes")
        return graph_product(x, self.cx.edge_index, self.edge_weight)

    def ends(self, x: Tensor) -> Tensor:
        """Equation 5."""
        _check_rows(x, self.cx.num_nodes, "nodes")
        start, end = self.cx.edge_index
        return x.index_select(0, start) + x.index_select(0, end)

    @unwatched
    def edges(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Equation 15; neither adjacency is ever built: each is two products with an incidence."""
        _check_rows(x, self.cx.num_edges, "edges")
        upper_scale, lower_scale = self._edge_scales(x)
        upper = upper_scale * sum_over_upper(self.cx, upper_scale * x, self.polygon_weight)
        return upper, lower_scale * self.cx.lower_product(lower_scale * x, self.edge_weight)

    def _edge_scales(self, x: Tensor) -> tuple[Tensor, Tensor]:
        upper = (1 + self.cx.upper_degree(polygon_weight=self.polygon_weight)).to(x.dtype).rsqrt()[:, None]
        return upper, (1 + self.cx.lower_degree(self.edge_weight)).to(x.dtype).rsqrt()[:, None]

    def around(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Equation 9, before the division."""
        _check_rows(x, self.cx.num_edges, "edges")
        x = widen(x)
        start, end = self.cx.edge_index
        weight = self._weights(x)
        weighted = weight[:, None] * x
        total = x.new_zeros(self.cx.num_nodes, x.size(1)).index_add(0, start, weighted).index_add(0, end, weighted)
        return total, x.new_ones(self.cx.num_nodes).index_add(0, start, weight).index_add(0, end, weight)[:, None]

    def sides(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Each polygon from its sides."""
        _check_rows(x, self.cx.num_edges, "edges")
        edge, polygon = self.cx.polygon_edge_index()
        length = self.cx.polygon_lengths
        total = x.new_zeros(self.cx.num_polygons, x.size(1)).index_add(0, polygon, x.index_select(0, edge))
        return total / length[:, None], length

    def above(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Each edge from its polygons, before the division."""
        _check_rows(x, self.cx.num_polygons, "polygons")
        x = widen(x)
        edge, polygon = self.cx.polygon_edge_index()
        weight = x.new_ones(x.size(0)) if self.polygon_weight is None else self.polygon_weight.to(x.dtype)
        weighted = (weight[:, None] * x).index_select(0, polygon)
        degree = x.new_ones(self.cx.num_edges).index_add(0, edge, weight.index_select(0, polygon))
        return x.new_zeros(self.cx.num_edges, x.size(1)).index_add(0, edge, weighted), degree[:, None]

    def _weights(self, x: Tensor) -> Tensor:
        return x.new_ones(self.cx.num_edges) if self.edge_weight is None else self.edge_weight.to(x.dtype)


def _check_rows(x: Tensor, count: int, cells: str) -> None:
    check_dense("Neighborhoods", "x", x)
    if x.dim() != 2 or not x.is_floating_point():
        raise LatopoError(f"Neighborhoods: x must be a floating point matrix, got {x.dtype} of shape {list(x.shape)}")
    if x.size(0) != count:
        raise LatopoError(f"Neighborhoods: x has {x.size(0)} rows, expected one for each of {count} {cells}")


def as_neighborhoods(
    cells: CellComplex | Neighborhoods, edge_weight: Tensor | None = None, polygon_weight: Tensor | None = None
) -> Neighborhoods:
    """A complex with these weights, or neighbourhoods, which have theirs."""
    if isinstance(cells, CellComplex):
        check_weight("Neighborhoods", "edge_weight", edge_weight, cells.num_edges)
        check_weight("Neighborhoods", "polygon_weight", polygon_weight, cells.num_polygons)
        return ComplexNeighborhoods(cells, edge_weight, polygon_weight)
    if not hasattr(cells, "around"):
        raise LatopoError(f"Neighborhoods: expected a CellComplex or neighbourhoods, got {type(cells).__name__}")
    if edge_weight is not None or polygon_weight is not None:
        raise LatopoError("Neighborhoods: these have weights of their own; give weights with a CellComplex only")
    return cells


def effective_polygon_weight(
    cx: CellComplex, edge_weight: Tensor | None, polygon_weight: Tensor | None
) -> Tensor | None:
    """Weight of each polygon times the smallest weight among its edges, [P]; None if all are 1."""
    if edge_weight is None:
        return polygon_weight
    sides = edge_weight.index_select(0, cx.polygon_edge_index()[0])
    shapes = [rows.shape for rows in cx.polygons.values()]
    parts = torch.split_with_sizes(sides, [shape.numel() for shape in shapes])
    smallest = [part.view(shape).amin(1) for part, shape in zip(parts, shapes, strict=True)]
    product = torch.cat([sides[:0], *smallest])
    return product if polygon_weight is None else product * polygon_weight
