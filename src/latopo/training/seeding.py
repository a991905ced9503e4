"""Random numbers that depend on a seed alone and disturb nobody else's.

torch's random numbers belong to the whole process; a training may not depend on them. This is the one place that
knows how, as :mod:`latopo._plain_torch` is for torch's modes.
"""

from threading import Lock
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from latopo._plain_torch import plain_torch

__all__ = ["RandomStream", "plain_torch", "seeded"]

_LOCK = Lock()

_INITIALIZERS = (
    "uniform normal trunc_normal xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal sparse"
)
_METHODS = [
    *("bernoulli", "bernoulli_", "multinomial", "uniform_", "normal_"),
    *("exponential_", "random_", "cauchy_", "geometric_", "log_normal_"),
]
_FUNCTIONS = ["rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson"]
_DROPOUTS = ["dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "gumbel_softmax", "rrelu"]
_TAKE_GENERATOR: frozenset[Any] = frozenset(
    [
        *(getattr(nn.init, f"{name}_") for name in _INITIALIZERS.split()),
        *(getattr(Tensor, name) for name in _METHODS),
        *(getattr(torch, name) for name in _FUNCTIONS),
    ]
)
# What draws numbers and can be given no generator.
_TAKE_NONE: frozenset[Any] = frozenset(
    [
        *(getattr(functional, name) for name in _DROPOUTS),
        *(torch.rand_like, torch.randn_like, torch.randint_like, torch.dropout, torch.dropout_),
        functional.scaled_dot_product_attention,
    ]
)


class RandomStream(TorchFunctionMode):
    """A stream of random numbers: inside a block, whatever torch draws on this thread comes from it.

    The global generator is left alone, so that threads do not disturb each other; the next block continues the stream.

    Example:
        >>> stream = RandomStream(0)
        >>> with stream:
        ...     first = torch.rand(2)
        >>> with stream:
        ...     second = torch.rand(2)
        >>> with RandomStream(0):
        ...     bool((torch.rand(4) == torch.cat([first, second])).all())
        True
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self._generators: dict[torch.device, Generator] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Give our generator to a function that would take the global one."""
        kwargs = kwargs or {}
        if func is functional.dropout:
            return self._dropout(*args, **kwargs)
        if func in _TAKE_GENERATOR and kwargs.get("generator") is None:
            return func(*args, **{**kwargs, "generator": self._generator(args, kwargs)})
        if func in _TAKE_NONE:
            return self._lend(func, args, kwargs)
        return func(*args, **kwargs)

    def _generator(self, args: Any, kwargs: Any) -> Generator:
        device = torch.device("cpu" if kwargs.get("device") is None else kwargs["device"])
        for value in (*args, *kwargs.values()):
            device = value.device if isinstance(value, Tensor) and not value.is_meta else device  # which draws none
        if device not in self._generators:
            self._generators[device] = Generator(device).manual_seed(self.seed)
        return self._generators[device]

    def _dropout(self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        """As torch computes it on the CPU, number by number."""
        if not training or not 0 < p < 1 or input.numel() == 0:
            return functional.dropout(input, p, training, inplace)  # draws no number
        noise = torch.empty_like(input).bernoulli_(1 - p, generator=self._generator((input,), {})).div_(1 - p)
        return input.mul_(noise) if inplace else input * noise

    def _lend(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Call a function with the state of our generator in the global one's place, for as long as it takes."""
        ours = self._generator(args, kwargs)
        shared = torch.default_generator if ours.device.type == "cpu" else _device_generator(ours.device)
        with _LOCK:
            before = shared.get_state()
            shared.set_state(ours.get_state())
            try:
                return func(*args, **kwargs)
            finally:
                ours.set_state(shared.get_state())
                shared.set_state(before)


def _device_generator(device: torch.device) -> Generator:
    return torch.get_device_module(device).default_generators[device.index or 0]


def seeded(seed: int) -> RandomStream:
    """Random numbers from a seed inside the block; the caller's random state is not touched.

    Example:
        >>> with seeded(0):
        ...     first = torch.rand(2)
        >>> with seeded(0):
        ...     bool((torch.rand(2) == first).all())
        True
    """
    return RandomStream(seed)
