"""The examples run, for a few steps."""

import contextlib
import doctest
import io
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "options", "shown"),
    [
        ("layer", {"epochs": 2}, ["accuracy on 1500 unlabelled digits: 0.", "edges between equal digits: 0."]),
        ("point_clouds", {"epochs": 1, "count": 40}, ["accuracy on 20 other clouds: 0.", "CellComplex(num_nodes="]),
    ],
)
def test_example(name, options, shown, capsys):
    example(name).main(**options)
    text = capsys.readouterr().out
    assert all(part in text for part in shown), text


def test_the_first_lines_of_the_readme():
    """They are run, and what stands under them comes out, up to what another kind of CPU may round differently."""
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    names, compared = {}, 0
    for shown in doctest.DocTestParser().get_examples(readme.replace("```", "")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(shown.source, "README.md", "single"), names)
        wanted, found = (re.findall(r"[\d.]+", text) for text in (shown.want, printed.getvalue()))
        assert [float(number) for number in found] == pytest.approx([float(number) for number in wanted], rel=0.05)
        compared += len(wanted)
    assert compared == 1


def test_the_layer_of_the_readme():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    snippet = readme.split("## As a layer")[1].split("```python\n")[1].split("```")[0]
    names = {}
    exec(snippet, names)
    assert names["out"].shape == (200, 64)
    assert names["edge_weight"].numel() == 2 * names["cells"].num_edges > 0


def test_a_molecule(tmp_path, capsys):
    picture = tmp_path / "molecule.png"
    example("molecule").main(epochs=2, out=picture)
    text = capsys.readouterr().out
    assert "cells-rings: 22 edges, polygons by length {6: 4}" in text
    assert "cells-chosen: 22 edges" in text
    assert "was not left out" not in text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_million_points_in_small(tmp_path, capsys):
    picture = tmp_path / "tori.png"
    example("million_points").main(points=3000, out=picture)
    text = capsys.readouterr().out
    assert all(
        part in text for part in ["neighbours", "cycles and polygons", "3,000 nodes", "edges within one torus"]
    ), text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_drop_in_on_a_small_graph(monkeypatch, capsys):
    from torch_geometric.data import Data

    from latopo.data import Split

    y = torch.arange(60) % 3
    x = torch.nn.functional.one_hot(y, 8).float()
    edges = torch.stack([torch.arange(57), torch.arange(3, 60)])
    module = example("drop_in")
    monkeypatch.setattr(module, "load", lambda name: Data(x=x, y=y, edge_index=edges))
    thirds = torch.arange(60).chunk(3)
    monkeypatch.setattr(module, "public_split", lambda name: Split(*thirds))
    module.main(epochs=40, runs=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].split("=")[-1] for line in lines] == ["GCN", '"keep"', '"encode"']
    assert all(float(line.split("(")[-1].strip(")")) > 80 for line in lines[:2]), lines
    module.main(epochs=2, runs=2)
    assert " ± " in capsys.readouterr().out.splitlines()[1]


def test_the_drop_in_is_developed_without_the_public_test_nodes():
    from latopo.data import Split

    y, public = torch.arange(2000) % 3, Split(torch.arange(60), torch.arange(60, 300), torch.arange(300, 400))
    split = example("drop_in").random_split(y, public, seed=1)
    assert [len(part) for part in (split.train, split.val, split.test)] == [60, 500, 1000]
    assert y[split.train].bincount().tolist() == [20, 20, 20]
    used = torch.cat([split.train, split.val, split.test])
    assert len(used.unique()) == 1560
    assert not bool(torch.isin(used, public.test).any())
