import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from latopo.data import find_dataset, folds, geom_gcn_split, list_datasets, load, public_split, split
from latopo.errors import LatopoError


def test_texas_folds():
    chunks = folds(183, seed=45)
    order = np.arange(183)
    np.random.RandomState(45).shuffle(order)
    assert [len(chunk) for chunk in chunks] == [19] * 9 + [12]
    assert torch.cat(chunks).tolist() == order.tolist()
    assert chunks[0].dtype == torch.int64


def test_fold_sizes_of_the_large_graphs():
    assert [len(chunk) for chunk in folds(2708, seed=77)] == [271] * 9 + [269]
    assert [len(chunk) for chunk in folds(34493, seed=77)] == [3450] * 9 + [3443]


def test_folds_do_not_touch_the_global_generator():
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.rand()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    folds(100, seed=0)
    assert np.random.rand() == expected  # noqa: NPY002


@given(st.integers(10, 400), st.integers(0, 2**32 - 1))
def test_ten_folds_part_the_nodes(num_nodes, seed):
    chunks = folds(num_nodes, seed)
    assert len(chunks) == 10
    assert min(len(chunk) for chunk in chunks) >= 1
    assert sorted(torch.cat(chunks).tolist()) == list(range(num_nodes))
    if num_nodes > 81:
        assert {len(chunk) for chunk in chunks[:-1]} == {-(-num_nodes // 10)}


@pytest.mark.parametrize("fold", range(10))
def test_honest_chooses_on_the_next_chunk_and_trains_on_neither(fold):
    chunks = folds(183, seed=45)
    nodes = split(183, 45, fold, "honest")
    assert torch.equal(nodes.test, chunks[fold])
    assert torch.equal(nodes.val, chunks[(fold + 1) % 10])
    assert torch.equal(nodes.selection, nodes.val)
    parts = [set(part.tolist()) for part in (nodes.train, nodes.val, nodes.test)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 183


def test_patient_has_the_nodes_of_honest():
    patient, honest = split(183, 45, 9, "patient"), split(183, 45, 9)
    assert all(torch.equal(getattr(patient, part), getattr(honest, part)) for part in ("train", "val", "test"))


@pytest.mark.parametrize("fold", range(10))
def test_paper_trains_on_nine_chunks_and_chooses_on_the_test_set(fold):
    nodes = split(183, 45, fold, "paper")
    assert nodes.val is None
    assert torch.equal(nodes.selection, nodes.test)
    assert torch.equal(nodes.test, folds(183, 45)[fold])
    assert sorted([*nodes.train.tolist(), *nodes.test.tolist()]) == list(range(183))


def test_bad_arguments():
    with pytest.raises(LatopoError, match="fold is 10, expected 0 to 9"):
        split(183, 45, 10)
    with pytest.raises(LatopoError, match="protocol is 'best'"):
        split(183, 45, 0, "best")
    with pytest.raises(LatopoError, match="9 nodes cannot be cut"):
        folds(9, 0)


@pytest.mark.parametrize("name", ["cora", "texas", "chameleon", "chameleon-filtered"])
def test_geom_gcn_splits(real, name):
    root = real(name)
    num_nodes = load(name, root).num_nodes
    tests = set()
    for fold in range(10):
        nodes = geom_gcn_split(name, fold, root)
        parts = [set(part.tolist()) for part in (nodes.train, nodes.val, nodes.test)]
        assert all(parts)
        # Cora's splits leave out 223 nodes, as published.
        assert sum(map(len, parts)) == len(set.union(*parts)) == num_nodes - (223 if name == "cora" else 0)
        tests.add(tuple(nodes.test.tolist()))
    assert len(tests) == 10


def test_geom_gcn_split_agrees_with_the_file(real):
    root = real("texas")
    with np.load(root / "WebKB/texas/raw/texas_split_0.6_0.2_4.npz") as masks:
        expected = np.flatnonzero(masks["val_mask"]).tolist()
    assert geom_gcn_split("texas", 4, root).val.tolist() == expected


def test_public_split_of_cora(real):
    nodes = public_split("cora", real("cora"))
    assert nodes.train.tolist() == list(range(140))
    assert nodes.val.tolist() == list(range(140, 640))
    assert nodes.test.tolist() == list(range(1708, 2708))


@pytest.mark.parametrize("name", ["cs", "iris", "karate"])
def test_graphs_without_such_splits(name):
    with pytest.raises(LatopoError, match="has no such split"):
        geom_gcn_split(name, 0)


def test_public_split_is_planetoids_alone():
    assert [name for name in list_datasets() if find_dataset(name).masks == "public"] == ["cora", "citeseer", "pubmed"]
    with pytest.raises(LatopoError, match="Texas has no such split"):
        public_split("texas")


def test_a_missing_split_file_is_named(monkeypatch, fresh_cache, tmp_path):
    def fail(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("latopo.data.raw_files.urlopen", fail)
    with pytest.raises(LatopoError, match=r"geom-gcn/raw/cora_split_0\.6_0\.2_0\.npz"):
        geom_gcn_split("cora", 0, tmp_path)
