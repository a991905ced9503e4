import os
import subprocess
import sys

_GRADIENT = """
import torch
from latopo import entmax_neighbors

x = torch.randn(300, 11, generator=torch.Generator().manual_seed(0), requires_grad=True)
entmax_neighbors(x, gain=5.0)[2].pow(2).sum().backward()
print(x.grad.numpy().tobytes().hex())
"""


def test_the_process_that_compiles_has_the_numbers_of_those_that_load(tmp_path):
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", _GRADIENT]
    first, second = (subprocess.run(command, env=variables, capture_output=True, check=True).stdout for _ in range(2))
    assert list(tmp_path.rglob("*.nbc"))  # the first one compiled, and left the outcome to the second
    assert len(first) == 2 * 4 * 300 * 11 + 1
    assert first == second
