import subprocess
import sys

import pytest

import latopo.data


def test_public_names_resolve():
    assert all(hasattr(latopo.data, name) for name in latopo.data.__all__)
    assert sorted(latopo.data.__all__) == dir(latopo.data)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = latopo.data.nothing


def test_the_catalogue_does_not_wait_for_torch():
    code = "import sys; from latopo.data import list_datasets, dataset_statistics; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
