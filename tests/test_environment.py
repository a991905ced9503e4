import json

import pytest
import torch

from latopo import __version__, _environment
from latopo._environment import environment


def test_machine_and_versions_are_named():
    found = environment()
    assert json.loads(json.dumps(found)) == found
    assert (found["torch"], found["latopo"], found["device"]) == (torch.__version__, __version__, "cpu")
    assert found["threads"] == torch.get_num_threads()
    assert all(found.values())


@pytest.mark.parametrize(
    ("content", "expected"),
    [("processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\nmodel name\t: other\n", "Fast CPU @ 3 GHz"), (None, "arm")],
)
def test_the_cpu_is_named_by_its_model_where_that_is_known(monkeypatch, tmp_path, content, expected):
    path = tmp_path / "cpuinfo"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(_environment, "Path", lambda _: path)
    monkeypatch.setattr(_environment.platform, "processor", lambda: "arm")
    assert _environment._cpu_model.__wrapped__() == expected
