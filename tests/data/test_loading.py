import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from latopo.data import find_dataset, from_data, load
from latopo.data.features import csr_tensor
from latopo.data.loading import load_untreated, read_data, write_data
from latopo.errors import LatopoError

SPARSE = ["cora", "cs", "physics", "chameleon", "actor", "chameleon-filtered"]
DENSE = ["texas", "wisconsin", "cornell", "pubmed"]


def test_tiny_graph(tiny_filtered, fresh_cache):
    data = load("Chameleon Filtered", tiny_filtered)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert torch.equal(data.x, torch.eye(12, 5))
    assert data.y.tolist() == [0, 1] * 6
    assert data.train_mask.shape == (12, 10)
    assert (data.name, data.task, data.num_classes) == ("chameleon-filtered", "classification", 2)


def test_second_load_parses_nothing(monkeypatch, tiny_filtered, fresh_cache):
    first = load("chameleon-filtered", tiny_filtered)
    monkeypatch.setattr("latopo.data.readers.read_filtered", pytest.fail)
    again = load("chameleon-filtered", tiny_filtered)
    assert sorted(again.keys()) == sorted(first.keys())
    assert torch.equal(again.x, first.x)


def test_damaged_cache_is_made_again(tiny_filtered, fresh_cache):
    load("chameleon-filtered", tiny_filtered)
    (cached,) = (fresh_cache / "parsed").iterdir()
    cached.write_bytes(cached.read_bytes()[:-7])
    assert load("chameleon-filtered", tiny_filtered).num_nodes == 12
    assert load("chameleon-filtered", tiny_filtered).num_nodes == 12


def test_failed_parse_leaves_no_cache(monkeypatch, tiny_filtered, fresh_cache):
    def fail(*args):
        raise LatopoError("stopped")

    monkeypatch.setattr("latopo.data.readers.read_filtered", fail)
    with pytest.raises(LatopoError, match="stopped"):
        load("chameleon-filtered", tiny_filtered)
    assert not [path for path in fresh_cache.rglob("*") if path.is_file()]


def test_parallel_first_loads_agree(real, fresh_cache):
    root = real("texas")
    with ThreadPoolExecutor(4) as pool:
        graphs = list(pool.map(lambda _: load("texas", root), range(4)))
    assert all(torch.equal(graph.x, graphs[0].x) for graph in graphs)
    assert [path.name for path in fresh_cache.rglob("*") if path.is_file()] == ["texas-v1.safetensors"]
    assert [path.name for path in fresh_cache.iterdir()] == ["parsed"]


@pytest.mark.parametrize("name", [*SPARSE, *DENSE])
def test_real_graph_is_ready_for_models(real, name):
    data = load(name, real(name))
    assert data.x.layout == (torch.sparse_csr if name in SPARSE else torch.strided)
    assert data.x.dtype == torch.float32
    assert data.validate()
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.is_coalesced()
    assert set(data.y.unique().tolist()) == set(range(data.num_classes))
    values = data.x.values() if data.x.layout == torch.sparse_csr else data.x
    if find_dataset(name).features == "as given":
        assert set(values.unique().tolist()) <= {0.0, 1.0}


def test_untreated_keeps_directions_and_self_loops(real):
    data = load_untreated(find_dataset("texas"), real("texas"))
    assert data.edge_index.size(1) == 325
    assert int((data.edge_index[0] == data.edge_index[1]).sum()) == 16


def test_unknown_name():
    with pytest.raises(LatopoError, match="no data set"):
        load("imagenet")


def small(x: torch.Tensor) -> Data:
    return Data(
        x=x, y=torch.tensor([1, 0]), edge_index=torch.tensor([[0], [1]]), train_mask=torch.tensor([True, False])
    )


def test_dense_round_trip(tmp_path):
    data = small(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t())  # not contiguous
    write_data(tmp_path / "file", data)
    back = read_data(tmp_path / "file")
    assert sorted(back.keys()) == ["edge_index", "train_mask", "x", "y"]
    assert all(torch.equal(back[key], data[key]) for key in ("x", "y", "edge_index", "train_mask"))


def test_sparse_round_trip(tmp_path):
    x = csr_tensor(torch.tensor([0, 0, 2]), torch.tensor([1, 3]), torch.tensor([5.0, 6.0]), (2, 4))
    write_data(tmp_path / "file", small(x))
    back = read_data(tmp_path / "file")
    assert back.x.layout == torch.sparse_csr
    assert back.x.shape == (2, 4)
    assert torch.equal(back.x.to_dense(), x.to_dense())
    assert sorted(back.keys()) == ["edge_index", "train_mask", "x", "y"]


def test_missing_or_damaged_file_is_none(tmp_path):
    assert read_data(tmp_path / "file") is None
    write_data(tmp_path / "file", small(torch.eye(2)))
    content = (tmp_path / "file").read_bytes()
    for damaged in (b"", content[:20], content[:-1]):
        (tmp_path / "file").write_bytes(damaged)
        assert read_data(tmp_path / "file") is None


