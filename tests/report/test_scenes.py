import base64
import zlib
from dataclasses import replace

import numpy as np
import torch

from latopo import CellComplex
from latopo.draw import Snapshot
from latopo.report import Points, ReportData
from latopo.report import scenes as scenes_module
from latopo.report.facts import measure_complex
from latopo.report.packer import Packer
from latopo.report.scenes import describe_drawing


def describe(*runs):
    """The drawing with its arrays in place of the references to them."""
    packer = Packer()
    facts = [[measure_complex(snapshot.complex, run.points) for snapshot in run.snapshots] for run in runs]
    drawing = describe_drawing(runs, facts, packer)
    block = zlib.decompress(base64.b64decode(packer.text()))

    def unpack(value):
        if isinstance(value, dict) and "at" in value:
            return np.frombuffer(
                block, value["type"].removesuffix("Array").lower(), value["length"], value["at"]
            ).tolist()
        if isinstance(value, dict):
            return {key: unpack(item) for key, item in value.items()}
        return [unpack(item) for item in value] if isinstance(value, (list, tuple)) else value

    return unpack(drawing)


def test_every_moment_has_its_cells_and_facts(run):
    [scene] = describe(run)["scenes"]
    assert (scene["name"], scene["shown"]) == ("This run", 2)
    assert [moment["title"] for moment in scene["moments"]] == ["Epoch 1", "Epoch 2", "Epoch 3"]
    assert [[group["count"] for group in moment["groups"]] for moment in scene["moments"]] == [[2], [4, 1], [7, 1, 1]]
    last = scene["moments"][2]
    assert last["degree"] == last["degrees"] == [2, 2, 4, 2, 2, 2]
    assert last["facts"]["betti"] == [1, 0, 0]
    assert last["facts"]["homophily"] == 0.8
    squares = last["groups"][2]
    assert (squares["length"], squares["corners"]) == (4, [2, 3, 4, 5])


def test_points_carry_what_is_known_of_them(run):
    points = describe(run)["points"]
    assert points["labels"] == [0, 0, 0, 1, 1, -1]
    assert points["roles"] == [0, 0, 2, 2, 1, -1]
    assert points["names"] == list(run.points.names)
    bare = describe(replace(run, points=None))["points"]
    assert "labels" not in bare
    assert len(bare["x"]) == bare["count"] == 6


def test_two_runs_add_what_differs(run):
    drawing = describe(replace(run, shown=1), run)
    assert [scene["name"] for scene in drawing["scenes"]] == ["Run A", "Run B", "What differs"]
    edges, triangles, squares = drawing["scenes"][2]["moments"][0]["groups"]
    assert edges["status"] == [0, 0, 0, 2, 2, 0, 2]  # 01 02 12 23 25 34 45
    assert (triangles["status"], squares["status"]) == ([0], [2])
    assert drawing["scenes"][1]["moments"][2]["facts"] == drawing["scenes"][0]["moments"][2]["facts"]


def test_too_many_cells_are_cut_to_the_most_probable(run, monkeypatch):
    monkeypatch.setattr(scenes_module, "MOST_EDGES", 3)
    monkeypatch.setattr(scenes_module, "MOST_POLYGONS", 1)
    last = describe(run)["scenes"][0]["moments"][2]
    assert last["leftOut"] == ["the 3 most probable of 7 edges", "the 1 most probable of 2 polygons"]
    assert [(group["length"], group["count"]) for group in last["groups"]] == [(2, 3), (3, 1)]
    assert np.allclose(last["groups"][0]["prob"], [0.9, 0.8, 0.7], rtol=1e-3)


def test_too_many_points_are_sampled_but_all_degrees_are_kept(monkeypatch):
    monkeypatch.setattr(scenes_module, "MOST_NODES", 20)
    path = CellComplex(50, torch.stack([torch.arange(49), torch.arange(1, 50)]))
    points = Points(np.arange(50) % 2, ("even", "odd"), names=tuple(f"p{node}" for node in range(50)))
    drawing = describe(ReportData("path", points=points, snapshots=(Snapshot(path),)))
    numbers, [moment] = drawing["points"]["numbers"], drawing["scenes"][0]["moments"]
    assert (len(numbers), drawing["total"], len(moment["degrees"])) == (20, 50, 50)
    assert drawing["points"]["names"] == [f"p{node}" for node in numbers]
    assert drawing["points"]["labels"] == [node % 2 for node in numbers]
    edges = np.array(moment["groups"][0]["corners"]).reshape(2, -1)
    assert (np.diff(np.array(numbers)[edges], axis=0) == 1).all()  # still neighbours on the path
    assert moment["degree"] == [moment["degrees"][node] for node in numbers]


def test_moments_are_called_by_title_epoch_or_input():
    empty = CellComplex(1, torch.zeros(2, 0, dtype=torch.int64))
    snapshots = Snapshot(empty), Snapshot(empty, 7), Snapshot(empty, 7, "Best")
    assert [snapshot.moment for snapshot in snapshots] == ["Input", "Epoch 7", "Best"]
