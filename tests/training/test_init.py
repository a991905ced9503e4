import subprocess
import sys

import pytest

import latopo.training


def test_every_public_name_is_there():
    assert dir(latopo.training) == sorted(latopo.training.__all__)
    assert all(getattr(latopo.training, name) is not None for name in latopo.training.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'fit'"):
        _ = latopo.training.fit


def test_the_loop_alone_does_not_wait_for_pyg():
    code = "import sys, latopo.training.loop; sys.exit('torch_geometric' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