def test_others_may_read_it(tmp_path):
    write_data(tmp_path / "file", small(torch.ones(2, 3)))
    (tmp_path / "plain").touch()
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_truncated_text_is_refused_although_the_cache_knows_the_graph(real, tmp_path):
    load("texas", real("texas"))
    copy = tmp_path / "root" / "WebKB"
    shutil.copytree(real("texas") / "WebKB" / "texas", copy / "texas", copy_function=shutil.copyfile)
    file = copy / "texas" / "raw" / "out1_graph_edges.txt"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(LatopoError, match=r"out1_graph_edges\.txt is damaged"):
        load("texas", tmp_path / "root")


def test_the_data_root_is_not_written_to(real, fresh_cache, tmp_path):
    shutil.copytree(real("texas") / "WebKB" / "texas", tmp_path / "WebKB" / "texas", copy_function=shutil.copyfile)
    before = sorted((tmp_path / "WebKB").rglob("*"))
    load("texas", tmp_path)
    assert sorted((tmp_path / "WebKB").rglob("*")) == before
    assert [path.name for path in fresh_cache.rglob("*") if path.is_file()] == ["texas-v1.safetensors"]


def ring(**changes) -> Data:
    """Twelve nodes in a directed ring, with a self-loop, in three classes."""
    edges = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])
    parts = {
        "x": torch.eye(12),
        "y": torch.arange(12) % 3,
        "edge_index": torch.cat([edges, torch.tensor([[0], [0]])], 1),
    }
    return Data(**parts | changes)


def test_own_data_have_the_form_of_the_catalogues():
    catalogue = load("karate")
    data, entry = from_data(ring(train_mask=torch.arange(12) < 5, pos=torch.rand(12, 2)), "Mine")
    assert set(data.keys()) == set(catalogue.keys())
    assert (data.name, data.task, data.num_classes) == ("Mine", "classification", 3)
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.edge_index.size(1) == 24
    assert (entry.name, entry.title, entry.task, entry.has_graph) == ("Mine", "Mine", "classification", True)
    assert (entry.fold_seed, entry.epochs, entry.gain, entry.in_paper, entry.raw_files) == (0, 200, None, False, ())
    assert pickle.loads(pickle.dumps(entry)) == entry


def test_own_data_are_not_changed():
    mine = ring(x=torch.arange(24).view(12, 2), pos=torch.rand(12, 2))
    before = mine.clone()
    from_data(mine, features="standardised")
    assert mine.keys() == before.keys()
    assert all(torch.equal(mine[key], before[key]) for key in mine.keys())  # noqa: SIM118 (a Data is no mapping)


def test_own_table_and_regression():
    data, entry = from_data(ring(edge_index=None, y=torch.rand(12, 1, dtype=torch.double)), fold_seed=7, epochs=30)
    assert data.edge_index is None
    assert data.y.shape == (12,)
    assert (data.y.dtype, data.task, data.num_classes) == (torch.float32, "regression", 0)
    assert (entry.task, entry.has_graph, entry.fold_seed, entry.epochs) == ("regression", False, 7, 30)


@pytest.mark.parametrize("convert", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr, torch.Tensor.int])
def test_own_features_in_any_layout_and_type(convert):
    data, _ = from_data(ring(x=convert(3 * torch.eye(12))), features="row-normalised")
    assert data.x.layout in (torch.strided, torch.sparse_csr)
    assert data.x.dtype == torch.float32
    assert torch.equal(data.x.to_dense(), torch.eye(12))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": None}, r"x must be a matrix of numbers \[nodes, features\], got NoneType"),
        ({"x": torch.ones(12)}, r"x must be a matrix .* got shape \[12\], torch.float32"),
        ({"x": torch.ones(12, 2) / 0}, "x holds NaN or infinite"),
        ({"y": None}, r"y must hold one target per node, \[12\], got NoneType"),
        ({"y": torch.zeros(12, 3)}, r"y must hold one target per node, \[12\], got shape \[12, 3\]"),
        ({"y": torch.full((12,), torch.nan)}, "y holds NaN or infinite targets"),
        ({"y": torch.arange(12) - 1}, "classes 0, 1, … without gaps, got -1 to 10 with 12 different ones; renumber"),
        ({"y": 2 * torch.arange(12)}, "without gaps, got 0 to 22 with 12 different ones"),
        ({"edge_index": torch.tensor([[0], [12]])}, "from_data: edge_index holds vertex 12, expected 0 to 11"),
        ({"edge_index": torch.ones(3, 2, dtype=torch.long)}, r"edge_index must be a tensor of shape \[2, num_edges\]"),
    ],
)
def test_own_data_that_do_not_fit(changes, message):
    with pytest.raises(LatopoError, match=message):
        from_data(ring(**changes))


def test_own_data_of_another_class_or_with_a_taken_name():
    with pytest.raises(LatopoError, match=r"expected torch_geometric\.data\.Data, got HeteroData"):
        from_data(HeteroData())
    with pytest.raises(LatopoError, match="'CORA' is Cora of the catalogue; give your data a name of their own"):
        from_data(ring(), "CORA")
