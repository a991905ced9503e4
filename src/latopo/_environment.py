"""What numbers depend on besides the settings and the seed: the machine and the versions.

Vector width and number of threads change the order in which sums are taken, and training amplifies the last digit. The
same seed therefore gives the same numbers on the same kind of CPU with the same versions, and elsewhere numbers within
the spread over seeds.
"""

import platform
from functools import cache
from pathlib import Path
from typing import Any

from latopo._version import __version__

__all__ = ["environment"]


def environment(device: str = "cpu") -> dict[str, Any]:
    """CPU, vector instructions, threads, device and versions of the process that asks.

    Example:
        >>> list(environment())
        ['cpu', 'vector', 'threads', 'device', 'torch', 'numba', 'latopo']
    """
    import numba
    import torch

    return {
        "cpu": _cpu_model(),
        "vector": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
        "torch": torch.__version__,
        "numba": numba.__version__,
        "latopo": __version__,
    }


@cache
def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")  # platform.processor() is empty or just "x86_64" on Linux
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()
