"""How the probabilities of cells enter message passing."""

from typing import Literal

from torch import Tensor

from latopo._segments import Segments
from latopo.complex import CellComplex

__all__ = ["Relaxation", "cell_weights"]

Relaxation = Literal["none", "weighted", "straight_through"]


def cell_weights(complex: CellComplex, relaxation: Relaxation) -> tuple[Tensor | None, Tensor | None]:
    r"""Weights of the edges [E] and of the polygons [P], each None where all are 1 and carry no gradient.

    - ``"none"``: the paper's 0/1 cells; the task's loss does not reach the topology.
    - ``"weighted"``: edges weigh :math:`p_e`, polygons :math:`p / \max p` (they share one distribution; of many
      graphs, each has its own).
    - ``"straight_through"``: weight 1 forward, the gradient of those weights backward.

    Example:
        >>> import torch
        >>> complex = CellComplex(2, torch.tensor([[0], [1]]), edge_prob=torch.tensor([0.3]))
        >>> cell_weights(complex, "weighted")
        (tensor([0.3000]), None)
    """
    if relaxation == "none":
        return None, None
    edges, polygons = complex.edge_prob, complex.polygon_prob
    if polygons is not None and polygons.numel():
        graphs = Segments() if complex.batch is None else Segments(complex.polygon_graph(), complex.num_graphs)
        polygons = polygons / graphs.spread(graphs.largest(polygons))
    if relaxation == "weighted":
        return edges, polygons
    return _straight_through(edges), _straight_through(polygons)


def _straight_through(weight: Tensor | None) -> Tensor | None:
    return None if weight is None else 1 + (weight - weight.detach())
