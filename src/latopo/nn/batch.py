"""The graphs of a batch, one by one."""

from collections.abc import Iterator

import torch
from torch import Tensor

from latopo.cycles.simple_graph import check_edge_index
from latopo.errors import LatopoError

__all__ = ["split_batch"]


def split_batch(
    caller: str, x: Tensor, edge_index: Tensor | None, batch: Tensor
) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Features and edges of each graph of a PyG batch; graph i has the rows where ``batch`` is i.

    Without points there is one graph, the empty one.

    Example:
        >>> edge_index = torch.tensor([[0, 2, 3], [1, 3, 4]])
        >>> for x, edges in split_batch("DCM", torch.zeros(5, 2), edge_index, torch.tensor([0, 0, 1, 1, 1])):
        ...     print(x.size(0), edges.tolist())
        2 [[0], [1]]
        3 [[0, 1], [1, 2]]
    """
    if batch.shape != (x.size(0),) or batch.dtype != torch.int64:
        raise LatopoError(
            f"{caller}: batch must hold one graph number per row of x, int64 of shape [{x.size(0)}], "
            f"got {batch.dtype} of shape {list(batch.shape)}"
        )
    if bool((batch.diff() < 0).any()):
        raise LatopoError(f"{caller}: batch must ascend, as PyG's loaders make it; sort the nodes by graph")
    _, number, counts = torch.unique_consecutive(batch, return_inverse=True, return_counts=True)
    sizes = counts.tolist() or [0]
    if edge_index is None:
        yield from ((part, None) for part in x.split(sizes))
        return
    check_edge_index(caller, edge_index, x.size(0))
    edge_index = edge_index.long()
    owner, other = number[edge_index]
    if bool((owner != other).any()):
        u, v = edge_index[:, owner != other][:, 0].tolist()
        raise LatopoError(f"{caller}: edge ({u}, {v}) runs between two graphs of the batch")
    first = counts.cumsum(0) - counts
    edges = (edge_index - first[owner])[:, owner.argsort(stable=True)]
    yield from zip(x.split(sizes), edges.split(owner.bincount(minlength=len(sizes)).tolist(), dim=1), strict=True)
