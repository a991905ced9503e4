"""The complex cell by cell, the most probable first: filtration values and thresholds.

A cell of probability p enters at 1 − p, but not before its faces: a polygon waits for its last side. Nodes are there
from the start, at 0; edges or polygons without probabilities enter as early as they can.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from latopo._arguments import checked
from latopo.complex.relations import keep_cells
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["filtration_values", "threshold"]


def filtration_values(cx: "CellComplex") -> tuple[Tensor, Tensor]:
    """When each edge [E] and each polygon [P] enters; gradients flow to the probabilities.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]], [1.0, 0.5, 1.0], [0.75])
        >>> triangle.filtration_values()
        (tensor([0.0000, 0.5000, 0.0000]), tensor([0.5000]))
    """
    edge, polygon = _entry(cx, cx.edge_prob, cx.num_edges), _entry(cx, cx.polygon_prob, cx.num_polygons)
    side, owner = cx.polygon_edge_index()
    dtype = torch.promote_types(edge.dtype, polygon.dtype)
    edge, polygon = edge.to(dtype), polygon.to(dtype)
    return edge, polygon.scatter_reduce(0, owner, edge[side], "amax")


def _entry(cx: "CellComplex", prob: Tensor | None, count: int) -> Tensor:
    # Rounding may leave a probability a little above 1; nothing enters before the start.
    return torch.zeros(count, device=cx.device) if prob is None else (1 - prob).clamp(min=0)


@checked
def threshold(cx: "CellComplex", edges: float | None = None, polygons: float | None = None) -> "CellComplex":
    """The edges of probability at least ``edges``, and the polygons of at least ``polygons`` whose sides are all left.

    ``threshold(p, p)`` is the filtration at the value 1 − p. Nodes stay.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]], [1.0, 0.5, 1.0])
        >>> triangle.threshold(edges=0.5), triangle.threshold(edges=0.6)
        (CellComplex(num_nodes=3, num_edges=3, polygons={3: 1}),
         CellComplex(num_nodes=3, num_edges=2, polygons={3: 0}))
    """
    keep_edge = _at_least(cx, "edge", cx.edge_prob, edges, cx.num_edges)
    keep_polygon = _at_least(cx, "polygon", cx.polygon_prob, polygons, cx.num_polygons)
    side, owner = cx.polygon_edge_index()
    keep_polygon[owner[~keep_edge[side]]] = False
    return keep_cells(cx, keep_edge, keep_polygon)


def _at_least(cx: "CellComplex", kind: str, prob: Tensor | None, least: float | None, count: int) -> Tensor:
    if least is None:
        return torch.ones(count, dtype=torch.bool, device=cx.device)
    if prob is None:
        raise LatopoError(
            f"CellComplex.threshold: {kind}s={least}, but the complex has no {kind}_prob; build it with {kind}_prob="
        )
    if not 0 <= least <= 1:
        raise LatopoError(f"CellComplex.threshold: {kind}s must be a probability between 0 and 1, got {least}")
    return prob.detach() >= least
