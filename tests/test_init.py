import subprocess
import sys

import pytest

import latopo


def test_public_names_load_on_first_use():
    for name in latopo.__all__:
        assert getattr(latopo, name) is not None
    assert set(latopo.__all__) <= set(dir(latopo))
    with pytest.raises(AttributeError, match="module 'latopo' has no attribute 'graph'"):
        latopo.graph  # noqa: B018


def test_importing_latopo_imports_nothing_heavy():
    code = "import sys, latopo; print(sorted({'torch', 'numba', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
