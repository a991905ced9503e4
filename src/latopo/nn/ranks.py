"""What the ranks of a data-parallel training have to agree on (torch.distributed)."""

import torch
from torch import Tensor, distributed

__all__ = ["mean_over_ranks", "tied"]


def _many_ranks() -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def mean_over_ranks(total: float, count: float, device: torch.device) -> float | None:
    """``total / count``, both summed over all ranks; None if nobody has counted anything.

    Every rank has to call it, with zeros if it has nothing to say. In a training of one process it is a division.

    Example:
        >>> mean_over_ranks(6.0, 4.0, torch.device("cpu"))
        1.5
    """
    if _many_ranks():
        sums = torch.tensor([total, count], dtype=torch.float64, device=device)
        distributed.all_reduce(sums)
        total, count = sums.tolist()
    return total / count if count else None


def tied(empty: Tensor, *parameters: float | Tensor) -> Tensor:
    """An empty answer [0] that depends on the parameters behind it, if there are many ranks.

    DistributedDataParallel waits for the gradient of every parameter on every rank; a rank without cells then gives 0.
    In one process the answer stays as it is: there a parameter without gradient is to be left alone, and Adam moves one
    with gradient 0.
    """
    if _many_ranks():
        for parameter in parameters:
            empty = empty * parameter
    return empty
