import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from latopo.nn import EntmaxSampler, PolygonInference
from latopo.nn.ranks import mean_over_ranks, tied

CPU = torch.device("cpu")


def test_one_process_divides():
    assert mean_over_ranks(3, 4, CPU) == 0.75
    assert mean_over_ranks(0, 0, CPU) is None


def test_one_process_leaves_parameters_alone():
    gain = torch.ones((), requires_grad=True)
    assert not tied(torch.zeros(0), gain).requires_grad
    nothing = PolygonInference()(torch.randn(3, 2), torch.tensor([[0, 1], [1, 2]]))
    assert not nothing.prob.requires_grad


def test_a_few_points_do_not_calibrate():
    sampler, similarity = EntmaxSampler(degree=4.0), torch.nn.Identity()
    sampler._calibrate(torch.zeros(0, 2), similarity)
    assert not sampler.calibrated


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without distributed")
def test_two_ranks_train_one_model(tmp_path):
    outs = [tmp_path / f"rank-{rank}.json" for rank in range(2)]
    script, meeting = str(Path(__file__).with_name("rank.py")), str(tmp_path / "meeting")
    started = [
        subprocess.Popen(
            [sys.executable, script, str(rank), meeting, str(out)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        for rank, out in enumerate(outs)
    ]
    try:
        errors = [process.communicate(timeout=240)[1].decode() for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0, 0], errors
    first, second = (json.loads(out.read_text()) for out in outs)
    assert 0 in first["polygons"]  # a step in which one rank has nothing to give
    assert min(second["polygons"]) > 0
    assert first["gains"] == second["gains"]  # γ is set and held together
    assert len(set(first["gains"])) > 1
    assert first["weights"] == second["weights"]
