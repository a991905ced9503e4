"""Given edges beside inferred ones."""

from typing import Literal

import torch
from torch import Tensor

from latopo.complex.canonical import edge_keys
from latopo.cycles.simple_graph import check_edge_index
from latopo.errors import LatopoError

__all__ = ["GivenEdges", "given_probabilities", "join_edges"]

GivenEdges = Literal["encode", "keep", "only"]


def given_probabilities(
    caller: str, edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, like: Tensor
) -> tuple[Tensor, Tensor]:
    """The undirected edges of any ``edge_index``, each once [2, E], sorted, and their probabilities [E].

    Without ``edge_weight`` [E'] these are 1; the weights of an edge that is listed more than once are averaged.

    Example:
        >>> edges, weight = torch.tensor([[0, 1, 2], [1, 0, 2]]), torch.tensor([0.5, 1.0, 1.0])
        >>> given_probabilities("DCM", edges, weight, 3, weight)
        (tensor([[0],
                [1]]), tensor([0.7500]))
    """
    check_edge_index(caller, edge_index, num_nodes)
    proper = edge_index[0] != edge_index[1]
    base = max(num_nodes, 1)
    keys, position = torch.unique(edge_keys(edge_index[:, proper].long(), num_nodes), return_inverse=True)
    edges, ones = torch.stack([keys // base, keys % base]), like.new_ones(keys.numel())
    if edge_weight is None:
        return edges, ones
    _check_weight(caller, edge_weight, edge_index.size(1))
    weight = edge_weight[proper].to(like.dtype)
    total = torch.zeros_like(ones).index_add(0, position, weight)
    return edges, total / torch.bincount(position, minlength=keys.numel())


def _check_weight(caller: str, edge_weight: Tensor, count: int) -> None:
    if edge_weight.shape != (count,) or not edge_weight.is_floating_point():
        raise LatopoError(
            f"{caller}: edge_weight must be floating point of shape [{count}], one per column of edge_index, "
            f"got {edge_weight.dtype} of shape {list(edge_weight.shape)}"
        )
    if not bool(((edge_weight >= 0) & (edge_weight <= 1)).all()):
        raise LatopoError(f"{caller}: edge_weight holds probabilities, expected numbers in [0, 1]")


def join_edges(
    edges: Tensor, prob: Tensor, others: Tensor, other_prob: Tensor, num_nodes: int
) -> tuple[Tensor, Tensor]:
    """Both sets of undirected edges, sorted, [2, E]; an edge of both has the larger probability, [E].

    Example:
        >>> left, right = torch.tensor([[0, 1], [1, 2]]), torch.tensor([[0], [1]])
        >>> join_edges(left, torch.tensor([0.5, 0.2]), right, torch.tensor([1.0]), num_nodes=3)
        (tensor([[0, 1],
                [1, 2]]), tensor([1.0000, 0.2000]))
    """
    pairs = torch.cat([edges, others], dim=1)
    keys, position = torch.unique(edge_keys(pairs, num_nodes), return_inverse=True)
    nothing = prob.new_zeros(keys.numel())
    own, other = position.split([edges.size(1), others.size(1)])
    joint = torch.maximum(nothing.index_put((own,), prob), nothing.index_put((other,), other_prob))
    base = max(num_nodes, 1)
    return torch.stack([keys // base, keys % base]), joint
