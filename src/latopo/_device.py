"""Where tensors live: a GPU if there is one, unless another place is named."""

import torch

from latopo.errors import LatopoError

__all__ = ["find_device"]


def find_device(name: str) -> torch.device:
    """The device of a name; ``"auto"`` is a GPU if there is one.

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        number = torch.zeros((), device=name)
        number.item()
    except (RuntimeError, AssertionError) as error:  # no such name; built without it; holds no numbers (meta)
        raise LatopoError(
            f"device: expected 'auto', 'cpu' or another device that torch finds here, got {name!r}: {error}"
        ) from error
    return number.device
