"""Diffusion over edges and polygons: what a node hears of the cells around it, without weights to train."""

import torch
from torch import Tensor

from latopo.complex import CellComplex
from latopo.nn.neighborhoods import ComplexNeighborhoods
from latopo.semi.diffusion import RESTART

__all__ = ["diffuse_cells"]

_STEPS = 2


@torch.no_grad()
def diffuse_cells(cx: CellComplex, x: Tensor) -> Tensor:
    r"""Features of nodes lifted to edges, diffused there, and brought down again, [N, r].

    An edge begins with the mean of its ends, :math:`\mathbf{E}_0` (equation 5), hears its upper neighbours, with which
    it shares a polygon, and its lower ones, with which it shares a node (equation 15 without weights):
    :math:`\mathbf{E} \leftarrow 0.8\,(\mathbf{E} + \mathbf{A}_u\mathbf{E} + \mathbf{A}_d\mathbf{E})/3 +
    0.2\,\mathbf{E}_0`, twice. A node takes the mean of its edges (equation 9). Cells weigh as much as their
    probabilities.

    Args:
        cx: the complex.
        x: features of its nodes, [N, r].

    Example:
        >>> edge = CellComplex(2, torch.tensor([[0], [1]]), edge_prob=torch.ones(1))
        >>> diffuse_cells(edge, torch.tensor([[0.0], [2.0]])).flatten().tolist()[0] > 0
        True
    """
    cells = ComplexNeighborhoods.relaxed(cx, "weighted")
    first = cells.ends(x) / 2
    hidden = first
    for _ in range(_STEPS):
        upper, lower = cells.edges(hidden)
        hidden = (1 - RESTART) * (hidden + upper + lower) / 3 + RESTART * first
    total, degree = cells.around(hidden)
    return total / degree
