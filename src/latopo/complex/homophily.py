"""How much the cells of a complex agree with labels of the nodes."""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from latopo._arguments import checked
from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.complex.cell_complex import CellComplex


@checked
def edge_homophily(cx: "CellComplex", labels: Tensor, unlabelled: int | None = None) -> float:
    """Share of the edges whose two ends carry the same label; NaN if there is no edge to count.

    With ``unlabelled`` given, nodes with that label are unknown, and edges that touch one are left out of the count. By
    default every label, −1 too, is an ordinary class.

    Example:
        >>> from latopo import CellComplex
        >>> path = CellComplex(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> edge_homophily(path, torch.tensor([7, 7, 5, -1]), unlabelled=-1)
        0.5
    """
    _check_labels(cx, labels)
    return _share(*_agreement(labels, cx.edge_index.t(), unlabelled))


@checked
def polygon_homophily(cx: "CellComplex", labels: Tensor, unlabelled: int | None = None) -> float:
    """Share of the polygons whose nodes all carry one label; NaN if there is no polygon to count.

    ``unlabelled`` as in :func:`edge_homophily`.

    Example:
        >>> from latopo import CellComplex
        >>> triangle = CellComplex(3, torch.tensor([[0, 0, 1], [1, 2, 2]]), {3: torch.tensor([[0, 1, 2]])})
        >>> polygon_homophily(triangle, torch.tensor([1, 1, 1]))
        1.0
    """
    _check_labels(cx, labels)
    parts = [_agreement(labels, rows, unlabelled) for rows in cx.polygons.values()]
    return _share(sum(agreeing for agreeing, _ in parts), sum(counted for _, counted in parts))


def _agreement(labels: Tensor, rows: Tensor, unlabelled: int | None) -> tuple[int, int]:
    """How many rows of nodes agree, and how many count."""
    found = labels[rows]
    agree = (found == found[:, :1]).all(dim=1)
    counted = torch.ones_like(agree) if unlabelled is None else (found != unlabelled).all(dim=1)
    return int((agree & counted).sum()), int(counted.sum())


def _share(agreeing: int, counted: int) -> float:
    return agreeing / counted if counted else math.nan


def _check_labels(cx: "CellComplex", labels: Tensor) -> None:
    if labels.shape != (cx.num_nodes,):
        raise LatopoError(f"CellComplex: labels have shape {list(labels.shape)}, expected [{cx.num_nodes}]")
