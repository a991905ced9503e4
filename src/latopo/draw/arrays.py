"""The cells of a complex as numpy arrays, with strengths for their opacity."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from latopo.complex import CellComplex
from latopo.draw._kernels import FloatArray, IntArray


@dataclass(frozen=True)
class CellArrays:
    """What is drawn.

    Attributes:
        edges: [E, 2].
        edge_strength: [E], probability over the largest one; 1 without probabilities.
        polygons: {length: [P_k, k]}, only lengths that occur.
        polygon_strength: {length: [P_k]}, as for edges; the largest one is over all lengths.
    """

    edges: IntArray
    edge_strength: FloatArray
    polygons: dict[int, IntArray]
    polygon_strength: dict[int, FloatArray]


def cell_arrays(complex: CellComplex, max_length: int | None = None) -> CellArrays:
    """Edges and polygons (up to ``max_length`` sides) of a complex on any device.

    Example:
        >>> import torch
        >>> complex = CellComplex(3, torch.tensor([[0, 1], [1, 2]]), edge_prob=torch.tensor([0.2, 0.4]))
        >>> cell_arrays(complex).edge_strength
        array([0.5, 1. ])
    """
    strength = _strength(complex.polygon_prob, complex.num_polygons)
    polygons, polygon_strength, done = {}, {}, 0
    for length, rows in complex.polygons.items():
        if len(rows) and (max_length is None or length <= max_length):
            polygons[length] = rows.cpu().numpy()
            polygon_strength[length] = strength[done : done + len(rows)]
        done += len(rows)
    edges = np.ascontiguousarray(complex.edge_index.cpu().numpy().T)
    return CellArrays(edges, _strength(complex.edge_prob, len(edges)), polygons, polygon_strength)


def _strength(prob: Tensor | None, count: int) -> FloatArray:
    if prob is None or count == 0:
        return np.ones(count)
    # By way of float64: numpy has no bfloat16.
    values = prob.detach().cpu().double().numpy()
    return np.asarray(values / max(float(values.max()), 1e-300))
