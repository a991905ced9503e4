"""Input checks that several modules share."""

import torch
from torch import Tensor

from latopo._arguments import all_finite, check_dense, check_tensor
from latopo._compile import uncompiled
from latopo.complex.canonical import edge_keys
from latopo.cycles.simple_graph import check_edge_index
from latopo.errors import LatopoError

__all__ = [
    "check_features", "check_finite", "check_like", "check_once", "check_weight", "check_width", "check_within",
    "simple_edges",
]  # fmt: skip


def check_features(caller: str, x: Tensor, in_channels: int) -> None:
    """Raise unless x is a finite floating point matrix [N, in_channels].

    Example:
        >>> check_features("DCM", torch.zeros(5, 3), 32)
        Traceback (most recent call last):
        latopo.errors.LatopoError: DCM: x has 3 columns, expected in_channels=32
    """
    check_width(caller, x, in_channels)
    check_finite(caller, x)


def check_width(caller: str, x: Tensor, in_channels: int) -> None:
    """Raise unless x is a floating point matrix [N, in_channels]; its entries are not looked at."""
    if isinstance(x, tuple | dict):  # what to_hetero makes of it
        raise LatopoError(
            f"{caller}: x must be one matrix [nodes, features], got {type(x).__name__}; a complex has nodes of one "
            "kind: turn HeteroData into one graph with data.to_homogeneous()"
        )
    check_tensor(caller, "x", x)
    if x.layout not in (torch.strided, torch.sparse_csr):
        raise LatopoError(f"{caller}: x must be dense or sparse CSR, got {x.layout}; use x.to_sparse_csr()")
    if x.dim() != 2 or not x.is_floating_point():
        raise LatopoError(
            f"{caller}: x must be a floating point matrix [nodes, features], got {x.dtype} of shape {list(x.shape)}"
        )
    if x.size(1) != in_channels:
        raise LatopoError(f"{caller}: x has {x.size(1)} columns, expected in_channels={in_channels}")


def check_like(caller: str, x: Tensor, weight: Tensor) -> None:
    """Raise unless x has the type of the weights that it meets; autocasting takes care of that itself."""
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise LatopoError(
            f"{caller}: x is {x.dtype}, but the weights of the layer are {weight.dtype}; convert x, or the layer with "
            ".to(x.dtype)"
        )


def check_weight(caller: str, name: str, weight: Tensor | None, count: int) -> None:
    """Raise unless there is one number for each cell, or None."""
    if weight is None:
        return
    check_dense(caller, name, weight)
    if weight.shape != (count,) or not weight.is_floating_point():
        raise LatopoError(
            f"{caller}: {name} must hold one number for each of {count} cells, got {weight.dtype} of shape "
            f"{list(weight.shape)}"
        )


def check_finite(caller: str, x: Tensor) -> None:
    """Raise if a row of x, dense or sparse CSR, has a NaN or infinite entry; the first such row is named."""
    values = x.values() if x.layout == torch.sparse_csr else x
    if all_finite(values):
        return
    wrong = ~values.isfinite()
    if x.layout == torch.sparse_csr:
        row = int(torch.searchsorted(x.crow_indices(), wrong.nonzero()[0, 0], right=True)) - 1
    else:
        row = int(wrong.nonzero()[0, 0])
    raise LatopoError(f"{caller}: x has NaN or infinite entries, first in row {row}; impute or drop them")


def check_once(caller: str, edge_index: Tensor, num_nodes: int) -> None:
    """Raise if an undirected edge is listed twice, as PyG lists them, or joins a node to itself."""
    if not torch.compiler.is_compiling():
        check_edge_index(caller, edge_index, num_nodes)
    if bool((edge_index[0] < edge_index[1]).all()):
        return
    keys = edge_keys(edge_index, num_nodes)
    if bool((edge_index[0] == edge_index[1]).any()) or keys.unique().numel() < keys.numel():
        raise LatopoError(
            f"{caller}: edge_index must list each undirected edge once, without self-loops; keep "
            "edge_index[:, edge_index[0] < edge_index[1]]"
        )


def simple_edges(caller: str, edge_index: Tensor, num_nodes: int) -> Tensor:
    """The undirected edges of any ``edge_index``, each once: [2, E], u < v, sorted, no self-loops.

    Example:
        >>> simple_edges("DCM", torch.tensor([[0, 1, 2, 2], [1, 0, 2, 1]]), num_nodes=3)
        tensor([[0, 1],
                [1, 2]])
    """
    check_edge_index(caller, edge_index, num_nodes)
    edge_index = edge_index.long()
    keys = edge_keys(edge_index, num_nodes)
    # A step hands the same edges from part to part: they are looked at, but sorted only once.
    if bool((edge_index[0] < edge_index[1]).all() & (keys[1:] > keys[:-1]).all()):
        return edge_index
    keys = torch.unique(keys[edge_index[0] != edge_index[1]])
    return torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])


@uncompiled
def check_within(caller: str, edge_index: Tensor, batch: Tensor) -> None:
    """Raise if an edge runs between two graphs of a batch [N]."""
    check_edge_index(caller, edge_index, batch.numel())
    crossing = batch[edge_index[0].long()] != batch[edge_index[1].long()]
    if bool(crossing.any()):
        u, v = edge_index[:, crossing][:, 0].tolist()
        raise LatopoError(f"{caller}: edge ({u}, {v}) runs between two graphs of the batch")
