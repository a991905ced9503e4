"""torch's modes, which belong to the process or to the caller, as they are after its import."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

import torch

__all__ = ["plain_torch"]


@contextmanager
def plain_torch() -> Iterator[None]:
    """Inside the block torch is as after its import: gradients, float32, the CPU, no autocasting, no inference mode.

    Example:
        >>> with torch.inference_mode(), plain_torch():
        ...     torch.ones(1, requires_grad=True).sum().requires_grad
        True
    """
    with ExitStack() as modes:
        modes.enter_context(torch.inference_mode(False))
        modes.enter_context(torch.enable_grad())
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                modes.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            modes.enter_context(torch.device("cpu"))
        modes.enter_context(_single_precision())
        yield


_LOCK = Lock()
_single: list[torch.dtype] = []  # the default dtype of whoever came first, once for each block that is open


@contextmanager
def _single_precision() -> Iterator[None]:
    # The default dtype is the process's, and blocks on several threads overlap: the last one to leave puts it back.
    with _LOCK:
        _single.append(_single[0] if _single else torch.get_default_dtype())
        if _single[0] != torch.float32:
            torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        with _LOCK:
            before = _single.pop()
            if not _single and before != torch.float32:
                torch.set_default_dtype(before)
