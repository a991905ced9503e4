"""To GUDHI's simplex tree and back."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from latopo.complex.adjacency import check_node_rows
from latopo.complex.filtration import filtration_values
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex

__all__ = ["from_gudhi", "to_gudhi"]


def to_gudhi(cx: "CellComplex") -> Any:
    """A ``gudhi.SimplexTree`` with the filtration by probability: a cell enters at 1 − p, not before its faces.

    Triangles are triangles. A longer polygon becomes a cone over its sides: a vertex of its own in the middle (numbers
    from N on, in the order of the polygons) and a triangle per side, all entering when the polygon does. The space is
    the same at every filtration value, so all Betti numbers and persistence pairs (but those of no duration) are.

    Example:
        >>> from latopo import CellComplex
        >>> square = CellComplex(4, [[0, 1, 2, 0], [1, 2, 3, 3]], [[0, 1, 2, 3]], polygon_prob=[0.75])
        >>> tree = square.to_gudhi()
        >>> tree.num_vertices(), tree.filtration([0, 1, 4])
        (5, 0.25)
    """
    try:
        from gudhi import SimplexTree
    except ImportError as error:
        raise LatopoError('CellComplex.to_gudhi: GUDHI is missing; run pip install "latopo[interop]"') from error
    check_node_rows("to_gudhi", cx)
    edge_value, polygon_value = (value.detach().cpu().double().numpy() for value in filtration_values(cx))
    tree = SimplexTree()
    tree.insert_batch(np.arange(cx.num_nodes)[None], np.zeros(cx.num_nodes))
    tree.insert_batch(_columns(cx.edge_index), edge_value)
    apex, first = cx.num_nodes, 0
    for length, rows in cx.polygons.items():
        value = polygon_value[first : first + rows.size(0)]
        if length == 3:
            tree.insert_batch(_columns(rows.t()), value)
        else:
            middle = torch.arange(apex, apex + rows.size(0), device=rows.device)
            apex += rows.size(0)
            for corner in range(length):
                sides = torch.stack([rows[:, corner], rows[:, (corner + 1) % length], middle])
                tree.insert_batch(_columns(sides), value)
        first += rows.size(0)
    return tree


def _columns(simplices: Tensor) -> np.ndarray:
    return np.ascontiguousarray(simplices.cpu().numpy())


def from_gudhi(cls: type["CellComplex"], tree: Any, scale: float | None = 1.0) -> "CellComplex":
    """The complex of a GUDHI simplex tree of dimension at most 2; vertices are numbered in increasing order.

    A filtration value f becomes the probability 1 − f / ``scale``; with ``scale=None`` the filtration is left out.

    Example:
        >>> from latopo import CellComplex
        >>> import gudhi
        >>> tree = gudhi.RipsComplex(points=[[0, 0], [1, 0], [0, 1]]).create_simplex_tree(max_dimension=2)
        >>> CellComplex.from_gudhi(tree, scale=2).edge_prob
        tensor([0.5000, 0.5000, 0.2929], dtype=torch.float64)
    """
    if tree.dimension() > 2:
        raise LatopoError(
            f"CellComplex.from_gudhi: the simplex tree has dimension {tree.dimension()}, a CellComplex at most 2; call "
            "tree.prune_above_dimension(2)"
        )
    simplices: dict[int, list[list[int]]] = {1: [], 2: [], 3: []}
    values: dict[int, list[float]] = {1: [], 2: [], 3: []}
    for simplex, value in tree.get_simplices():
        simplices[len(simplex)].append(simplex)
        values[len(simplex)].append(value)
    names = np.sort(np.array(simplices[1], dtype=np.int64).ravel())
    numbered = [
        torch.from_numpy(np.searchsorted(names, np.array(simplices[size], dtype=np.int64).reshape(-1, size)))
        for size in (2, 3)
    ]
    edge_prob, polygon_prob = (None, None) if scale is None else _probabilities(values, scale)
    return cls(len(names), numbered[0].t(), {3: numbered[1]}, edge_prob, polygon_prob)


def _probabilities(values: dict[int, list[float]], scale: float) -> list[np.ndarray]:
    """1 − value / scale of the edges and of the triangles."""
    if any(values[1]):
        raise LatopoError(
            f"CellComplex.from_gudhi: a vertex enters at {next(filter(None, values[1]))}, but the nodes of a "
            "CellComplex are there from the start, at 0; scale=None takes the cells without their filtration"
        )
    dated = [np.array(values[size], dtype=np.float64) for size in (2, 3)]
    low, high = min(map(np.min, filter(len, dated)), default=0.0), max(map(np.max, filter(len, dated)), default=0.0)
    if not scale > 0 or low < 0 or not high <= scale:
        raise LatopoError(
            f"CellComplex.from_gudhi: probabilities are 1 − value / scale, but the values go from {low:.6g} to "
            f"{high:.6g}, and scale is {scale}; raise scale, or take the cells without their filtration (scale=None)"
        )
    return [1 - value / scale for value in dated]
