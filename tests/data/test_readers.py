from pathlib import Path

import numpy as np
import pytest
import torch
import torch_geometric.datasets
from scipy.sparse import csr_matrix, random_array
from torch_geometric.io import read_npz

from latopo.data import find_dataset, load, read_table
from latopo.data.loading import load_untreated
from latopo.data.readers import read_coauthor, read_filtered, read_geom_gcn, read_karate
from latopo.errors import LatopoError

SHAPES = {"digits": (1797, 64, 10), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2), "iris": (150, 4, 3)}


def pyg_reads(name: str, root: Path, folder: Path):
    """The graph as PyG's class reads it, from links in ``folder``: it writes beside the files."""
    entry = find_dataset(name)
    for path in entry.raw_files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(root / path)
    family = entry.path.split("/")[0]
    names = () if family == "Actor" else (entry.title if family == "Planetoid" else entry.name,)
    options = {"geom_gcn_preprocess": True} if family == "WikipediaNetwork" else {}
    return getattr(torch_geometric.datasets, family)(str(folder / family), *names, **options)[0]


@pytest.mark.parametrize("name", ["cora", "citeseer", "texas", "actor", "chameleon"])
def test_graphs_are_as_pyg_reads_them(name, real, tmp_path):
    ours, theirs = load_untreated(find_dataset(name), real(name)), pyg_reads(name, real(name), tmp_path)
    assert sorted(ours.keys()) == sorted(theirs.keys())
    assert torch.equal(ours.x.to_dense(), theirs.x)
    for key in ("y", "edge_index", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(ours[key], theirs[key])
        assert ours[key].dtype == theirs[key].dtype


def test_nodes_of_text_files_are_sorted_and_words_may_be_listed(tmp_path):
    folder = tmp_path / find_dataset("actor").path
    folder.mkdir(parents=True)
    (folder / "out1_node_feature_label.txt").write_text("id\tfeature\tlabel\n2\t0\t1\n0\t1,3\t0\n1\t0,1,2\t1\n")
    (folder / "out1_graph_edges.txt").write_text("id\tid\n2\t0\n0\t1\n2\t0\n")
    for fold in range(10):
        masks = {f"{part}_mask": np.arange(3) == (fold + k) % 3 for k, part in enumerate(("train", "val", "test"))}
        np.savez(folder / f"film_split_0.6_0.2_{fold}.npz", **masks)
    data = read_geom_gcn(find_dataset("actor"), tmp_path)
    assert data.x.tolist() == [[0, 1, 0, 1], [1, 1, 1, 0], [1, 0, 0, 0]]
    assert data.y.tolist() == [0, 1, 1]
    assert data.edge_index.tolist() == [[0, 2], [1, 0]]
    assert data.train_mask.tolist() == [[fold % 3 == node for fold in range(10)] for node in range(3)]
    assert data.test_mask[:, 0].tolist() == [False, False, True]


def test_filtered_graphs_keep_directions(tiny_filtered):
    data = read_filtered(find_dataset("chameleon-filtered"), tiny_filtered)
    assert data.edge_index.tolist() == [[0, 1, 2, 3], [1, 2, 1, 3]]
    assert data.val_mask.shape == (12, 10)


def write_coauthor(path: Path, words: csr_matrix, adjacency: csr_matrix, labels: np.ndarray) -> None:
    arrays = {"labels": labels}
    for part, matrix in (("attr", words), ("adj", adjacency)):
        arrays |= {f"{part}_{key}": getattr(matrix, key) for key in ("data", "indices", "indptr", "shape")}
    np.savez(path, **arrays)


def assert_same_as_pyg(root: Path) -> None:
    entry = find_dataset("cs")
    ours, theirs = read_coauthor(entry, root), read_npz(str(root / entry.raw_files[0]))
    reference = theirs.x.to_sparse_csr()
    assert ours.x.shape == theirs.x.shape
    assert torch.equal(ours.x.crow_indices(), reference.crow_indices())
    assert torch.equal(ours.x.col_indices(), reference.col_indices())
    assert torch.equal(ours.x.values(), reference.values())
    assert torch.equal(ours.edge_index, theirs.edge_index)
    assert torch.equal(ours.y, theirs.y)


def test_coauthor_counts_become_ones_as_in_pyg(tmp_path):
    words = csr_matrix(np.ceil(3 * random_array((20, 9), density=0.3, rng=0).toarray()).astype(np.float32))
    adjacency = csr_matrix(np.ceil(random_array((20, 20), density=0.2, rng=1).toarray()) + np.eye(20))
    assert words.max() > 1
    path = tmp_path / find_dataset("cs").raw_files[0]
    path.parent.mkdir(parents=True)
    write_coauthor(path, words, adjacency, np.arange(20) % 3)
    assert_same_as_pyg(tmp_path)


def test_coauthor_cs_equals_pyg(real):
    assert_same_as_pyg(real("cs"))


@pytest.mark.parametrize("name", SHAPES)
def test_tables(name):
    data = load(name)
    assert (*data.x.shape, data.num_classes) == SHAPES[name]
    assert data.x.dtype == torch.float32
    assert data.y.dtype == torch.int64
    assert data.edge_index is None
    assert data.task == "classification"


def test_diabetes_is_a_regression_in_its_own_units():
    data = load("diabetes")
    assert data.y.dtype == torch.float32
    assert (float(data.y.min()), float(data.y.max())) == (25.0, 346.0)
    assert (data.task, data.num_classes) == ("regression", 0)
    table = read_table("diabetes")
    assert table.columns[:2] == ("age", "sex")
    assert 19 <= table.x[:, 0].min() < table.x[:, 0].max() <= 79


def test_treatment_of_tables():
    wine = load("wine").x.double()
    assert torch.allclose(wine.mean(0), torch.zeros(13, dtype=torch.double), atol=1e-5)
    assert torch.allclose(wine.std(0, correction=0), torch.ones(13, dtype=torch.double), atol=1e-5)
    digits = load("digits").x
    assert (float(digits.min()), float(digits.max())) == (0.0, 1.0)
    assert np.array_equal(digits.double().numpy() * 16, read_table("digits").x)


def test_karate_club_needs_no_download(monkeypatch):
    monkeypatch.setattr("torch_geometric.data.Dataset._download", pytest.fail)
    data = read_karate(find_dataset("karate"), Path())
    assert data.x.shape == (34, 34)
    assert data.edge_index.shape == (2, 156)


def test_read_table_refuses_graphs():
    with pytest.raises(LatopoError, match="Cora is a graph"):
        read_table("cora")
