"""Threads for compiled kernels.

Kernels are compiled with ``nogil=True`` and run on ordinary threads, one block of rows each. numba's own
``parallel=True`` is not used: its threading layers abort the process after a fork or under two Python threads, and it
compiles far more slowly.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

import torch

Result = TypeVar("Result")


def row_blocks(count: int, block: int) -> list[tuple[int, int]]:
    """Cut ``range(count)`` into consecutive ``(start, stop)`` pairs of at most ``block`` rows, and of at least one.

    Example:
        >>> row_blocks(5, 2)
        [(0, 2), (2, 4), (4, 5)]
    """
    block = max(block, 1)
    return [(start, min(start + block, count)) for start in range(0, count, block)]


def map_blocks(
    function: Callable[[int, int], Result], count: int, block: int, halt: Event | None = None
) -> list[Result]:
    """Call ``function(start, stop)`` for every block of rows; results come in the order of the blocks.

    As many threads are used as torch uses (:func:`torch.get_num_threads`), so one setting governs both. The result does
    not depend on that number as long as the block does not.

    Ctrl-C, or an error in one block, ends the call after the blocks that are running; a function that takes long has to
    look at ``halt``, which is set then.
    """
    blocks = row_blocks(count, block)
    workers = min(torch.get_num_threads(), len(blocks))
    if workers <= 1:
        return [function(start, stop) for start, stop in blocks]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(lambda ends: function(*ends), blocks))
        except BaseException:
            if halt is not None:
                halt.set()
            raise


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for torch and the kernels within the block: the number of threads changes the rounding of sums."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
