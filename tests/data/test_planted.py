import importlib.util
from itertools import combinations
from math import isnan
from pathlib import Path

import pytest
import torch

from latopo import induced_cycles
from latopo.data import planted_torus
from latopo.errors import LatopoError

EXAMPLE = Path(__file__).parents[2] / "examples" / "planted_complex.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("planted_complex", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small tensors: more threads would only wait for each other
    yield module
    torch.set_num_threads(threads)


@pytest.mark.parametrize("side", [6, 8, 10])
def test_the_candidates_are_the_faces_of_both_colours(side):
    data = planted_torus(side)
    cycles = induced_cycles(data.edge_index, side * side, max_length=4)
    faces = torch.cat([data.planted.polygons[4], data.decoys.polygons[4]])
    assert cycles[3].size(0) == 0
    assert sorted(cycles[4].tolist()) == sorted(faces.tolist())
    assert data.planted.num_polygons == data.decoys.num_polygons == side * side // 2


def test_every_edge_lies_on_one_face_of_each_colour():
    data = planted_torus(side=8)
    for complex in (data.planted, data.decoys):
        assert complex.incidence(2).to_dense().sum(1).tolist() == [1.0] * 128


def test_nodes_carry_the_codes_of_their_faces():
    data = planted_torus(side=8, code_channels=5, noise=0.0, decoy=2.0)
    black, white = data.codes.split(5, dim=1)

    def alternating(x, faces):  # corners share codes along each side of a face of the other colour: they cancel
        return (x[faces.polygons[4]] * torch.tensor([1.0, -1.0, 1.0, -1.0])[:, None]).sum(1).abs()

    assert alternating(black, data.decoys).max() < 1e-5
    assert alternating(white, data.planted).max() < 1e-5
    assert alternating(black, data.planted).mean() > 0.1
    assert set((black.abs() * 5**0.5).round().unique().tolist()) == {0.0, 2.0}
    assert set((white.abs() * 5**0.5).round().unique().tolist()) == {0.0, 4.0}


def test_labels_come_from_the_black_faces():
    data = planted_torus(side=6, seed=3)
    size = [0.0] * 36
    for face in data.planted.polygons[4].tolist():
        for node in face:
            size[node] += abs(sum(float(data.signal[other]) for other in face))
    middle = sorted(size)[17]
    assert data.y.tolist() == [int(value > middle + 1e-6) for value in size]
    assert int(data.y.sum()) == 18


def test_a_seed_fixes_everything_and_the_masks_part_the_nodes():
    first, second, other = planted_torus(10, seed=1), planted_torus(10, seed=1), planted_torus(10, seed=2)
    for name in ("codes", "signal", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(getattr(first, name), getattr(second, name))
    assert not torch.equal(first.codes, other.codes)
    masks = torch.stack([first.train_mask, first.val_mask, first.test_mask])
    assert masks.sum(0).tolist() == [1] * 100
    assert masks.sum(1).tolist() == [60, 20, 20]


def test_shares_against_sets():
    data = planted_torus(side=6)
    black = [set(face) for face in data.planted.polygons[4].tolist()]
    white = [set(face) for face in data.decoys.polygons[4].tolist()]
    triangles = torch.tensor(list(combinations(range(14), 3)))
    polygons = {4: torch.cat([data.planted.polygons[4][:3], data.decoys.polygons[4][:2]]), 3: triangles}
    rows = [*triangles.tolist(), *polygons[4].tolist()]
    weight = torch.rand(len(rows), generator=torch.Generator().manual_seed(0))
    for share, faces in ((data.planted_share, black), (data.decoy_share, white)):
        inside = torch.tensor([float(any(set(row) <= face for face in faces)) for row in rows])
        assert share(polygons) == pytest.approx(float(inside.mean()))
        assert share(polygons, weight) == pytest.approx(float((inside * weight).sum() / weight.sum()))
        assert inside.sum() > 4
    assert isnan(data.planted_share({}))
    assert isnan(data.planted_share({4: torch.empty(0, 4, dtype=torch.long)}))


@pytest.mark.parametrize("side", [4, 7])
def test_sides_that_would_have_other_cycles_are_refused(side):
    with pytest.raises(LatopoError, match=f"planted_torus: side must be even and at least 6, got {side}"):
        planted_torus(side)


@pytest.mark.parametrize("relaxation", ["weighted", "straight_through"])
def test_training_finds_the_planted_polygons_and_a_frozen_branch_does_not(study, relaxation):
    for seed in (0, 1):
        learned = study.run(study.Setting(side=20, steps=80), relaxation, "learned", seed)
        frozen = study.run(study.Setting(side=20, steps=5), relaxation, "frozen", seed)
        assert learned.end > 0.75
        assert learned.start == frozen.start == frozen.end < 0.6


def test_planted_polygons_help(study):
    setting = study.Setting(side=20, steps=80)
    accuracy = {
        branch: sum(study.run(setting, "straight_through", branch, seed).accuracy for seed in (0, 1)) / 2
        for branch in ("learned", "frozen", "without")
    }
    assert accuracy["learned"] > accuracy["without"] + 0.05
    assert accuracy["learned"] > accuracy["frozen"] + 0.05
