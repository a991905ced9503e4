"""Random numbers that depend on a seed alone and disturb nobody else's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

__all__ = ["RandomStream", "seeded"]


@contextmanager
def seeded(seed: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Random numbers from a seed inside the block; the caller's random state is as it was before.

    Example:
        >>> with seeded(0):
        ...     first = torch.rand(2)
        >>> with seeded(0):
        ...     bool((torch.rand(2) == first).all())
        True
    """
    device = torch.device(device)
    with torch.random.fork_rng([] if device.type == "cpu" else [device], device_type=_forkable(device)):
        torch.manual_seed(seed)
        yield


@dataclass
class RandomStream:
    """The global random numbers, taken over inside a block and continued in the next one."""

    seed: int
    device: torch.device
    _states: list[Tensor] = field(default_factory=list)

    def __enter__(self) -> None:
        self._block = seeded(self.seed, self.device)
        self._block.__enter__()
        if self._states:
            torch.set_rng_state(self._states[0])
        if len(self._states) > 1:
            torch.get_device_module(self.device).set_rng_state(self._states[1], self.device)

    def __exit__(self, *error: Any) -> None:
        self._states = [torch.get_rng_state()]
        if self.device.type != "cpu":
            self._states.append(torch.get_device_module(self.device).get_rng_state(self.device))
        self._block.__exit__(*error)


def _forkable(device: torch.device) -> str:
    return "cuda" if device.type == "cpu" else device.type
