"""What CONTRIBUTING says can be added in one file is added here, to a copy of the tree, and used."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USES = {
    "similarity.py": """
        from latopo import entmax_neighbors
        ptr, col, prob = entmax_neighbors(torch.randn(30, 4), gain=5.0, similarity="manhattan")
        assert torch.allclose(prob.sum(), torch.tensor(30.0))
    """,
    "mean_conv.py": """
        from latopo.nn import DCM
        from latopo.nn.mean_conv import MeanConv
        x = torch.randn(30, 4)
        DCM(4, 8, node_conv=MeanConv)(x)[0].sum().backward()
    """,
    "models/catalogue.py": """
        from latopo.models import SYSTEMS, build_model
        assert len(build_model("dcm-plus-deep", 4, 3).latent.messages.node_convs) == 3
    """,
    "data/catalogue.py": """
        from latopo.data import load
        data = load("moons")
        assert data.x.shape == (500, 2) and data.num_classes == 2 and data.edge_index is None
    """,
}


def diffs():
    return re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)


def test_every_use_has_its_diff():
    assert len(diffs()) == len(USES)
    for patch, name in zip(diffs(), USES, strict=True):
        (touched,) = re.findall(r"^\+\+\+ b/(.*)$", patch, re.MULTILINE)
        assert touched.endswith(name)


@pytest.mark.parametrize(("number", "name"), list(enumerate(USES)))
def test_one_file_is_enough(number, name, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", "-"], input=diffs()[number].encode(), cwd=tmp_path, check=True)
    lines = [line.strip() for line in USES[name].strip().splitlines()]
    code = "\n".join(["import torch", *lines])
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
